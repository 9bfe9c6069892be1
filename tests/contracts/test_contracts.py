"""What every new benchmark, metric and model is put through, unasked."""

import inspect
from collections.abc import Sequence

import pytest

import snellen.metrics
from snellen import catalog
from snellen.benchmark import Benchmark
from snellen.content import Image, user
from snellen.model import Emission, Frame, Ranked, Reply, Request
from snellen.models.scripted import Scripted
from snellen.testing import (
    check_benchmark,
    check_metric,
    check_model,
    check_ranks,
    check_streams,
)

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
    assert hasattr(model, "generate")
    reply = check_model(model, QUESTION)
    assert reply.text in ("A", "B")


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_baseline_says_nothing_to_an_open_question(name: str) -> None:
    model = catalog.model(name).model
    assert hasattr(model, "generate")
    assert check_model(model, Request(messages=(user("How many?"),))).text == ""
