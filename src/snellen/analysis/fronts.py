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
    against cost per question, and headline metric against median request time. A front leaves out
    models if the headline metric or the cost (or time) is unknown. A benchmark has no front if it
    is unknown whether a higher metric is better."""
    for benchmark, results in by_benchmark.items():
        for label, costs in (
            ("cost per question", _costs(results)),
            ("median request time", _request_times(results)),
        ):
            points = {
                name: (score, costs[name])
                for name, score in _scores(results).items()
                if name in costs
            }
            if len(points) > 1:
                metric = next(iter(next(iter(results.values())).scoring().metrics))
                names = ", ".join(front(points))
                which = f"models that no other model beats in {metric} and {label}"
                yield f"{benchmark}: {which}: {names}"


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
