"""Computes the overall score of a suite: the mean of its benchmarks' scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from snellen import registry
from snellen.analysis.result import Result
from snellen.errors import UsageError
from snellen.registry.suites import PREFIX, SUITES, Suite, options_of_spec
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
    """The 95 % interval; None if a score has no standard error."""
    of: int
    """The number of benchmarks in the suite."""
    missing: Mapping[str, tuple[str, ...]] = {}
    """The benchmarks without a score, keyed by the reason."""
    notes: Mapping[str, tuple[str, ...]] = {}
    """The benchmarks that limit the value, keyed by the limitation, such as a partial run."""


class _NoScore(Exception):
    """A benchmark of a suite has no score that counts. The message gives the reason."""


def overalls(name: str, results: Sequence[Result]) -> list[Overall]:
    """Compute the overall score of every model in a bundled suite.

    With n benchmarks and the standard errors s₁, …, sₙ of their scores, the standard error of the
    mean is √(s₁² + … + sₙ²) / n, because benchmarks have different samples.

    Raises:
        UsageError: there is no such suite, or the suite has no overall score.
    """
    suite = suite_with_overall(name)
    models = dict.fromkeys(result.report.model for result in results)
    return [_overall(name, suite, model, results) for model in models]


def suite_with_overall(name: str) -> Suite:
    """Return the bundled suite with this name.

    Raises:
        UsageError: there is no such suite, or the suite has no overall score.
    """
    suite = SUITES.get(name.removeprefix(PREFIX))
    if suite is None or not suite.overall:
        known = ", ".join(f"{PREFIX}{other}" for other, of in SUITES.items() if of.overall)
        raise UsageError(f"{name} is not a suite with an overall score. Such suites are: {known}.")
    return suite


def lines(name: str, results: Sequence[Result]) -> Iterator[str]:
    """Yield lines of text about each model's overall score."""
    for overall in overalls(name, results):
        start = f"{name}, {overall.model}:"
        if overall.value is None:
            count = sum(map(len, overall.missing.values()))
            yield f"{start} no overall score, because {count} of {overall.of} scores are missing:"
        else:
            interval = ""
            if overall.ci95 is not None:
                low, high = (100 * end for end in overall.ci95)
                interval = f" [{low:.2f}, {high:.2f}]"
            mean = f"the mean of {overall.of} benchmarks"
            yield f"{start} {100 * overall.value:.2f} %{interval}, {mean}"
        for reason, specs in {**overall.missing, **overall.notes}.items():
            yield f"  {', '.join(specs)}: {reason}"


def _overall(name: str, suite: Suite, model: str, results: Sequence[Result]) -> Overall:
    scores: list[MetricReport] = []
    missing: dict[str, tuple[str, ...]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for spec in suite.benchmarks:
        try:
            result = _run_of(spec, [result for result in results if result.report.model == model])
            score = _score(result, suite.metrics.get(spec))
        except _NoScore as reason:
            missing[f"{reason}"] = (*missing.get(f"{reason}", ()), spec)
            continue
        scores.append(score)
        for note in _limitations(result, score):
            notes[note] = (*notes.get(note, ()), spec)
    n = len(suite.benchmarks)
    if missing:
        return Overall(suite=name, model=model, value=None, of=n, missing=missing)
    value = math.fsum(score.value for score in scores if score.value is not None) / n
    errors = [score.stderr for score in scores if score.stderr is not None]
    ci95 = None
    if len(errors) == n:
        half = Z95 * math.hypot(*errors) / n
        ci95 = (max(0.0, value - half), min(1.0, value + half))
    return Overall(suite=name, model=model, value=value, ci95=ci95, of=n, notes=notes)


def _limitations(result: Result, score: MetricReport) -> Iterator[str]:
    report = result.report
    if report.asked_of is not None:
        yield f"partial, {report.conversations or report.n:,} of {report.asked_of:,}"
    if registry.is_bundled(report.notes):
        yield "only the few bundled rows"
    if score.stderr is None:
        yield "no standard error, therefore no interval"


def _run_of(spec: str, results: Sequence[Result]) -> Result:
    """Return the only run of a suite's benchmark.

    Raises:
        _NoScore: there is no such run, there are several, or replies are missing.
    """
    runs = [result for result in results if _is_of(result, spec)]
    plain = [result for result in runs if not result.report.identity.get("probe")]
    if not plain:
        raise _NoScore("only runs with a probe" if runs else "no run")
    if len(plain) > 1:
        raise _NoScore(f"{len(plain)} runs. Name only one of them")
    [result] = plain
    if result.failed:
        raise _NoScore(f"incomplete, {result.failed:,} questions failed. Run the command again")
    reason = next((note for note in result.report.notes if note.startswith("incomplete:")), None)
    if reason is not None:
        raise _NoScore(reason)
    return result


def _is_of(result: Result, spec: str) -> bool:
    """Whether a result is of a suite's benchmark, with the suite's options. Other options must have
    their defaults, except the prompt: a prompt that the suite does not set may be any."""
    entry, wanted = options_of_spec(spec)
    if entry.name != result.report.benchmark:
        return False
    stored = result.report.identity.get("options", {})
    defaults = {
        name: option["default"] for name, option in registry.listed_options(entry.name).items()
    }
    expected = {**defaults, **wanted}
    if "prompt" not in wanted:
        expected.pop("prompt", None)
    return all(
        str(stored.get(option, defaults.get(option))) == str(value)
        for option, value in expected.items()
    )


def _score(result: Result, path: str | None) -> MetricReport:
    """Return a benchmark's score: the headline metric, or the metric `path` (`METRIC` or
    `SCORING:METRIC`).

    Raises:
        _NoScore: the result has no such metric, the metric has no value or is not a share, or
            replies wait for a judge.
    """
    scoring, _, metric = (path or "").rpartition(":")
    scoring = scoring or result.report.headline
    if scoring not in result.report.scorings:
        raise _NoScore(f"no scoring {scoring}")
    waiting = result.scoring(scoring).readings.get("not-judged", 0)
    if waiting:
        raise _NoScore(f"{waiting:,} replies are not judged. Run `snellen judge`")
    metrics = result.scoring(scoring).metrics
    metric = metric or next(iter(metrics))
    if metric not in metrics:
        raise _NoScore(f"no metric {metric} in the scoring {scoring}")
    score = metrics[metric]
    if score.value is None:
        raise _NoScore(f"{metric} has no value" + f" ({score.reason})" * bool(score.reason))
    if score.unit != "fraction":
        raise _NoScore(f"{metric} is in {score.unit}, not a share")
    return score
