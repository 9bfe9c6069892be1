"""Finds the models that are worth their price: the Pareto front of score and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from snellen.analysis.result import Result
from snellen.scoring.sections.cost import cost_per_question


def front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """The names of the points that no other point beats. A point (score, cost) beats another one if
    it is at least as good in both values, and better in one. A higher score and a lower cost are
    better.

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
    """For each benchmark with several models, the models on two fronts: headline metric against
    cost per question, and headline metric against median request time. A model that lacks one of
    the two values is left out of that front. If the direction of the metric is unknown, there is no
    front."""
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
                both = f"both {metric} and {label}"
                yield f"{benchmark}: models with none better in {both}: {names}"


def _scores(results: Mapping[str, Result]) -> dict[str, float]:
    """The headline values. Their sign is flipped if lower is better, so that higher values are
    always better."""
    signs = {"higher": 1.0, "lower": -1.0}
    return {
        name: signs[result.headline.better] * result.headline.value
        for name, result in results.items()
        if result.report.scorings
        and result.headline.value is not None
        and result.headline.better is not None
    }


def _costs(results: Mapping[str, Result]) -> dict[str, float]:
    """The costs per question; empty if they are in several currencies."""
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
