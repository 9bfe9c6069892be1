"""A model card beside our own measurements: the documents that `snellen card` prints."""

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
    """A published figure of a checkpoint."""

    checkpoint: str
    """The checkpoint."""
    value: float
    """The figure, in the unit of its source."""
    source: str
    """Where it is published."""


class CardRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A data set of the card."""

    data_set: str
    """The data set, by the recipe's name."""
    benchmark: str | None = None
    """The benchmark in Snellen, with its options; None if there is none."""
    figures: list[PublishedFigure] = []
    """All published figures."""
    published: PublishedFigure | None = None
    """The figure of the card's checkpoint."""
    scoring: str | None = None
    """The scoring of both runs."""
    metric: str | None = None
    """The metric of both runs."""
    by_recipe: MetricReport | None = None
    """The metric by the recipe; None if the run has no result."""
    official: MetricReport | None = None
    """The metric by the official settings, or by the user's own options; None if the run has no
    result, or asks as the recipe does."""
    figure_scoring: str | None = None
    """The scoring of the published figure, if it is another than `scoring`."""
    as_published: MetricReport | None = None
    """The first metric by the recipe under `figure_scoring`; None without one."""
    difference: MetricReport | None = None
    """By the recipe (`as_published`, if there is one) minus published, with the interval of our
    estimate; None if it is unknown."""
    paired: MetricDifference | None = None
    """By the recipe minus official, on the samples of both, p adjusted over the rows; None without
    two runs."""
    runs: list[str] = []
    """The folders of the runs: by the recipe, then official."""
    reason: str = ""
    """Why there is no result, or none by the recipe; empty if there is."""
    notes: list[str] = []
    """What limits the values."""


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The benchmarks of a model card: published, by the recipe, and by the official settings."""

    format: int
    """The number of the format."""
    recipe: str
    """The recipe."""
    family: str
    """The family of models."""
    evidence: str
    """Who vouches for the recipe."""
    source: str
    """Where the recipe is written."""
    model: str
    """The model."""
    against: str
    """What the recipe is compared with: `official`, or `own options`."""
    rows: list[CardRow]
    """The data sets, in the order of the recipe."""
    checkpoint: str | None = None
    """The checkpoint whose figures count; None if no figure is the model's."""
    gaps: list[Gap] = []
    """The explained gaps."""
    notes: list[str] = []
    """Notes on all of it."""


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
    """Headings, and a row for each data set."""
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
    """The figure of the card's checkpoint, or all figures with their checkpoints."""
    if row.published is not None:
        return f"{row.published.value:g}"
    return "; ".join(f"{figure.value:g} ({figure.checkpoint})" for figure in row.figures)


def card_title(card: Card) -> str:
    """`qwen3-vl × openai/m, published: Qwen3-VL-30B-A3B-Instruct`"""
    of = f", published: {card.checkpoint}" if card.checkpoint else ""
    return f"{card.recipe} × {card.model}{of}"


def card_lines(card: Card) -> Iterator[str]:
    """The lines below a card's table."""
    yield f"recipe: {card.family}, evidence {card.evidence}, {card.source}"
    for row in card.rows:
        if row.published is not None:
            yield f"published: {row.data_set}: {row.published.source}"
    if any(row.difference is not None for row in card.rows):
        yield UNKNOWN_ERROR
    yield from (f"note: {note}" for note in card.notes)


class CardResult:
    """A card's document. It prints itself."""

    def __init__(self, card: Card) -> None:
        self.card = card

    def json(self) -> str:
        """The document as JSON."""
        return msgspec.json.encode(self.card).decode()

    def asdict(self) -> dict[str, Any]:
        """The document as a dictionary of plain Python types, as in `json`."""
        document: dict[str, Any] = msgspec.json.decode(self.json())
        return document

    def _repr_html_(self) -> str:
        """The card in lines, for notebooks."""
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
