"""Creates the rows of a model card: the published figures and the results of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from snellen import recipes, stats
from snellen.analysis import comparing
from snellen.analysis.cards import CardCounts, CardRow, PublishedFigure
from snellen.analysis.comparing import MetricDifference
from snellen.errors import SnellenError
from snellen.run.card_entries import CardEntry, plain_name
from snellen.run.card_notes import counts_of, is_of_bundled_rows, report_notes, run_notes
from snellen.run.plan import Finished
from snellen.run.selected_rows import loaded_side
from snellen.run.ways import FigureScoring
from snellen.scoring import MetricReport


def card_row(entry: CardEntry, checkpoint: str | None, against: str) -> CardRow:
    """Create the row of one benchmark."""
    figures = [_published(figure) for figure in entry.figures]
    matches = _of(figures, checkpoint)
    published = matches[0] if matches else None
    first = entry.by_recipe or entry.official
    result = None if first is None else first.result
    headline = result.report.headline if result is not None and result.report.scorings else None
    scoring = entry.scoring
    # The scoring of published figures matters only if there are any.
    is_other = bool(figures) and scoring.name is not None and scoring.name != headline
    as_published, official_as_published = (
        _metric(done, entry, scoring.name) if is_other else None
        for done in (entry.by_recipe, entry.official)
    )
    is_known = as_published is not None or official_as_published is not None
    name = None if headline is None else _metric_name(first, entry, headline)
    paired, why_not = _paired(entry, name)
    row = CardRow(
        data_set=entry.data_set,
        benchmark=entry.benchmark,
        figures=figures,
        published=published,
        scoring=headline,
        metric=name,
        by_recipe=_metric(entry.by_recipe, entry),
        official=_metric(entry.official, entry),
        figure_scoring=scoring.name if is_other else None,
        figure_metric=_metric_name(first, entry, scoring.name or "") if is_known else None,
        as_published=as_published,
        official_as_published=official_as_published,
        paired=paired,
        counts=_counts(entry, headline, scoring.name if is_known else None),
        runs=[f"{done.run}" for done in (entry.by_recipe, entry.official) if done is not None],
        reason=entry.reason,
        report_notes=report_notes(entry),
        notes=[
            *entry.notes,
            *(f"also published: {other.value:g} ({other.source})" for other in matches[1:]),
            *run_notes(entry, against),
            *([why_not] if why_not else []),
        ],
    )
    return _with_difference(_in_points(row, entry.metric), entry, against)


def _with_difference(row: CardRow, entry: CardEntry, against: str) -> CardRow:
    """Add the difference from the published figure to a row, and notes on what is compared."""
    notes, scoring, reason = [*row.notes], entry.scoring, row.reason
    fields = ("as_published", "by_recipe")
    if entry.ask is None:
        fields = ("official_as_published", "official")
    name = next((field for field in fields if getattr(row, field) is not None), "")
    ours: MetricReport | None = getattr(row, name) if name else None
    if entry.ask is None and ours is not None and row.published is not None:
        reason = f"{reason}: the difference is {against} minus published"
    difference = None
    if ours is not None and ours.value is None and row.published is not None:
        notes.append(f"no difference: {ours.reason or 'no reply has a score'}")
    elif ours is not None and ours.value is not None:
        if row.figure_metric is not None:
            notes.append(f"published figures are by the scoring {scoring.name}; so is this row")
        elif row.published is not None and _is_by_another_rule(row, scoring):
            notes.append(f"the figure was scored by another rule: {scoring.words}")
        if row.published is not None and is_of_bundled_rows(entry):
            notes.append("no difference: the bundled rows are not the published benchmark")
        elif row.published is not None and row.counts[name].not_judged:
            notes.append("no difference: replies wait for a judge")
        elif row.published is not None:
            difference = minus_published(ours, row.published.value)
            if difference is None:
                notes.append("the published figure is in another unit than our result")
    if entry.by_recipe is not None and entry.ways is not None and not entry.ways.fields:
        notes.append(f"the recipe asks as the {against} settings do")
    return replace(row, difference=difference, reason=reason, notes=notes)


def _is_by_another_rule(row: CardRow, scoring: FigureScoring) -> bool:
    """Whether the published figure was scored by a rule that our result does not use."""
    return bool(scoring.words) and (scoring.name is None or row.figure_scoring is not None)


def _in_points(row: CardRow, metric: recipes.FigureMetric | None) -> CardRow:
    """Convert a row's results to points if its published figure is in points."""
    if metric is None or not metric.points or row.published is None or row.published.value <= 100:
        return row

    def points(report: MetricReport | None) -> MetricReport | None:
        return None if report is None else _scaled(report, metric.points)

    paired = row.paired
    if paired is not None:
        sides = {name: _scaled(getattr(paired, name), metric.points) for name in PAIRED}
        paired = replace(paired, **sides, detectable=None)
    note = f"in points, of {metric.points:,} at most"
    return replace(
        row,
        by_recipe=points(row.by_recipe),
        official=points(row.official),
        as_published=points(row.as_published),
        official_as_published=points(row.official_as_published),
        paired=paired,
        notes=[*row.notes, *([note] if row.scoring is not None else [])],
    )


PAIRED = ("a", "b", "difference")
"""The fields of a paired difference that contain metrics."""


def _scaled(report: MetricReport, points: int) -> MetricReport:
    """Convert a fraction to points, where `points` is the best score. Values in other units are
    returned unchanged."""
    if report.unit != "fraction":
        return report

    def pair(ends: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if ends is None else (ends[0] * points, ends[1] * points)

    return replace(
        report,
        value=None if report.value is None else report.value * points,
        unit="points",
        stderr=None if report.stderr is None else report.stderr * points,
        ci95=pair(report.ci95),
        bounds=pair(report.bounds),
    )


def _of(figures: Sequence[PublishedFigure], checkpoint: str | None) -> list[PublishedFigure]:
    """Find the figures of a checkpoint. There are several if sources disagree."""
    if checkpoint is None:
        return []
    wanted = plain_name(checkpoint)
    return [figure for figure in figures if plain_name(figure.checkpoint) == wanted]


def _published(figure: recipes.Figure) -> PublishedFigure:
    """Convert a recipe's figure to the form that a card stores."""
    return PublishedFigure(checkpoint=figure.checkpoint, value=figure.value, source=figure.source)


def _metric_name(finished: Finished | None, entry: CardEntry, scoring: str) -> str | None:
    """The metric of the published figures if the scoring has it; otherwise, the scoring's first
    metric."""
    if finished is None or finished.result is None:
        return None
    known = [*finished.result.scoring(scoring).metrics]
    wanted = None if entry.metric is None else entry.metric.metric
    return wanted if wanted in known else known[0]


def _metric(
    finished: Finished | None, entry: CardEntry, scoring: str | None = None
) -> MetricReport | None:
    """The metric of a run under a scoring, which is the headline scoring by default."""
    result = None if finished is None else finished.result
    if result is None or (scoring or result.report.headline) not in result.report.scorings:
        return None
    scoring = scoring or result.report.headline
    name = _metric_name(finished, entry, scoring)
    return None if name is None else result.scoring(scoring).metrics[name]


def _counts(
    entry: CardEntry, headline: str | None, figure_scoring: str | None
) -> dict[str, CardCounts]:
    """Count the missing and unusual replies of each result, keyed by the result's field in the
    row."""
    ends = {"by_recipe": entry.by_recipe, "official": entry.official}
    figure_ends = {"as_published": entry.by_recipe, "official_as_published": entry.official}
    counts = {}
    for scoring, runs in ((headline, ends), (figure_scoring, figure_ends)):
        for name, done in runs.items():
            result = None if done is None else done.result
            if result is not None and scoring in result.report.scorings:
                counts[name] = counts_of(result, scoring)
    return counts


def minus_published(ours: MetricReport, published: float) -> MetricReport | None:
    """Subtract a published figure from our value, in the unit of our value. The interval of the
    difference contains only the uncertainty of our value.

    If our value is a fraction, a published figure above 1 is taken as a percentage. Returns None if
    our value is missing, or if it is a fraction and the figure is above 100, since such a figure
    has a different unit.
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


def _paired(entry: CardEntry, metric: str | None) -> tuple[MetricDifference | None, str]:
    """Compare the recipe's run with the official run on their shared samples. Returns the
    difference (recipe minus official) and a note. If the comparison fails although both runs have a
    value, the note states the reason; otherwise, the note is empty."""
    recipe, official = entry.by_recipe, entry.official
    if recipe is None or official is None or entry.base is None or metric is None:
        return None, ""
    values = [_metric(done, entry) for done in (recipe, official)]
    if any(value is None or value.value is None for value in values):
        return None, ""
    results = [done.result for done in (recipe, official) if done.result is not None]
    if any(result.counts.not_judged for result in results):
        return None, "the two ways are not compared: replies wait for a judge"
    (benchmark,) = entry.base.benchmarks
    try:
        sides = [loaded_side(done, benchmark) for done in (official, recipe)]
        document = comparing.compare(sides, details=False)
    except SnellenError as error:  # the values stand without it
        return None, f"the two ways are not compared: {' '.join(str(error).split())}"
    return document.comparisons[0].metrics.get(metric), ""


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
