"""Writes results and comparisons as CSV, with a row for each metric."""

from __future__ import annotations

import csv as sheet
import io
from collections.abc import Sequence

from snellen.analysis.comparing import Comparisons
from snellen.analysis.result import Result
from snellen.errors import plain
from snellen.report import side_by_side
from snellen.report._differences import row_name
from snellen.scoring import CostReport
from snellen.scoring.sections.cost import cost_per_question

COLUMNS = (
    "benchmark", "model", "scoring", "version", "metric", "value", "unit", "n", "stderr",
    "low", "high", "bound_low", "bound_high", "reason", "run", "remark", "named", "failed",
    "not_judged", "cost_per_question", "currency", "median_seconds", "in_flight", "failed_requests",
    "better",
)  # fmt: skip
COMPARED = (
    "benchmark", "scoring", "a", "b", "by", "name", "value_a", "value_b", "difference", "unit",
    "low", "high", "p", "adjusted_p", "detectable", "n", "method", "reason", "better",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@")


def csv(results: Sequence[Result]) -> str:
    """All metrics of all results, with unrounded numbers. `low` and `high` are the ends of the 95 %
    interval. `remark` says what is unusual about the result. `named` is the result's name with the
    options and settings that distinguish the result from the others. `failed` counts replies that
    did not arrive, and `not_judged` counts replies without a verdict under the scoring.
    `median_seconds` is the median time of a request, `in_flight` the mean number of the run's
    requests in flight, and `failed_requests` the number of requests that failed. `better` is
    `higher` or `lower`, or empty if the better direction is unknown."""
    out = io.StringIO()
    writer = sheet.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result, title in zip(results, side_by_side.titles(results), strict=True):
        report = result.report
        run = "" if result.run is None else f"{result.run}"
        remark = "; ".join(side_by_side.short_of(result))
        costs = _costs(report.spent)
        for name, scoring in report.scorings.items():
            for metric, metric_report in scoring.metrics.items():
                # If lower is better, the bound for all replies wrong is the higher one.
                bounds = sorted(metric_report.bounds) if metric_report.bounds else (None, None)
                row = (
                    report.benchmark, report.model, name, scoring.version, metric,
                    metric_report.value, metric_report.unit, metric_report.n, metric_report.stderr,
                    *(metric_report.ci95 or (None, None)), *bounds, metric_report.reason,
                    run, remark, title, result.failed, scoring.readings.get("not-judged", 0),
                    *costs, metric_report.better,
                )  # fmt: skip
                writer.writerow([_neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _costs(cost: CostReport | None) -> tuple[float | str | None, ...]:
    """The cells of the last five columns."""
    if cost is None:
        return (None,) * 5
    median = None if cost.total is None else cost.total.p50
    per_question = cost_per_question(cost)
    return per_question, cost.currency, median, cost.in_flight, cost.failed_attempts


def compared_csv(of: Comparisons) -> str:
    """All differences of all pairs, b minus a, with unrounded numbers. `by` is `metric`,
    `capability`, or a tag. Accordingly, `name` is the name of a metric, a capability, or a
    category. `better` is the better direction of the metric, `higher` or `lower`."""
    out = io.StringIO()
    writer = sheet.writer(out, lineterminator="\n")
    writer.writerow(COMPARED)
    for comparison in of.comparisons:
        parts = {
            "metric": comparison.metrics,
            **comparison.breakdown,
            "capability": comparison.capabilities,
        }
        for by, differences in parts.items():
            for name, metric_difference in differences.items():
                less = metric_difference.difference
                row = (
                    comparison.benchmark, comparison.scoring, comparison.a, comparison.b, by,
                    row_name(name, metric_difference),
                    metric_difference.a.value, metric_difference.b.value, less.value, less.unit,
                    *(less.ci95 or (None, None)), metric_difference.p, metric_difference.adjusted,
                    metric_difference.detectable, less.n, metric_difference.method, less.reason,
                    metric_difference.a.better,
                )  # fmt: skip
                writer.writerow([_neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _neutral(text: str) -> str:
    """Make a text safe for spreadsheets. A leading apostrophe keeps spreadsheet programs from
    running the text as a formula, even if the text begins with spaces."""
    text = plain(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
