"""What every new benchmark, metric and model is put through, unasked."""

import inspect

import pytest

import snellen.metrics
from snellen import catalog
from snellen.content import user
from snellen.model import Generates, Request
from snellen.testing import check_benchmark, check_metric, check_model

BENCHMARKS = [entry.name for entry in catalog.entries()]
METRICS = [
    name
    for name in snellen.metrics.__all__
    if inspect.isfunction(getattr(snellen.metrics, name))
    and list(inspect.signature(getattr(snellen.metrics, name)).parameters) == ["columns"]
]
BLIND = ("baseline/random", "baseline/first", "baseline/longest")
QUESTION = Request(messages=(user("Which?\nA. a cat\nB. a dog"),), choices=("a cat", "a dog"))


def test_there_are_benchmarks_and_metrics_to_check() -> None:
    assert {"eyechart", "mathvision"} <= set(BENCHMARKS)
    assert "mean" in METRICS


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_keeps_to_the_contract(name: str) -> None:
    report = check_benchmark(name)

    wrong = [row for row in report.rows if not row.ok]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_keeps_to_the_contract(name: str) -> None:
    check_metric(getattr(snellen.metrics, name))


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_baseline_keeps_to_the_contract(name: str) -> None:
    model = catalog.model(name).model
    assert isinstance(model, Generates)
    reply = check_model(model, QUESTION)
    assert reply.text in ("A", "B")


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_baseline_says_nothing_to_an_open_question(name: str) -> None:
    model = catalog.model(name).model
    assert isinstance(model, Generates)
    assert check_model(model, Request(messages=(user("How many?"),))).text == ""
