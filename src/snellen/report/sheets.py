"""Results as CSV: a row a metric."""

from __future__ import annotations

import csv as sheet
import io
from collections.abc import Sequence

from snellen.report._rows import plain
from snellen.result import Result

COLUMNS = (
    "benchmark", "model", "scoring", "version", "metric", "value", "unit", "n", "stderr", "low", "high",
    "bound_low", "bound_high", "reason",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv(results: Sequence[Result]) -> str:
    """All metrics of all results, numbers in full; intervals as low and high."""
    out = io.StringIO()
    writer = sheet.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        report = result.report
        for name, scoring in report.scorings.items():
            for metric, found in scoring.metrics.items():
                low, high = found.ci95 or (None, None)
                bound_low, bound_high = found.bounds or (None, None)
                row = (
                    report.benchmark, report.model, name, scoring.version, metric, found.value, found.unit, found.n,
                    found.stderr, low, high, bound_low, bound_high, found.reason,
                )  # fmt: skip
                writer.writerow([_neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _neutral(text: str) -> str:
    """A text that a spreadsheet does not take for a formula."""
    text = plain(text)
    return f"'{text}" if text.startswith(FORMULA) else text
