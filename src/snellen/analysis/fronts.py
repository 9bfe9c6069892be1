"""Finds the models with the best trade-offs between score and cost, which form the Pareto front."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from snellen.analysis.result import Result
from snellen.scoring.sections.cost import cost_per_question


def front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Find the points that no other point beats, and return their names. A point (score, cost)
    beats another point if it is at least as good in both values, and better in at least one value.
    A higher score and a lower cost are better.

    >>> front({"a": (0.9, 3.0), "b": (0.8, 1.0), "c": (0.7, 2.0)})
    ['a', 'b']
    """
    return [
        name
        for name, (score, cost) in points.items()
        if not any(
            other_score >= score
            and other_cost <= cost
            and (other_score, other_cost) != (score, cost)
            for other_score, other_cost in points.values()
        )
    ]


def front_lines(by_benchmark: Mapping[str, Mapping[str, Result]]) -> Iterator[str]:
    """For each benchmark with several models, yield the models on two fronts: headline metric
    against cost per question, and headline metric against median request time.

    Values are ranked only if they are about the same questions and come from the same rules and
    judges, so a benchmark may have several fronts. A front leaves out models if replies are
    missing, or if the headline metric or the cost (or time) is unknown. A benchmark has no front if
    it is unknown whether a higher metric is better."""
    for benchmark, results in by_benchmark.items():
        scored = {name: results[name] for name in _scores(results)}
        complete = {name: of for name, of in scored.items() if not of.report.incomplete}
        by_basis: dict[object, dict[str, Result]] = {}
        for name, result in complete.items():
            if result.report.question_digest is not None:
                by_basis.setdefault(_basis(result), {})[name] = result
        lines: list[str] = []
        for comparable in by_basis.values():
            which = f" (only {', '.join(comparable)}, which have the same questions and scoring)"
            lines += _lines(f"{benchmark}{which * (len(by_basis) > 1)}", comparable)
        yield from lines
        if lines or len(complete) > 1:
            yield from _left_out(benchmark, scored)


def _basis(result: Result) -> object:
    """What a headline value depends on besides the model and how it was asked. Two values can be
    ranked if their bases are equal."""
    report, scoring = result.report, result.scoring()
    judges = report.judged_by.get(report.headline)
    return (
        report.question_digest,
        repr(report.identity.get("probe")),
        (report.headline, scoring.version, next(iter(scoring.metrics))),
        None if judges is None else (*judges.judges,),
    )


def _lines(start: str, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a line for each front of comparable results. `start` begins each line."""
    scores = _scores(results)
    for label, costs in (
        ("cost per question", _costs(results)),
        ("median request time", _request_times(results)),
    ):
        points = {name: (score, costs[name]) for name, score in scores.items() if name in costs}
        if len(points) > 1:
            metric = next(iter(next(iter(results.values())).scoring().metrics))
            names = ", ".join(front(points))
            yield f"{start}: models that no other model beats in {metric} and {label}: {names}"


def _left_out(benchmark: str, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a line for each reason why results are on no front."""
    reports = {name: result.report for name, result in results.items()}
    missing = [name for name, report in reports.items() if report.incomplete]
    if missing:
        yield (
            f"{benchmark}: left out, because replies are missing: {', '.join(missing)}. "
            "`snellen compare` compares runs on the samples that all of them have"
        )
    old = [
        name
        for name, report in reports.items()
        if not report.incomplete and report.question_digest is None
    ]
    if old:
        yield (
            f"{benchmark}: left out, because an earlier version scored them: {', '.join(old)}. "
            "Score them again with `snellen score`"
        )


def _scores(results: Mapping[str, Result]) -> dict[str, float]:
    """The headline values, negated if lower is better, so that higher values are always better."""
    signs = {"higher": 1.0, "lower": -1.0}
    return {
        name: signs[result.headline.better] * result.headline.value
        for name, result in results.items()
        if result.report.scorings
        and result.headline.value is not None
        and result.headline.better is not None
    }


def _costs(results: Mapping[str, Result]) -> dict[str, float]:
    """The costs per question; empty if the costs are in several currencies."""
    costs: dict[str, float] = {}
    currencies = set()
    for name, result in results.items():
        report = result.report.spent
        if report is not None and (cost := cost_per_question(report)) is not None:
            costs[name] = cost
            currencies.add(report.currency)
    return costs if len(currencies) == 1 else {}


def _request_times(results: Mapping[str, Result]) -> dict[str, float]:
    return {
        name: result.report.spent.total.p50
        for name, result in results.items()
        if result.report.spent is not None and result.report.spent.total is not None
    }
