"""Prepares a table of the metrics that the user requested in addition to the headline metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.result import Result, category_metrics, metric_label, shown
from snellen.errors import UsageError
from snellen.report.side_by_side import distinct_names
from snellen.scoring import MetricReport

HEADINGS = ("benchmark", "model", "metric", "value", "95 % interval", "n", "remark")
TITLE = "other metrics"


def companions(results: Sequence[Result], names: Sequence[str]) -> list[Sequence[str]]:
    """The rows of the table, whose columns HEADINGS lists. The rows of each result are in the order
    of `names`.

    Args:
        results: The results. A result has no row for a name that is neither one of its metrics nor
            one of its tags.
        names: Metrics of the headline scoring (`precision`), or tags (`L1`). A tag stands for the
            first metric in each category of the tag.

    Raises:
        UsageError: one of the names is not a metric or a tag of any result.
    """
    rows: list[Sequence[str]] = []
    missing = dict.fromkeys(names)
    for result_name, result in zip(distinct_names(results), results, strict=True):
        for name in names:
            for label, metric in _metrics(result, name):
                missing.pop(name, None)
                rows.append((*result_name, label, *shown(metric)))
    if missing:
        raise UsageError(
            f"no result has the metric or tag {next(iter(missing))!r}. Metrics and tags: "
            f"{', '.join(dict.fromkeys(name for result in results for name in _known(result)))}."
        )
    return rows


def _metrics(result: Result, name: str) -> Iterator[tuple[str, MetricReport]]:
    """The metric with that name, or the metric of each category of the tag with that name: the
    first one that counts replies of the category. Each metric is paired with its label."""
    if not result.report.scorings:
        return
    metrics = result.scoring().metrics
    if name in metrics:
        yield metric_label(name, metrics[name].better), metrics[name]
    elif name in result.report.breakdown:
        metric_by_label = category_metrics(result.scoring(), result.report.breakdown[name])
        for category, metric_name in metric_by_label.items():
            if (metric := metrics.get(f"{metric_name}/{category}")) is not None:
                label = metric_label(metric_name, metrics[metric_name].better)
                yield f"{label}, {name}={category}", metric


def _known(result: Result) -> list[str]:
    """The names of a result's tags, and of its metrics over all samples."""
    if not result.report.scorings:
        return []
    metrics = [name for name in result.scoring().metrics if "/" not in name]
    return [*metrics, *result.report.breakdown]
