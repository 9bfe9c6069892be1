"""Computes the overall score of a suite: the mean of its benchmarks' scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from snellen import registry
from snellen.analysis.result import Result
from snellen.errors import UsageError
from snellen.registry.suites import PREFIX, SUITES, Suite
from snellen.scoring import MetricReport
from snellen.stats import normal_quantile

Z95 = normal_quantile(0.975)


class Overall(msgspec.Struct, frozen=True, kw_only=True):
    """The overall score of one model in a suite."""

    suite: str
    """The suite's name, with its prefix."""
    model: str
    """The model's name."""
    value: float | None
    """The mean of the benchmarks' scores, from 0 to 1; None if a score is missing."""
    ci95: tuple[float, float] | None = None
    """The 95 % interval; None if a benchmark has no standard error."""
    of: int
    """The number of benchmarks in the suite."""
    failed: int = 0
    """The number of questions without a reply, which no score includes."""
    missing: tuple[str, ...] = ()
    """The benchmarks without a score, each with the reason."""


def overalls(name: str, results: Sequence[Result]) -> list[Overall]:
    """Compute the overall score of every model in a bundled suite.

    Benchmarks have different samples, so the variance of the mean is the sum of the variances
    divided by the square of their number. If a benchmark's score is a mean of several metrics, its
    standard error is the mean of theirs, which is the largest that it can be.

    Raises:
        UsageError: there is no such suite, or the suite has no overall score.
    """
    suite = SUITES.get(name.removeprefix(PREFIX))
    if suite is None or not suite.overall:
        with_score = ", ".join(f"{PREFIX}{known}" for known, of in SUITES.items() if of.overall)
        raise UsageError(f"{name} is no suite with an overall score. These are: {with_score}.")
    models = dict.fromkeys(result.report.model for result in results)
    return [_overall(name, suite, model, results) for model in models]


def lines(name: str, results: Sequence[Result]) -> Iterator[str]:
    """Yield a line of text for each model's overall score."""
    for overall in overalls(name, results):
        if overall.value is None:
            yield f"{name}, {overall.model}: no overall score: {'; '.join(overall.missing)}"
            continue
        interval = ""
        if overall.ci95 is not None:
            low, high = (100 * end for end in overall.ci95)
            interval = f" [{low:.1f}, {high:.1f}]"
        mean = f"the mean of {overall.of} benchmarks"
        failed = f", without {overall.failed:,} failed questions" if overall.failed else ""
        yield f"{name}, {overall.model}: {100 * overall.value:.1f} %{interval}, {mean}{failed}"


def _overall(name: str, suite: Suite, model: str, results: Sequence[Result]) -> Overall:
    scores: list[tuple[float, float | None]] = []
    failed = 0
    missing = []
    for spec in suite.benchmarks:
        matching = [
            result for result in results if result.report.model == model and _is_of(result, spec)
        ]
        metrics = _metrics(matching[0], suite.metrics.get(spec, ())) if len(matching) == 1 else []
        if len(matching) != 1:
            missing.append(f"{spec} has {len(matching) or 'no'} runs")
        elif matching[0].report.incomplete:
            missing.append(f"{spec} is not complete")
        elif not metrics:
            missing.append(f"{spec} has no score")
        else:
            scores.append(_mean(metrics))
            failed += matching[0].failed
    if missing:
        return Overall(
            suite=name, model=model, value=None, of=len(suite.benchmarks), missing=tuple(missing)
        )
    value = sum(score for score, _ in scores) / len(scores)
    errors = [error for _, error in scores if error is not None]
    ci95 = None
    if len(errors) == len(scores):
        half = Z95 * math.sqrt(sum(error**2 for error in errors)) / len(scores)
        ci95 = (max(0.0, value - half), min(1.0, value + half))
    return Overall(suite=name, model=model, value=value, ci95=ci95, of=len(scores), failed=failed)


def _is_of(result: Result, spec: str) -> bool:
    """Whether a result is of a suite's benchmark with the suite's options."""
    name, _, words = spec.partition(":")
    entry, options = registry.resolve(name)
    if entry.name != result.report.benchmark:
        return False
    wanted = dict(options) | dict(word.split("=", 1) for word in words.split(",") if word)
    stored = result.report.identity.get("options", {})
    return all(str(stored.get(option)) == str(value) for option, value in wanted.items())


def _metrics(result: Result, names: Sequence[str]) -> list[MetricReport]:
    """The metrics that a benchmark contributes: by default its headline metric. Empty if one of
    them is not a share."""
    if not result.report.scorings:
        return []
    known = result.scoring().metrics
    metrics = [known[name] for name in names if name in known] if names else [result.headline]
    are_shares = all(metric.value is not None and metric.unit == "fraction" for metric in metrics)
    return metrics if are_shares and len(metrics) == max(1, len(names)) else []


def _mean(metrics: Sequence[MetricReport]) -> tuple[float, float | None]:
    """The mean of the metrics and its standard error, if all of them have one."""
    values = [metric.value for metric in metrics if metric.value is not None]
    errors = [metric.stderr for metric in metrics if metric.stderr is not None]
    error = sum(errors) / len(errors) if len(errors) == len(metrics) else None
    return sum(values) / len(values), error
