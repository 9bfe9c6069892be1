"""`compare --fail-if-worse`: checks that no later side is worse than an earlier one."""

from __future__ import annotations

from collections.abc import Iterator

from snellen.analysis.comparing import Comparison, Comparisons, verdict
from snellen.report.junit_file import CheckResult


def checks(document: Comparisons, margin: float) -> Iterator[CheckResult]:
    """A check for each pair: in the first metric, b must not be worse than a by more than `margin`.
    The margin is in the metric's unit (0.02 means 2 percentage points).

    The check fails if the whole 95 % interval of the difference is beyond the margin. Without an
    interval, the check fails if the difference itself is beyond the margin. The check also fails if
    the difference has no value, or if it is unknown whether higher is better.
    """
    for pair in document.comparisons:
        metric = next(iter(pair.metrics))
        problem = _problem(pair, margin)
        text = verdict(pair) if problem is None else f"{problem}: {verdict(pair)}"
        yield CheckResult(
            pair.benchmark, f"{pair.b} against {pair.a}: {metric}", text, problem is not None
        )


def _problem(pair: Comparison, margin: float) -> str | None:
    difference = next(iter(pair.metrics.values())).difference
    if difference.value is None:
        return "no difference"
    if pair.direction is None:
        return "unknown whether higher is better"
    ends = difference.ci95 or (difference.value, difference.value)
    best = ends[1] if pair.direction == "higher" else -ends[0]
    return f"worse by more than {margin:g}" if best < -margin else None
