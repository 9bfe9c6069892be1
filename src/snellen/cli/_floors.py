"""--fail-under: the lowest acceptable values of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

import click

from snellen import core, scoring
from snellen.cli._exit import DONE, FELL_SHORT, WRONG_USE
from snellen.cli._run_options import pairs
from snellen.errors import UsageError
from snellen.run import option_text

if TYPE_CHECKING:
    from snellen.analysis.result import Result
    from snellen.core.benchmark import Benchmark
    from snellen.scoring import MetricReport

FRACTION = "fraction"
"""The unit of metrics between 0 and 1."""


def floors(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, float]:
    """Parse `METRIC=X` arguments."""
    try:
        return {
            name: option_text.number(value) for name, value in pairs(ctx, param, values).items()
        }
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def check_floors(
    floors: Mapping[str, float], benchmarks: Sequence[Benchmark], *, no_score: bool
) -> None:
    """Check the values of --fail-under before any question is asked: the runs must have each
    metric, higher must be better, and the metric must be able to reach the value."""
    if floors and no_score:
        raise UsageError("--fail-under needs a score. Leave out --no-score or --fail-under.")
    known = {
        metric: None
        for benchmark in benchmarks
        for metric in benchmark.scorings[benchmark.headline].metrics
    }
    for name, floor in floors.items():
        metric = name.partition("/")[0]
        if metric not in known:
            raise UsageError(f"--fail-under: no such metric {name!r}. Metrics: {', '.join(known)}.")
        if any(
            benchmark.scorings[benchmark.headline].direction(metric) == "lower"
            for benchmark in benchmarks
        ):
            raise UsageError(
                f"--fail-under: lower is better for {metric}, so a value below {floor:g} is not a "
                "failure. Choose a metric where higher is better."
            )
        if not 0 <= floor <= 1 and any(_is_fraction(metric, benchmark) for benchmark in benchmarks):
            raise UsageError(_beyond(name, floor))


def _is_fraction(metric: str, benchmark: Benchmark) -> bool:
    """Whether a metric lies between 0 and 1. To get the metric's unit, which only a computed metric
    has, this function scores an empty reply to the first question."""
    headline = benchmark.scorings[benchmark.headline]
    row = next(iter(benchmark.data), None)
    if metric not in headline.metrics or headline.reads != "generate" or row is None:
        return False
    tally = scoring.Tally(benchmark, [benchmark.headline])
    reply = core.Reply(text="")
    tally.add([scoring.Scored(benchmark.read(row), 0, reply.state, reply)])
    report = tally.report(model="", identity={}).scorings[benchmark.headline].metrics[metric]
    return report.value is not None and report.unit == FRACTION


def _beyond(name: str, floor: float) -> str:
    hint = f"; for {floor:g} % write {floor / 100:g}" if 1 < floor <= 100 else ""
    return f"--fail-under: {name} lies between 0 and 1{hint}."


def metrics_of(result: Result) -> Mapping[str, MetricReport]:
    return result.scoring().metrics if result.report.scorings else {}


def shortfalls(
    floors: Mapping[str, float], result: Result, known: Set[str]
) -> tuple[list[str], int]:
    """Return the exit code, and a line about each metric that is below its floor, has no value, or
    cannot be compared with its floor. `known` contains the names of all metrics of all runs."""
    metrics = metrics_of(result)
    code = DONE
    judges = result.report.judged_by.get(result.report.headline)
    lines = []
    if floors and judges is not None and judges.remark:
        lines.append(f"{judges.remark}, so --fail-under checks its verdicts, not the authors'")
    for name, floor in floors.items():
        stem = name.partition("/")[0]
        if stem not in metrics:
            continue
        if name not in metrics:
            others = ", ".join(other for other in metrics if other.partition("/")[0] == stem)
            lines.append(f"no metric {name} to compare with {floor:g}. Metrics: {others}")
            code = max(code, FELL_SHORT if name in known else WRONG_USE)
        elif (value := metrics[name].value) is None:
            lines.append(f"{name} has no value; at least {floor:g} is required")
            code = max(code, FELL_SHORT)
        elif not 0 <= floor <= 1 and metrics[stem].unit == FRACTION:
            lines.append(_beyond(name, floor))
            code = WRONG_USE
        elif value < floor:
            lines.append(f"{name} is {value:.6g}; at least {floor:g} is required")
            code = max(code, FELL_SHORT)
    return lines, code
