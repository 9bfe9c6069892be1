"""Compares the figures of a model card with our own measurements, for `snellen card`."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import msgspec

from snellen.analysis.comparing import MetricDifference, p_value, shown_difference
from snellen.analysis.gap import Gap, gap_lines, gap_verdict
from snellen.analysis.result import shown
from snellen.errors import plain
from snellen.scoring import MetricReport

UNKNOWN_ERROR = (
    "a difference is ours minus the published figure; its interval is that of our estimate alone, "
    "because the sampling error of the published figure is not known"
)


class PublishedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A score that is published for a checkpoint."""

    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""


class CardRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The published and measured results for one data set of the card."""

    data_set: str
    """The name of the data set in the recipe."""
    benchmark: str | None = None
    """The name of the benchmark in Snellen, with its options; None if Snellen does not have it."""
    figures: list[PublishedFigure] = []
    """All published figures."""
    published: PublishedFigure | None = None
    """The published figure for the card's checkpoint; None if there is none."""
    scoring: str | None = None
    """The scoring that is used for both runs."""
    metric: str | None = None
    """The name of the metric that is compared."""
    by_recipe: MetricReport | None = None
    """The metric of the run with the recipe's settings; None if that run has no result."""
    official: MetricReport | None = None
    """The metric of the run with the official settings, or with the user's own options; None if
    that run has no result, or if its settings are the same as the recipe's."""
    figure_scoring: str | None = None
    """The scoring of the published figure, if it differs from `scoring`."""
    as_published: MetricReport | None = None
    """The first metric that `figure_scoring` gives the recipe's run; None if there is none."""
    difference: MetricReport | None = None
    """The metric of the recipe's run (`as_published`, if there is one) minus the published figure,
    with the interval of our estimate; None if the difference is unknown."""
    paired: MetricDifference | None = None
    """The metric of the recipe's run minus that of the official run, on the samples that both runs
    have. The p value is adjusted over the rows of the card. None without two runs."""
    runs: list[str] = []
    """The run folders: first the recipe's run, then the official run."""
    reason: str = ""
    """Why there is no result at all, or no result of the recipe's run; empty if there is one."""
    notes: list[str] = []
    """What limits the values."""


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model card: the published figures, and our results with the recipe's and with the official
    settings."""

    format: int
    """The version of the JSON format."""
    recipe: str
    """The recipe."""
    family: str
    """The family of models."""
    evidence: str
    """Who vouches for the recipe."""
    source: str
    """The source of the recipe's settings."""
    model: str
    """The model."""
    against: str
    """What the recipe is compared with: `official`, or `own options`."""
    rows: list[CardRow]
    """The data sets, in the order of the recipe."""
    checkpoint: str | None = None
    """The checkpoint that is the same as the model; None if no figure is published for the
    model."""
    gaps: list[Gap] = []
    """The explained gaps."""
    notes: list[str] = []
    """Notes on the whole card."""


CARD_HEADINGS = (
    "benchmark",
    "published",
    "by the recipe",
    "95 % interval",
    "against",
    "minus published",
    "interval of ours",
    "minus against",
    "interval of both",
    "adjusted p",
    "n",
    "remark",
)


def card_rows(card: Card) -> list[tuple[str, ...]]:
    """The table of a card: headings, and a row for each data set."""
    headings = tuple(
        name.replace("minus against", f"minus {card.against}").replace("against", card.against)
        for name in CARD_HEADINGS
    )
    return [headings, *map(_row, card.rows)]


def _row(row: CardRow) -> tuple[str, ...]:
    first = row.by_recipe or row.official
    ours = None if row.by_recipe is None else shown(row.by_recipe)
    less = None if row.difference is None else shown_difference(row.difference)
    paired = None if row.paired is None else shown_difference(row.paired.difference)
    adjusted = None if row.paired is None else (row.paired.adjusted or row.paired.p)
    return (
        _name(row),
        _published(row),
        "" if ours is None else ours.value,
        "" if ours is None else ours.interval,
        "" if row.official is None else shown(row.official).value,
        "" if less is None else less.value,
        "" if less is None else less.interval,
        "" if paired is None else paired.value,
        "" if paired is None else paired.interval,
        p_value(adjusted),
        "" if first is None else f"{first.n:,}",
        "; ".join(note.rstrip(".") for note in (row.reason, *row.notes) if note),
    )


def _name(row: CardRow) -> str:
    """`mmmu`, `ai2d_test (vlmevalkit:name=AI2D_TEST)`"""
    if row.benchmark is None or row.benchmark == row.data_set:
        return row.data_set
    return f"{row.data_set} ({row.benchmark})"


def _published(row: CardRow) -> str:
    """The published figure for the card's checkpoint, or, if there is none, all figures with their
    checkpoints."""
    if row.published is not None:
        return f"{row.published.value:g}"
    return "; ".join(f"{figure.value:g} ({figure.checkpoint})" for figure in row.figures)


def card_title(card: Card) -> str:
    """`qwen3-vl × openai/m, published: Qwen3-VL-30B-A3B-Instruct`"""
    of = f", published: {card.checkpoint}" if card.checkpoint else ""
    return f"{card.recipe} × {card.model}{of}"


def card_lines(card: Card) -> Iterator[str]:
    """The lines of text below a card's table."""
    yield f"recipe: {card.family}, evidence {card.evidence}, {card.source}"
    for row in card.rows:
        if row.published is not None:
            yield f"published: {row.data_set}: {row.published.source}"
    if any(row.difference is not None for row in card.rows):
        yield UNKNOWN_ERROR
    yield from (f"note: {note}" for note in card.notes)


class CardResult:
    """A model card that was compared. Printing it shows the results."""

    def __init__(self, card: Card) -> None:
        self.card = card

    def json(self) -> str:
        """The card as JSON."""
        return msgspec.json.encode(self.card).decode()

    def asdict(self) -> dict[str, Any]:
        """The card as a dictionary of plain Python types, with the same content as `json`."""
        document: dict[str, Any] = msgspec.json.decode(self.json())
        return document

    def _repr_html_(self) -> str:
        """The card as HTML, for notebooks."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        headings, *rows = card_rows(self.card)
        lines = [card_title(self.card)]
        for row in rows:
            cells = (f"{name} {cell}" for name, cell in zip(headings[1:], row[1:], strict=True))
            known = [cell for cell, text in zip(cells, row[1:], strict=True) if text]
            lines.append(f"  {'  '.join([row[0], *known])}")
        lines += [f"  {line}" for line in card_lines(self.card)]
        for gap in self.card.gaps:
            lines += [f"{gap.benchmark}: {gap_verdict(gap)}", *(f"  {it}" for it in gap_lines(gap))]
        return "\n".join(map(plain, lines))

    __repr__ = __str__
