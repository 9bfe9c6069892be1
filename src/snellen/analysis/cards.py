"""Compares the published figures of a model with our own measurements, for `snellen card`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import msgspec
from msgspec.structs import replace

from snellen.analysis.comparing import MetricDifference, p_value, shown_difference
from snellen.analysis.gap import Gap, gap_lines, gap_verdict, group_lines
from snellen.analysis.result import shown
from snellen.errors import plain
from snellen.scoring import MetricReport

LONGEST = 160
"""The maximum length of a numbered note in a table, in characters. The JSON document contains the
full notes."""


class PublishedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A published score of a checkpoint."""

    checkpoint: str
    """The checkpoint."""
    value: float
    """The score, in the unit that the source uses."""
    source: str
    """The publication that states the score."""


class CardCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of replies of a run that are missing or unusual."""

    failed: int
    """The number of questions without a reply. No score includes them."""
    unparsed: int
    """The number of replies from which the scoring parsed no answer."""
    guessed: int
    """The number of replies without an answer for which the scoring's rule guesses an answer, for
    example at random. These guesses count in the score."""
    not_judged: int
    """The number of replies that wait for a judge. The score does not include them."""
    cut: int
    """The number of replies that were cut at a token limit."""
    empty: int
    """The number of replies without text."""


class CardRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The published and measured results for one data set of the card."""

    data_set: str
    """The name of the data set in the recipe."""
    benchmark: str | None = None
    """The name of Snellen's benchmark for this data set, with options; None if there is no such
    benchmark."""
    figures: list[PublishedFigure] = []
    """All published figures."""
    published: PublishedFigure | None = None
    """The published figure for the card's checkpoint; None if there is none."""
    scoring: str | None = None
    """The name of the benchmark's headline scoring, which computes `by_recipe` and `official`."""
    metric: str | None = None
    """The name of the metric in `by_recipe` and `official`."""
    by_recipe: MetricReport | None = None
    """The metric of the run with the recipe's settings; None if that run has no result."""
    official: MetricReport | None = None
    """The metric of the run with the official settings, or with the user's own options. None if
    this run has no result, or if the recipe has the same settings as this run."""
    figure_scoring: str | None = None
    """The scoring of the published figures. None if this scoring is the same as `scoring`, if
    Snellen does not have this scoring, or if no figures are published."""
    figure_metric: str | None = None
    """The name of the metric that `figure_scoring` computes; None if it computes no result for
    either run."""
    as_published: MetricReport | None = None
    """The metric of the recipe's run, computed by `figure_scoring`; None if there is no such
    result."""
    official_as_published: MetricReport | None = None
    """The metric of the official run, computed by `figure_scoring`; None if there is no such
    result."""
    difference: MetricReport | None = None
    """Our result minus the published figure, with the interval of our result. Our result comes from
    the recipe's run, or from the official run if no source states how the benchmark is asked. Our
    result is the one that `figure_scoring` computes, or otherwise the one that `scoring` computes.
    None if the difference is unknown, or if replies wait for a judge."""
    paired: MetricDifference | None = None
    """The recipe's result minus the official result, on the samples that count in both runs. The p
    value is adjusted over all rows of the card. None unless there are two runs and no reply of
    either waits for a judge."""
    counts: dict[str, CardCounts] = {}
    """For each result, the numbers of missing and unusual replies. The keys are the names of
    fields: `by_recipe`, `official`, `as_published`, `official_as_published`."""
    runs: list[str] = []
    """The run folders: first the recipe's run, then the official run."""
    reason: str = ""
    """Why there is no result of the recipe's run; empty if there is a result."""
    notes: list[str] = []
    """Limitations of the values in this row."""
    report_notes: dict[str, list[str]] = {}
    """All notes of the runs' reports. The keys are `by_recipe` and `official`."""


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The comparison of a model's published figures with our results, both with the recipe's
    settings and with the official settings."""

    format: int
    """The version of the JSON format."""
    recipe: str
    """The recipe."""
    family: str
    """The family of models."""
    evidence: str
    """The kind of evidence for the recipe's settings."""
    source: str
    """The source of the recipe's settings."""
    model: str
    """The model."""
    against: str
    """What the recipe is compared with: `official`, or `own options`."""
    rows: list[CardRow]
    """The data sets, in the order of the recipe."""
    checkpoint: str | None = None
    """The name that published figures use for the model; None if no figure is published for the
    model."""
    gaps: list[Gap] = []
    """The explained gaps."""
    notes: list[str] = []
    """Notes that apply to the whole card."""


CardTable = list[tuple[str, ...]]
"""The cells of a table, with the headings as the first row."""


def card_table(card: Card) -> CardTable:
    """Build a table of the published figures, our results, and the differences.

    If Snellen has the scoring of the published figure, that scoring computes our results. If
    replies wait for a judge, the result is a range: from its value if all of these replies are
    wrong to its value if all are right. The table leaves out the intervals of single results, which
    are in `value_table`, so that it fits on a page.
    """
    notes = card_notes(card)
    headings = (
        *("benchmark", "published", "recipe", card.against),
        *("difference", "95 % interval", "notes"),
    )
    rows = []
    for row in card.rows:
        less = None if row.difference is None else shown_difference(row.difference)
        rows.append(
            (
                row.data_set,
                "" if row.published is None else f"{row.published.value:g}",
                _value(row, "as_published") or _value(row, "by_recipe"),
                _value(row, "official_as_published") or _value(row, "official"),
                "" if less is None else _number(less.value),
                "" if less is None else less.interval,
                ", ".join(f"{notes[note]}" for note in _notes(row) if note in notes),
            )
        )
    return [headings, *rows]


VALUE_HEADINGS = ("benchmark", "setting", "value", "95 % interval", "n", "failed", "unparsed")


def value_table(card: Card) -> CardTable:
    """Build a table of all results under the benchmark's own scoring, with intervals and counts."""
    return _value_rows(card, ("by_recipe", "official"))


def figure_table(card: Card) -> CardTable:
    """Build a table of the results under the scoring of the published figures, with intervals and
    counts. Data sets whose published figure was scored with the benchmark's own scoring are left
    out."""
    return _value_rows(card, ("as_published", "official_as_published"))


def _value_rows(card: Card, names: tuple[str, str]) -> CardTable:
    """Build a table with a row for each result in the fields `names`; empty if there are no
    results."""
    rows = []
    for row in card.rows:
        for name, setting in zip(names, ("recipe", card.against), strict=True):
            metric: MetricReport | None = getattr(row, name)
            if metric is not None:
                cells, counts = shown(metric), row.counts[name]
                rows.append(
                    (
                        *(row.data_set, setting, _number(cells.value), cells.interval, cells.n),
                        *(f"{counts.failed:,}", f"{counts.unparsed:,}"),
                    )
                )
    return [VALUE_HEADINGS, *rows] if rows else []


def value_lines(card: Card) -> Iterator[str]:
    """Yield lines that state what `value_table` shows, the bounds of results with missing scores,
    and why intervals are missing."""
    yield _by_name("scoring", {row.data_set: row.scoring for row in card.rows})
    yield _by_name("metric", {row.data_set: row.metric for row in card.rows})
    yield from _bounded(card, ("by_recipe", "official"))
    yield from _missing({row.data_set: [row.by_recipe, row.official] for row in card.rows})


def figure_lines(card: Card) -> Iterator[str]:
    """Yield lines that state what `figure_table` shows, the bounds of results with missing scores,
    and why intervals are missing."""
    rows = [row for row in card.rows if row.figure_metric is not None]
    yield _by_name("scoring", {row.data_set: row.figure_scoring for row in rows})
    yield _by_name("metric", {row.data_set: row.figure_metric for row in rows})
    yield from _bounded(card, ("as_published", "official_as_published"))
    yield from _missing(
        {row.data_set: [row.as_published, row.official_as_published] for row in rows}
    )


def _is_of_fewer(row: CardRow) -> bool:
    """Whether the paired difference leaves out questions that count in only one of the two
    results."""
    results = [it.n for it in (row.by_recipe, row.official) if it is not None]
    return row.paired is not None and any(n != row.paired.difference.n for n in results)


def _by_name(what: str, names: Mapping[str, str | None]) -> str:
    """Format names with their data sets, such as `metric: accuracy (mmmu, mathvision); mean_f1
    (pope)`. If there is only one name, the data sets are left out."""
    data_sets: dict[str, list[str]] = {}
    for data_set, name in names.items():
        if name is not None:
            data_sets.setdefault(name, []).append(data_set)
    if len(data_sets) == 1:
        return f"{what}: {next(iter(data_sets))}"
    parts = [f"{name} ({', '.join(of)})" for name, of in data_sets.items()]
    return f"{what}: {'; '.join(parts)}"


def _bounded(card: Card, names: tuple[str, str]) -> Iterator[str]:
    """Yield the bounds of each result in the fields `names` whose scores are partly missing."""
    for row in card.rows:
        for name, setting in zip(names, ("recipe", card.against), strict=True):
            metric: MetricReport | None = getattr(row, name)
            if metric is not None and metric.value is not None and metric.bounds is not None:
                bounds = shown(replace(metric, reason=None)).remark
                yield f"{row.data_set} ({setting}): {bounds}"


def _missing(metrics: Mapping[str, Sequence[MetricReport | None]]) -> Iterator[str]:
    """Yield the reasons why values and intervals are missing."""
    reasons: dict[str, list[str]] = {}
    for data_set, of in metrics.items():
        for metric in of:
            if metric is not None and metric.ci95 is None:
                what = "interval" if metric.value is not None else "value"
                why = f"no {what}: {metric.reason or 'no reply has a score'}"
                if data_set not in reasons.setdefault(why, []):
                    reasons[why].append(data_set)
    for why, data_sets in reasons.items():
        yield f"{', '.join(data_sets)}: {why}"


def paired_table(card: Card) -> CardTable:
    """Build a table of paired differences: the recipe's result minus the official result, both
    computed by the benchmark's own scoring. Data sets without both results are left out."""
    rows = []
    for row in card.rows:
        if row.paired is not None:
            cells = shown_difference(row.paired.difference)
            p = p_value(row.paired.adjusted or row.paired.p)
            rows.append((row.data_set, _number(cells.value), cells.interval, p, cells.n))
    headings = ("benchmark", "difference", "95 % interval", "adjusted p", "n")
    return [headings, *rows] if rows else []


def paired_lines(card: Card) -> Iterator[str]:
    """Yield lines that explain how `paired_table` was computed, and why intervals are missing."""
    paired = {row.data_set: row.paired for row in card.rows if row.paired is not None}
    if any(_is_of_fewer(row) for row in card.rows):
        yield (
            "only questions that have a score both ways count, so some differences are not those "
            "of the results above"
        )
    tested = {data_set: it for data_set, it in paired.items() if it.p is not None}
    methods = {data_set: it.method for data_set, it in tested.items() if it.method != "none"}
    if methods:
        yield f"{_by_name('p', methods)}; adjusted over the rows by Holm's method"
        yield (
            "degrees of freedom: the number of clusters minus 1, or fewer if few clusters differ "
            "between the two runs"
        )
    yield from _missing({data_set: [it.difference] for data_set, it in paired.items()})


def _value(row: CardRow, name: str) -> str:
    """The result in the field `name` as text; empty if there is none. If replies wait for a judge,
    the text is the range of possible values, or `-` if the range is not known."""
    metric: MetricReport | None = getattr(row, name)
    if metric is None:
        return ""
    if not row.counts[name].not_judged:
        return _number(shown(metric).value)
    if metric.bounds is None:
        return "-"
    low, high = (_number(shown(replace(metric, value=end)).value) for end in metric.bounds)
    return f"{low.removesuffix(' %')} to {high}"


def _number(text: str) -> str:
    """Remove the unit `points` from a number, because a note states the unit."""
    return text.removesuffix(" points")


def card_notes(card: Card) -> dict[str, int]:
    """Number the shortened notes of the rows, in the order of the rows. Notes that all rows share
    are left out."""
    shared = _shared_notes(card)
    notes = dict.fromkeys(note for row in card.rows for note in _notes(row) if note not in shared)
    return {note: number for number, note in enumerate(notes, start=1)}


def _notes(row: CardRow) -> list[str]:
    """The notes of a row, shortened."""
    return [*dict.fromkeys(_short(note) for note in (row.reason, *row.notes) if note)]


def _shared_notes(card: Card) -> list[str]:
    """The notes that all rows with a run share; empty unless several rows have a run."""
    rows = [_notes(row) for row in card.rows if row.runs]
    return [note for note in rows[0] if all(note in row for row in rows)] if len(rows) > 1 else []


def _short(note: str) -> str:
    """Shorten a note to its first sentences, or to a part of its first sentence, with at most
    `LONGEST` characters."""
    note = note.rstrip(".")
    while len(note) > LONGEST and ". " in note:
        note = note.rpartition(". ")[0]
    if len(note) <= LONGEST:
        return note
    start = note[: LONGEST - 1]
    return f"{start.rpartition('; ')[0] or start.rstrip()}…"


def card_title(card: Card) -> str:
    """`qwen3-vl × openai/m, published: Qwen3-VL-30B-A3B-Instruct`"""
    of = f", published: {card.checkpoint}" if card.checkpoint else ""
    return f"{card.recipe} × {card.model}{of}"


def card_lines(card: Card) -> Iterator[str]:
    """Yield the lines below a card's table: first notes that all rows share, then numbered notes
    and sources."""
    yield from (f"note: {note}" for note in _shared_notes(card))
    for note, number in card_notes(card).items():
        yield f"[{number}] {note}"
    if any(row.difference is not None for row in card.rows):
        yield (
            "difference: the recipe's result in this table minus the published figure, unless a "
            "note says otherwise. The interval is that of our result alone, since the sampling "
            "error of the published figure is not known"
        )
    here = [
        f"{row.data_set} is {row.benchmark}"
        for row in card.rows
        if row.benchmark not in (None, row.data_set)
    ]
    if here:
        yield f"in Snellen: {', '.join(here)}"
    yield f"recipe: {card.family}, evidence {card.evidence}, {card.source}"
    sources: dict[str, list[str]] = {}
    for row in card.rows:
        if row.published is not None:
            sources.setdefault(row.published.source, []).append(row.data_set)
    for source, data_sets in sources.items():
        yield f"published: {', '.join(data_sets)}: {source}"
    if others := [_others(row) for row in card.rows if row.published is None and row.figures]:
        yield f"published of other checkpoints: {'; '.join(others)}"
    yield from (f"note: {note}" for note in card.notes)


def _others(row: CardRow) -> str:
    figures = (f"{figure.value:g} ({figure.checkpoint})" for figure in row.figures)
    return f"{row.data_set} {', '.join(figures)}"


class CardResult:
    """The comparison of a model's published figures with our results. Printing it shows the
    results."""

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
        lines = [card_title(self.card)]
        tables = (card_table, figure_table, value_table, paired_table)
        for headings, *rows in filter(None, (table(self.card) for table in tables)):
            for row in rows:
                pairs = zip(headings[1:], row[1:], strict=True)
                cells = [f"{name} {cell}" for name, cell in pairs if cell]
                lines.append(f"  {'  '.join([row[0], *cells])}")
        lines += [f"  {line}" for line in card_lines(self.card)]
        for gap in self.card.gaps:
            lines.append(f"{gap.name}: {gap_verdict(gap)}")
            lines += [f"  {line}" for line in (*gap_lines(gap), *group_lines(gap))]
        return "\n".join(map(plain, lines))

    __repr__ = __str__
