"""`compare --fail-if-worse`: checks that no side is worse than the first side of its benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from snellen.analysis.comparing import Comparison, Comparisons, verdict
from snellen.errors import UsageError
from snellen.report.junit_file import CheckResult


def check_margin(document: Comparisons, margin: float) -> None:
    """Check that a difference can exceed the margin; otherwise, --fail-if-worse could never fail.

    Raises:
        UsageError: the metric lies between 0 and 1, and the margin is not below 1.
    """
    for pair in document.comparisons:
        metric, difference = next(iter(pair.metrics.items()))
        if margin >= 1 and difference.a.unit == "fraction":
            hint = f" For {margin:g} points, write {margin / 100:g}." if margin < 100 else ""
            raise UsageError(
                f"--fail-if-worse: {metric} of {pair.benchmark} lies between 0 and 1, so no side "
                f"can be worse by more than {margin:g}.{hint}"
            )


def checks(document: Comparisons, margin: float) -> Iterator[CheckResult]:
    """Yield a check for every side that is not the first side of its benchmark. In the first
    metric, the side must not be worse than the first side by more than `margin`. The margin is in
    the metric's unit (0.02 means 2 percentage points).

    The check fails if the whole 95 % interval of the difference is beyond the margin. Without an
    interval, the check fails if the difference itself is beyond the margin. The check also fails if
    the difference has no value, if it is unknown whether higher is better, or if the two sides
    cannot be compared. The check of a run that cannot be read or has no score fails, too.
    """
    pairs = {(pair.benchmark, pair.a, pair.b): pair for pair in document.comparisons}
    first: dict[str, str] = {}
    for side in document.sides:
        baseline = first.setdefault(side.benchmark, side.name)
        if side.name == baseline:
            continue
        pair = pairs.get((side.benchmark, baseline, side.name))
        name = f"{side.name} against {baseline}"
        if pair is None:
            text = f"{name}: no comparison: no sample counts on both sides"
            yield CheckResult(side.benchmark, name, text, is_failed=True)
            continue
        problem = _problem(pair, margin)
        text = verdict(pair) if problem is None else f"{problem}: {verdict(pair)}"
        metric = next(iter(pair.metrics))
        yield CheckResult(side.benchmark, f"{name}: {metric}", text, problem is not None)
    for where in document.unusable:
        text = f"{where}: no comparison: it cannot be read, or none of its samples counts"
        yield CheckResult("not compared", where, text, is_failed=True)


def _problem(pair: Comparison, margin: float) -> str | None:
    difference = next(iter(pair.metrics.values())).difference
    if difference.value is None:
        return "no difference"
    if pair.direction is None:
        return "unknown whether higher is better"
    ends = difference.ci95 or (difference.value, difference.value)
    best = ends[1] if pair.direction == "higher" else -ends[0]
    return f"worse by more than {margin:g}" if best < -margin else None
