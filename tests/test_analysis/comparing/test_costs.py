"""Costs and times beside the values of a comparison."""

from pathlib import Path

import snellen
from snellen.analysis.comparing import Side, cost_lines
from snellen.scoring import CostReport, Seconds
from tests.servers import completion, serving


def side(name: str, cost: CostReport | None) -> Side:
    return Side(
        name=name,
        benchmark="pope",
        model=name,
        where=name,
        n=10,
        replies={},
        identity={},
        cost=cost,
    )


def test_costs_and_times_are_listed_for_the_sides_that_have_them() -> None:
    cost = CostReport(
        replies=10,
        questions=10,
        tokens={},
        cost=0.5,
        currency="USD",
        seconds=4,
        total=Seconds(mean=1.0, p50=1.25, p90=2.0),
        failed_attempts=2,
    )
    free = CostReport(replies=10, questions=10, tokens={}, seconds=4)
    sides = [side("a", cost), side("b", free), side("c", None)]
    assert list(cost_lines("pope", ["c", "b", "a"], sides)) == [
        "cost per question: a 0.0500 USD",
        "median request time: a 1.25 s (2.5 in flight)",
        "failed requests: a 2 of 12",
    ]
    assert list(cost_lines("mme", ["a"], sides)) == []


def test_a_comparison_of_two_runs_shows_their_request_times(tmp_path: Path) -> None:
    with serving(completion("A")) as server:
        runs = [
            snellen.evaluate("eyechart:n=10", f"openai/{name}", base_url=server.url, out=tmp_path)
            for name in ("one-model", "another")
        ]
    text = str(snellen.compare(*runs))
    assert "  median request time: openai/another 0." in text
