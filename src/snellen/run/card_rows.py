"""The rows of a model card: what was published, and what the runs gave."""

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
    """A data set of a card while it is run."""

    ask: recipes.Ask
    """How the recipe asks it."""
    base: Plan | None = None
    """The plan with the official settings; None if the benchmark cannot be run."""
    ways: TwoWays | None = None
    """The two ways of asking; None if it cannot be run by the recipe."""
    search: GapRun | None = None
    """The search for the fields that make the gap; None if it is not explained."""
    reason: str = ""
    """Why it is not run by the recipe; empty if it is."""
    error: SnellenError | None = None
    """The error that is the reason."""
    by_recipe: Finished | None = None
    """The run by the recipe."""
    official: Finished | None = None
    """The run by the official settings."""
    gap: Gap | None = None
    """The explained gap."""

    def fail(self, error: SnellenError) -> None:
        """Note why it is not run by the recipe."""
        self.error, self.reason = error, " ".join(str(error).split())


def card_row(entry: CardEntry, checkpoint: str | None, against: str) -> CardRow:
    """The row of a data set."""
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
        notes.append(f"the figure is by the scoring {scoring.name}: {shown(as_published).value}")
    elif scoring.words and (is_other or scoring.name is None):
        notes.append(f"the figure was scored by another rule: {scoring.words}")
    difference = None
    if ours is not None and published is not None:
        difference = minus_published(as_published or ours, published.value)
        if difference is None:
            notes.append("the published figure is in another unit than ours")
    paired = None
    values = [metric.value for metric in (ours, official) if metric is not None]
    if len(values) == 2 and None not in values:
        try:
            paired = _paired(entry)
        except UsageError:
            notes.append("not compared: no sample counts in both runs")
    if entry.by_recipe is not None and entry.ways is not None and not entry.ways.fields:
        notes.append(f"the recipe asks as the {against} settings do")
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
    """A row for each benchmark of the card of which no source says how it is asked."""
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
    """A checkpoint's name without its owner, and without signs: `Qwen/Qwen2.5-VL` as `qwen25vl`."""
    return re.sub("[^a-z0-9]", "", name.rpartition("/")[2].casefold())


def _of(figures: Sequence[PublishedFigure], checkpoint: str | None) -> PublishedFigure | None:
    """The figure of a checkpoint."""
    if checkpoint is None:
        return None
    wanted = plain_name(checkpoint)
    return next((figure for figure in figures if plain_name(figure.checkpoint) == wanted), None)


def _published(figure: recipes.Figure | recipes.CardFigure) -> PublishedFigure:
    """A figure of a recipe."""
    return PublishedFigure(checkpoint=figure.checkpoint, value=figure.value, source=figure.source)


def _metric(finished: Finished | None, scoring: str | None = None) -> MetricReport | None:
    """The first metric of a run under a scoring, by default the headline's."""
    result = None if finished is None else finished.result
    if result is None or (scoring or result.report.headline) not in result.report.scorings:
        return None
    return next(iter(result.scoring(scoring).metrics.values()))


def _run_notes(entry: CardEntry) -> Iterator[str]:
    """What limits the values of a row, without repetitions."""
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
    """Our value minus a published figure, in our unit. The interval is that of our value.

    Published figures are taken as percentages if ours are fractions and the figure is above 1. None
    if the figure is above 100, so that it is in another unit, or if there is no value.
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
    """By the recipe minus official, on the samples of both.

    Raises:
        UsageError: they share no sample that counts.
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
    """The rows, with the p values of paired differences adjusted over them by Holm's method."""
    tested = [row.paired.p for row in rows if row.paired is not None and row.paired.p is not None]
    ps = iter(stats.holm(tested))
    result = []
    for row in rows:
        if row.paired is not None and row.paired.p is not None:
            row = replace(row, paired=replace(row.paired, adjusted=next(ps)))
        result.append(row)
    return result
