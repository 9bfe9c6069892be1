"""Results and comparisons as CSV: a row for each metric."""

from __future__ import annotations

import csv as sheet
import io
from collections.abc import Sequence

from snellen.analysis.comparing import Comparisons
from snellen.analysis.result import Result, plain
from snellen.report import side_by_side

COLUMNS = (
    "benchmark", "model", "scoring", "version", "metric", "value", "unit", "n", "stderr",
    "low", "high", "bound_low", "bound_high", "reason", "run", "remark", "named", "failed",
    "not_judged",
)  # fmt: skip
COMPARED = (
    "benchmark", "scoring", "a", "b", "by", "name", "value_a", "value_b", "difference", "unit",
    "low", "high", "p", "adjusted_p", "detectable", "n", "method", "reason",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@")


def csv(results: Sequence[Result]) -> str:
    """All metrics of all results, numbers in full; low and high are the 95 % interval's, the remark
    the result's. It is `named` with the options and settings that tell it from the others. `failed`
    counts the run's replies that did not come, `not_judged` those without a verdict under the
    scoring."""
    out = io.StringIO()
    writer = sheet.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result, named in zip(results, side_by_side.titles(results), strict=True):
        report = result.report
        run = "" if result.run is None else f"{result.run}"
        remark = "; ".join(side_by_side.short_of(result))
        for name, scoring in report.scorings.items():
            for metric, found in scoring.metrics.items():
                # Where less is better, all wrong is the higher one.
                bounds = sorted(found.bounds) if found.bounds else (None, None)
                row = (
                    report.benchmark, report.model, name, scoring.version, metric,
                    found.value, found.unit, found.n, found.stderr,
                    *(found.ci95 or (None, None)), *bounds, found.reason,
                    run, remark, named, result.failed, scoring.readings.get("not-judged", 0),
                )  # fmt: skip
                writer.writerow([_neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def compared_csv(of: Comparisons) -> str:
    """All differences of all pairs, b less a, numbers in full; `by` is `metric`, `capability` or a
    tag, whose categories are the names."""
    out = io.StringIO()
    writer = sheet.writer(out, lineterminator="\n")
    writer.writerow(COMPARED)
    for one in of.comparisons:
        parts = {"metric": one.metrics, **one.breakdown, "capability": one.capabilities}
        for by, differences in parts.items():
            for name, found in differences.items():
                less = found.difference
                row = (
                    one.benchmark, one.scoring, one.a, one.b, by, name,
                    found.a.value, found.b.value, less.value, less.unit,
                    *(less.ci95 or (None, None)), found.p, found.adjusted, found.detectable,
                    less.n, found.method, less.reason,
                )  # fmt: skip
                writer.writerow([_neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _neutral(text: str) -> str:
    """Text that a spreadsheet does not take for a formula, behind blanks neither."""
    text = plain(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
