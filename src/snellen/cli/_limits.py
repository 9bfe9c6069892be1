"""--fail-under and --fail-over: the lowest and highest acceptable values of metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from snellen import core, scoring
from snellen.cli._exit import DONE, FELL_SHORT, WRONG_USE
from snellen.cli._groups import Command
from snellen.cli._run_options import pairs
from snellen.errors import UsageError, plain
from snellen.run import option_text
from snellen.stats import Direction
from snellen.text.amounts import counted

if TYPE_CHECKING:
    from snellen.analysis.result import Result
    from snellen.core.benchmark import Benchmark
    from snellen.scoring import MetricReport

UNDER, OVER = "--fail-under", "--fail-over"
OPTIONS = (
    (UNDER, "floors", "below X (0.6, not 60 %)", "lower"),
    (OVER, "ceilings", "above X", "higher"),
)
"""The two options: name, parameter, when the check fails, and the metrics that it is not for."""
FRACTION = "fraction"
"""The unit of metrics between 0 and 1."""


class Limit(NamedTuple):
    """A value that a metric must reach (`--fail-under`) or must not exceed (`--fail-over`)."""

    option: str
    """The option that sets the limit."""
    metric: str
    """The metric, such as `accuracy`, or that of a category, such as `accuracy/colors`."""
    value: float
    """The limit, in the metric's unit."""

    @property
    def stem(self) -> str:
        """The metric without the category."""
        return self.metric.partition("/")[0]

    @property
    def better(self) -> Direction:
        """The better direction of the metrics that the option is meant for."""
        return "higher" if self.option == UNDER else "lower"

    @property
    def requirement(self) -> str:
        """What is required of the metric."""
        return f"at {'least' if self.option == UNDER else 'most'} {self.value:g} is required"

    def is_missed(self, value: float) -> bool:
        """Whether a metric with this value fails the check."""
        return value < self.value if self.option == UNDER else value > self.value


def limit_options(option: Callable[..., Callable[[Command], Command]]) -> Callable[..., Any]:
    """Add --fail-under and --fail-over to a command. `option` creates the options: `click.option`,
    or a function like it."""

    def add(command: Command) -> Command:
        for name, destination, words, better in reversed(OPTIONS):
            command = option(
                name,
                destination,
                multiple=True,
                metavar="METRIC=X",
                callback=parse_limits,
                help=f"Exit with 1 if this metric of the headline scoring is {words}; repeatable. "
                f"Not for metrics where {better} is better.",
            )(command)
        return command

    return add


def parse_limits(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[Limit, ...]:
    """Parse `METRIC=X` arguments of an option."""
    option = param.opts[0]
    try:
        return tuple(
            Limit(option, name, option_text.number(value))
            for name, value in pairs(ctx, param, values).items()
        )
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def check_limits(
    limits: Sequence[Limit], benchmarks: Sequence[Benchmark], *, no_score: bool
) -> None:
    """Check the values of --fail-under and --fail-over before any question is asked: the runs must
    have each metric, its better direction must fit the option, and the metric must be able to miss
    the limit."""
    if limits and no_score:
        option = limits[0].option
        raise UsageError(f"{option} needs a score. Leave out --no-score or {option}.")
    known = {
        metric: None
        for benchmark in benchmarks
        for metric in benchmark.scorings[benchmark.headline].metrics
    }
    for limit in limits:
        _check_metric(
            limit,
            known,
            (
                benchmark.scorings[benchmark.headline].direction(limit.stem)
                for benchmark in benchmarks
            ),
        )
        if not 0 <= limit.value <= 1 and any(
            _is_fraction(limit.stem, benchmark) for benchmark in benchmarks
        ):
            raise UsageError(_beyond(limit))


def check_scored(limits: Sequence[Limit], results: Sequence[Result]) -> None:
    """Check the metrics of --fail-under and --fail-over against scored results. The results must
    have each metric, and its better direction must fit the option."""
    known = dict.fromkeys(
        name for result in results for name in metrics_of(result) if "/" not in name
    )
    for limit in limits:
        metrics = [metrics_of(result).get(limit.stem) for result in results]
        _check_metric(limit, known, (metric.better for metric in metrics if metric is not None))


def _check_metric(
    limit: Limit, known: Collection[str], directions: Iterable[Direction | None]
) -> None:
    """Check that a metric is known, and that its better direction fits the option.

    Raises:
        UsageError: the metric is unknown, or the other option is for it.
    """
    if limit.stem not in known:
        raise UsageError(
            f"{limit.option}: no such metric {limit.metric!r}. Metrics: {', '.join(known)}."
        )
    other: Direction = "lower" if limit.better == "higher" else "higher"
    if other in directions:
        side = "below" if limit.option == UNDER else "above"
        raise UsageError(
            f"{limit.option}: {other} is better for {limit.stem}, so a value {side} "
            f"{limit.value:g} is not a failure. Use {OVER if limit.option == UNDER else UNDER} "
            "for it."
        )


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


def _beyond(limit: Limit) -> str:
    value = limit.value
    hint = f"; for {value:g} % write {value / 100:g}" if 1 < value <= 100 else ""
    return f"{limit.option}: {limit.metric} lies between 0 and 1{hint}."


def metrics_of(result: Result) -> Mapping[str, MetricReport]:
    return result.scoring().metrics if result.report.scorings else {}


def shortfalls(limits: Sequence[Limit], result: Result, known: Set[str]) -> tuple[list[str], int]:
    """Return the exit code, and a line about each metric that misses its limit, has no value, or
    cannot be compared with its limit. If replies wait for a judge, no limit counts as kept. `known`
    contains the names of all metrics of all runs."""
    metrics = metrics_of(result)
    code = DONE
    judges = result.report.judged_by.get(result.report.headline)
    lines = []
    if limits and judges is not None and judges.remark:
        lines.append(
            f"{judges.remark}, so {limits[0].option} checks its verdicts, not the authors'"
        )
    waiting = result.counts.not_judged if metrics else 0
    for limit in limits:
        name, stem = limit.metric, limit.stem
        if stem not in metrics:
            continue
        if name not in metrics:
            others = ", ".join(other for other in metrics if other.partition("/")[0] == stem)
            lines.append(f"no metric {name} to compare with {limit.value:g}. Metrics: {others}")
            code = max(code, FELL_SHORT if name in known else WRONG_USE)
        elif (value := metrics[name].value) is None:
            lines.append(f"{name} has no value; {limit.requirement}")
            code = max(code, FELL_SHORT)
        elif not 0 <= limit.value <= 1 and metrics[stem].unit == FRACTION:
            lines.append(_beyond(limit))
            code = WRONG_USE
        elif limit.is_missed(value):
            lines.append(f"{name} is {value:.6g}; {limit.requirement}")
            code = max(code, FELL_SHORT)
        elif waiting:
            replies = counted(waiting, "reply waits", "replies wait")
            lines.append(
                f"{name} is {value:.6g} so far: {replies} for a judge; {limit.requirement}"
            )
            code = max(code, FELL_SHORT)
    return lines, code


def say_shortfalls(limits: Sequence[Limit], results: Sequence[Result]) -> int:
    """Print each metric that misses its limit to standard error. Returns the exit code."""
    known = {metric for result in results for metric in metrics_of(result)}
    code = DONE
    for result in results:
        lines, shortfall = shortfalls(limits, result, known)
        name = " × ".join(filter(None, (result.report.benchmark, result.report.model)))
        for line in lines:
            print(plain(f"{name}: {line}"), file=sys.stderr)
        code = max(code, shortfall)
    return code
