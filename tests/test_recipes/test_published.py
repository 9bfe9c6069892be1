"""Which benchmark a published figure is of, and what it is compared with."""

import tomllib
from pathlib import Path

import pytest

from snellen import recipes, registry
from snellen.recipes import CardFigure

TABLES = tomllib.loads(Path(recipes.__file__).with_name("published.toml").read_text())


def figure(benchmark: str, snellen: str = "") -> CardFigure:
    return CardFigure(benchmark=benchmark, checkpoint="c", value=50.0, source="s", snellen=snellen)


def unasked() -> list[CardFigure]:
    return [
        figure
        for name in recipes.names()
        for figure in recipes.load(name).figures
        if not figure.data_set
    ]


@pytest.mark.parametrize("name", TABLES["names"])
def test_each_name_is_a_benchmark_or_says_what_it_leaves_open(name: str) -> None:
    known = recipes.benchmark_of(figure(name.upper()))
    assert bool(known.benchmark) != bool(known.unclear)
    if known.benchmark:
        assert registry.benchmark(known.benchmark).scorings


@pytest.mark.parametrize("name", TABLES["metrics"])
def test_each_metric_is_one_of_its_scoring_and_of_the_headline(name: str) -> None:
    known = recipes.metric_of(f"{name}:split=x")
    assert known is not None
    benchmark = registry.benchmark(name)
    for scoring in (known.scoring or benchmark.headline, benchmark.headline):
        assert known.metric in benchmark.scorings[scoring].metrics


@pytest.mark.parametrize(
    ("name", "benchmark"),
    [
        ("MMStar", "mmstar"),
        ("MMMU (val)", "mmmu"),
        ("DocVQA (test)", "docvqa:split=test"),
        ("MathVista (Mini)", "mathvista"),
        ("MMMU", ""),  # of which split?
        ("MMBench-EN v1.1", ""),
        ("AI2D", ""),  # with masks?
        ("LVBench", ""),  # not in Snellen
    ],
)
def test_only_a_name_that_says_version_and_split_is_of_a_benchmark(
    name: str, benchmark: str
) -> None:
    assert recipes.benchmark_of(figure(name)).benchmark == benchmark


def test_a_figure_may_say_its_benchmark_itself() -> None:
    assert recipes.benchmark_of(figure("AI2D", "pope")).benchmark == "pope"
    assert any(it.snellen for it in unasked())
    for it in unasked():
        if it.snellen:
            assert registry.benchmark(it.snellen).scorings
