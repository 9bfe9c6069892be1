"""Metrics that are shown on request beside the headlines of several results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.result import Result, shown
from snellen.errors import UsageError
from snellen.report.side_by_side import distinct_names
from snellen.scoring import MetricReport

HEADINGS = ("benchmark", "model", "metric", "value", "95 % interval", "n", "remark")
TITLE = "other metrics"


def companions(results: Sequence[Result], names: Sequence[str]) -> list[Sequence[str]]:
    """Rows under HEADINGS, in the order of `names` for each result.

    Args:
        results: The results; those that do not have a name have no row for it.
        names: Metrics of the headline scoring (`precision`), or tags, which stand for the first
            metric of each of their categories (`L1`).

    Raises:
        UsageError: no result has a metric or a tag of that name.
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
            f"no result has the metric or tag {next(iter(missing))!r}. There are "
            f"{', '.join(dict.fromkeys(name for result in results for name in _known(result)))}."
        )
    return rows


def _metrics(result: Result, name: str) -> Iterator[tuple[str, MetricReport]]:
    """The metric of that name, or those of the categories of that tag, each with its label."""
    if not result.report.scorings:
        return
    metrics = result.scoring().metrics
    if name in metrics:
        yield name, metrics[name]
    elif name in result.report.breakdown:
        headline = next(iter(metrics))
        for category, metric in result.by(name).items():
            yield f"{headline}, {name}={category}", metric


def _known(result: Result) -> list[str]:
    """The names of a result's metrics for the whole set, and its tags."""
    if not result.report.scorings:
        return []
    metrics = [name for name in result.scoring().metrics if "/" not in name]
    return [*metrics, *result.report.breakdown]
