"""Creates the rows of a model card: the published figures and the results of the runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from snellen import recipes, stats
from snellen.analysis.cards import CardRow, PublishedFigure
from snellen.analysis.comparing import MetricDifference
from snellen.analysis.gap import Gap
from snellen.analysis.result import shown
from snellen.errors import SnellenError, UsageError
from snellen.report.side_by_side import short_of
from snellen.run.compare_runs import compare
from snellen.run.gap_run import GapRun
from snellen.run.plan import Finished, Plan
from snellen.run.ways import TwoWays, figure_scoring
from snellen.scoring import MetricReport

UNASKED = "no source says how it is asked"


@dataclass
class CardEntry:
    """A data set of a card, and the state of its runs."""

    ask: recipes.Ask
    """How the recipe asks the data set's questions."""
    base: Plan | None = None
    """The plan with the official settings; None if the benchmark cannot be run."""
    ways: TwoWays | None = None
    """The two ways of asking; None if the data set cannot be run by the recipe."""
    search: GapRun | None = None
    """The search for the fields that cause the gap; None if the gap is not explained."""
    reason: str = ""
    """Why the data set is not run by the recipe; empty if it is."""
    error: SnellenError | None = None
    """The error that `reason` quotes."""
    by_recipe: Finished | None = None
    """The run by the recipe."""
    official: Finished | None = None
    """The run with the official settings."""
    gap: Gap | None = None
    """The explained gap."""

    def fail(self, error: SnellenError) -> None:
        """Note an error as the reason why the data set is not run by the recipe."""
        self.error, self.reason = error, " ".join(str(error).split())


def card_row(entry: CardEntry, checkpoint: str | None, against: str) -> CardRow:
    """Create the row of a data set."""
    ask = entry.ask
    figures = [_published(figure) for figure in ask.manner.figures]
    published = _of(figures, checkpoint)
    ours, official = _metric(entry.by_recipe), _metric(entry.official)
    scoring = figure_scoring(ask)
    notes = [*_run_notes(entry)]
    first = entry.by_recipe or entry.official
    result = None if first is None or first.result is None else first.result
    headline = result.report.headline if result is not None and result.report.scorings else None
    is_other = scoring.name is not None and scoring.name != headline
    as_published = _metric(entry.by_recipe, scoring.name) if is_other else None
    if as_published is not None:
        notes.append(
            f"the published figure uses the scoring {scoring.name}, under which this run has "
            f"{shown(as_published).value}"
        )
    elif scoring.words and (is_other or scoring.name is None):
        notes.append(f"the published figure uses a different scoring: {scoring.words}")
    difference = None
    if ours is not None and published is not None:
        difference = minus_published(as_published or ours, published.value)
        if difference is None:
            notes.append("the published figure has a different unit")
    paired = None
    values = [metric.value for metric in (ours, official) if metric is not None]
    if len(values) == 2 and None not in values:
        try:
            paired = _paired(entry)
        except UsageError:
            notes.append("not compared: no sample counts in both runs")
    if entry.by_recipe is not None and entry.ways is not None and not entry.ways.fields:
        other = against if against == "own options" else f"{against} settings"
        notes.append(f"the recipe's settings are the same as the {other}")
    return CardRow(
        data_set=ask.data_set,
        benchmark=ask.manner.benchmark,
        figures=figures,
        published=published,
        scoring=headline,
        metric=None if result is None or headline is None else next(iter(result.scoring().metrics)),
        by_recipe=ours,
        official=official,
        figure_scoring=scoring.name if is_other else None,
        as_published=as_published,
        difference=difference,
        paired=paired,
        runs=[f"{done.run}" for done in (entry.by_recipe, entry.official) if done is not None],
        reason=entry.reason,
        notes=notes,
    )


def unasked_rows(recipe: recipes.Recipe, checkpoint: str | None) -> list[CardRow]:
    """Create a row for each benchmark of the card for which no source says how it is asked."""
    by_benchmark: dict[str, list[PublishedFigure]] = {}
    for figure in recipe.figures:
        if not figure.data_set:
            by_benchmark.setdefault(figure.benchmark, []).append(_published(figure))
    return [
        CardRow(
            data_set=benchmark,
            figures=figures,
            published=_of(figures, checkpoint),
            reason=UNASKED,
        )
        for benchmark, figures in by_benchmark.items()
    ]


def plain_name(name: str) -> str:
    """Reduce a checkpoint's name to lowercase letters and digits, without its owner: `qwen25vl` for
    `Qwen/Qwen2.5-VL`."""
    return re.sub("[^a-z0-9]", "", name.rpartition("/")[2].casefold())


def _of(figures: Sequence[PublishedFigure], checkpoint: str | None) -> PublishedFigure | None:
    """Find the figure of a checkpoint."""
    if checkpoint is None:
        return None
    wanted = plain_name(checkpoint)
    return next((figure for figure in figures if plain_name(figure.checkpoint) == wanted), None)


def _published(figure: recipes.Figure | recipes.CardFigure) -> PublishedFigure:
    """Convert a figure of a recipe."""
    return PublishedFigure(checkpoint=figure.checkpoint, value=figure.value, source=figure.source)


def _metric(finished: Finished | None, scoring: str | None = None) -> MetricReport | None:
    """The first metric of a run under a scoring, by default the headline scoring."""
    result = None if finished is None else finished.result
    if result is None or (scoring or result.report.headline) not in result.report.scorings:
        return None
    return next(iter(result.scoring(scoring).metrics.values()))


def _run_notes(entry: CardEntry) -> Iterator[str]:
    """Yield the limitations of a row's values, each only once."""
    notes: dict[str, None] = {}
    for done in (entry.by_recipe, entry.official):
        if done is not None and done.result is not None:
            notes |= dict.fromkeys(short_of(done.result))
        if done is not None and done.stopped:
            notes[f"stopped: {done.stopped}"] = None
    yield from notes
    if entry.ask.manner.fault:
        yield f"fault: {entry.ask.manner.fault}"


def minus_published(ours: MetricReport, published: float) -> MetricReport | None:
    """Subtract a published figure from our value, in our unit. The interval is that of our value.

    If our value is a fraction, a published figure above 1 is taken as a percentage. Returns None if
    it is above 100, and thus in a different unit, or if we have no value.
    """
    if ours.value is None:
        return None
    figure = published
    if ours.unit == "fraction":
        if published > 100:
            return None
        figure = published / 100 if published > 1 else published
    interval = None if ours.ci95 is None else (ours.ci95[0] - figure, ours.ci95[1] - figure)
    return replace(ours, value=ours.value - figure, ci95=interval, bounds=None)


def _paired(entry: CardEntry) -> MetricDifference:
    """Compute the difference, by the recipe minus official, on the samples that both runs share.

    Raises:
        UsageError: the two runs share no sample that counts.
    """
    assert entry.by_recipe is not None
    assert entry.official is not None
    assert entry.base is not None
    (benchmark,) = entry.base.benchmarks
    own = None if benchmark.provenance.from_catalog else benchmark
    document = compare(
        entry.official.run, entry.by_recipe.run, benchmark=own, details=False
    ).comparisons
    return next(iter(document.comparisons[0].metrics.values()))


def adjusted(rows: Sequence[CardRow]) -> list[CardRow]:
    """Adjust the p values of the rows' paired differences by Holm's method."""
    tested = [row.paired.p for row in rows if row.paired is not None and row.paired.p is not None]
    ps = iter(stats.holm(tested))
    result = []
    for row in rows:
        if row.paired is not None and row.paired.p is not None:
            row = replace(row, paired=replace(row.paired, adjusted=next(ps)))
        result.append(row)
    return result
