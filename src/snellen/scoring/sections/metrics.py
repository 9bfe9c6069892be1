"""Computes the metrics of every scoring, on all rows and for each category and part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from snellen.core.scoring import Scoring
from snellen.metrics import Columns, Compute, is_mean
from snellen.scoring.columns import objects
from snellen.scoring.document import MetricReport, ScoringReport, metric_report, with_directions
from snellen.scoring.draft import Draft, Part
from snellen.scoring.rows import ScoredRows
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections._base import Base
from snellen.scoring.table import ScoreTable
from snellen.scoring.verdicts import UNREADABLE, agreement, averaged
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MetricsSection(Base):
    """Reports the metrics and readings of each scoring, with notes on rows that are left out of the
    means."""

    def summarize(self, draft: Draft) -> Part:
        labels = category_labels(draft.table)
        scorings = {}
        notes = dict.fromkeys(draft.scorer.notes)
        for name in draft.reported:
            scoring = draft.benchmark.scorings[name]
            metrics, more = scoring_metrics(draft, name, labels)
            notes |= dict.fromkeys(more)
            scorings[name] = ScoringReport(
                version=scoring.version,
                source=scoring.source,
                metrics=with_directions(metrics, scoring.direction),
                readings=draft.table.findings[name].state_counts,
            )
            notes |= dict.fromkeys(_direction_note(name, scorings[name]))
        breakdown = {tag: list(names.values()) for tag, names in labels.items()}
        return {"scorings": scorings, "breakdown": breakdown}, [*notes]


def _direction_note(name: str, scoring: ScoringReport) -> Iterator[str]:
    """A note if lower values of a scoring's headline are better."""
    metrics = {metric: of for metric, of in scoring.metrics.items() if "/" not in metric}
    if not metrics or next(iter(metrics.values())).better != "lower":
        return
    lower, higher = (
        ", ".join(metric for metric, of in metrics.items() if of.better == better)
        for better in ("lower", "higher")
    )
    yield f"{name}: lower is better for {lower}" + (f"; higher for {higher}" if higher else "")


CategoryLabels = Mapping[str, Mapping[int, str]]
"""For each tag, maps the codes of categories to labels. In the name of a category's metric, the
label follows the slash."""


def category_labels(table: ScoreTable) -> dict[str, dict[int, str]]:
    """The labels of all categories. If two tags have a category with the same name, the labels
    include the tag."""
    tags = table.tags
    names = {tag: tags[tag].names for tag in table.scorer.benchmark.presentation.break_down_by}
    uses = Counter(name for of_tag in names.values() for name in of_tag)
    return {
        tag: {
            of_tag.index(name): name if uses[name] == 1 else f"{tag}={name}"
            for name in sorted(of_tag)
            if name
        }
        for tag, of_tag in names.items()
    }


def scoring_metrics(
    draft: Draft, name: str, labels: CategoryLabels
) -> tuple[dict[str, MetricReport], list[str]]:
    """Compute every metric of a scoring, and notes on them."""
    table, rows = draft.table, draft.rows(name)
    scoring = draft.benchmark.scorings[name]
    if not len(table):
        return _no_values(scoring, "no replies"), []
    notes = []
    if rows.absent.any():
        notes.append(_absent_note(table.scorer, name, rows))
    notes += _waiting_notes(table, name)
    by_slot = draft.by_slot(name)
    if not by_slot:
        return _metrics(table, name, rows, labels), notes
    by_judge = [_metrics(table, name, slot, labels) for slot in by_slot]
    notes.append(_agreement_note(table, name, by_judge))
    return averaged(by_judge), notes


def _metrics(
    table: ScoreTable, name: str, rows: ScoredRows, labels: CategoryLabels
) -> dict[str, MetricReport]:
    scoring = table.scorer.benchmark.scorings[name]
    counted = rows.columns if rows.in_mean.all() else rows.columns.where(rows.in_mean)
    unscored = rows.unknown & ~rows.in_mean
    if unscored.any():
        counted = replace(counted, unscored=rows.columns.where(unscored))
    if not counted.n:
        return _no_values(scoring, _why_none(table, name))
    metrics = {
        metric: metric_report(
            function(counted),
            _bounds(function, rows, scoring.best) if scoring.has_bounds(metric) else None,
        )
        for metric, function in scoring.metrics.items()
    }
    if scoring.extra_metrics is not None:
        estimates = scoring.extra_metrics(counted)
        metrics |= {metric: metric_report(estimate) for metric, estimate in estimates.items()}
    if all(is_mean(function) for function in scoring.metrics.values()):
        # A mean reads no objects, so millions of references need not be selected for each category.
        unread = objects([None] * counted.n)
        counted = replace(counted, answer=unread, target=unread, references=unread)
    metrics |= _by_category(scoring, counted, labels)
    parts = {part: values[rows.in_mean] for part, values in rows.parts.items()}
    return metrics | _by_part(scoring, counted, parts)


def _why_none(table: ScoreTable, name: str) -> str:
    """The reason why no row counts in the metrics."""
    if not table.has_references and all(target is None for target in table.targets.data):
        return "the answers are hidden"
    if table.findings[name].waiting:
        return f"none of the {len(table):,} replies has been judged"
    return f"none of the {len(table):,} questions has a reply"


def _by_category(
    scoring: Scoring, counted: Columns, labels: CategoryLabels
) -> dict[str, MetricReport]:
    metrics = {}
    for tag, names in labels.items():
        for code, label in names.items():
            category = counted.tagged(tag, (counted.tags[tag].names[code],))
            if category.n:
                for name, metric in scoring.metrics.items():
                    estimate = metric(category)
                    if estimate.n:  # a metric may cover only some categories
                        metrics[f"{name}/{label}"] = metric_report(estimate)
    return metrics


def _by_part(
    scoring: Scoring, counted: Columns, parts: Mapping[str, NDArray[np.float64]]
) -> dict[str, MetricReport]:
    """For each part, compute every metric from the part's scores, over the rows in which this part
    has a score."""
    import numpy as np

    metrics = {}
    for part, values in parts.items():
        has_part = ~np.isnan(values)
        columns = replace(counted, score=values).where(has_part)
        for name, metric in scoring.metrics.items():
            if columns.n:
                metrics[f"{name}/part={part}"] = metric_report(metric(columns))
    return metrics


def _bounds(metric: Compute, rows: ScoredRows, best: float) -> tuple[float, float] | None:
    """The bounds of the metric: its value if all replies with an unknown score were wrong, and its
    value if all such replies were right. None if no score is unknown, or if the metric does not
    depend on the scores."""
    import numpy as np

    if rows.columns.score is None or not rows.unknown.any():
        return None
    values = []
    for score, wrong in ((0.0, rows.unknown), (best, None)):
        scores = np.where(rows.unknown, score, rows.columns.score)
        filled = replace(rows.columns, score=scores, assumed_wrong=wrong)
        value = metric(filled.where(rows.in_mean | rows.unknown)).value
        if value is None:
            return None
        values.append(value)
    # A metric of answers, such as their distribution, does not depend on the scores.
    return None if values[0] == values[1] else (values[0], values[1])


def _no_values(scoring: Scoring, reason: str) -> dict[str, MetricReport]:
    nothing = metric_report(Estimate(value=None, n=0, reason=reason))
    return dict.fromkeys(scoring.metrics, nothing)


def _absent_note(scorer: Scorer, name: str, rows: ScoredRows) -> str:
    """Write a note on how a scoring counts questions that have no reply in a file of
    predictions."""
    import numpy as np

    scoring, columns = scorer.benchmark.scorings[name], rows.columns
    without = f"{name}: {int(rows.absent.sum()):,} rows without a reply"
    who = "as --missing says" if scorer.missing else "by this scoring's default"
    metric, function = next(iter(scoring.metrics.items()))
    if (scorer.missing or scoring.missing) == "excluded":
        note = f"{without} are left out of the means, {who}"
        if columns.score is not None:
            wrong = replace(columns, score=np.where(rows.absent, 0.0, columns.score))
            value = function(wrong.where(rows.in_mean | rows.absent)).value
            note += "" if value is None else f"; {metric} is {value:.4f} if they count as wrong"
    else:
        value = function(columns.where(rows.in_mean & ~rows.absent)).value
        rest = (
            "there are no other rows" if value is None else f"without them, {metric} is {value:.4f}"
        )
        note = f"{without} scored 0, {who}; {rest}"
    return f"{note}. {scoring.on_missing}" if scoring.on_missing else note


def _waiting_notes(table: ScoreTable, name: str) -> Iterator[str]:
    """Yield a note if some replies have no verdict that can be parsed."""
    columns = table.findings[name]
    waiting = columns.waiting
    if not waiting:
        return
    slots = [] if columns.slots is None else columns.slots.data
    unreadable = sum(
        any(slot.reading.rule == UNREADABLE for slot in row)
        and all(slot.score is None for slot in row)
        for row in slots
    )
    note = (
        f"{name}: {waiting:,} of {len(table):,} replies are not judged and are left out of the "
        "means"
    )
    if waiting > unreadable and not table.scorer.verdicts_first:
        note += "; `snellen judge RUN --judge MODEL` requests the missing verdicts"
    if unreadable:
        note += (
            f"; {unreadable:,} of them have a verdict that does not have the requested form: use "
            "another judge, or ask again with --repeats"
        )
    yield note


def _agreement_note(
    table: ScoreTable, name: str, by_judge: Sequence[Mapping[str, MetricReport]]
) -> str:
    """Write a note on how often several verdicts on the same reply agree. The note also contains
    the first metric for each judge."""
    slots = table.findings[name].slots
    several, alike = agreement([] if slots is None else slots.data)
    metric = next(iter(by_judge[0]))
    values = ", ".join(
        "none" if judge[metric].value is None else f"{judge[metric].value:.4f}"
        for judge in by_judge
    )
    share = f", which agree for {100 * alike / several:.1f} % of them" if several else ""
    return (
        f"{name}: {several:,} replies have several verdicts{share}; {metric} for each judge and "
        f"repeat: {values}; the reported value is the mean, and its error includes their spread"
    )
