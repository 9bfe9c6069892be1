"""Which way a metric gets better, as far as it is known."""

import pytest

from snellen import registry
from snellen.metrics import direction
from snellen.metrics.streaming import METRICS

# Shares of a kind of answer or of blame: neither way is better. Another model's score is no score.
NEITHER = {
    *(("hallusionbench", name) for name in ("lh", "mixed", "vi", "yes_diff", "yes_fp")),
    ("llava-bench", "reference_score"),
    ("ovo-bench", "yes_ratio"),
    ("pope", "yes_ratio"),
}


def test_the_direction_of_every_metric_of_the_catalog_is_known() -> None:
    unknown = set()
    for entry in registry.entries():
        benchmark = registry.benchmark(entry.name)
        names = {name for scoring in benchmark.scorings.values() for name in scoring.metrics}
        unknown |= {
            (benchmark.name, name) for name in names if direction(benchmark.name, name) is None
        }

    assert unknown == NEITHER


def test_a_headline_of_the_catalog_is_higher_for_the_better_model() -> None:
    for entry in registry.entries():
        benchmark = registry.benchmark(entry.name)
        first = next(iter(benchmark.scorings[benchmark.headline].metrics))
        assert direction(benchmark.name, first) == "higher", benchmark.name


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_of_streams_has_the_direction_that_its_formula_states(name: str) -> None:
    text = " ".join((METRICS[name].__doc__ or "").split())
    stated = [way for way in ("higher", "lower") if f"{way} is better" in text]

    if stated:
        assert [direction("ovo-bench", name)] == stated


@pytest.mark.parametrize("name", ["edit_distance", "score", "average", "primary", "repeats"])
def test_a_callers_metric_has_none_unless_all_use_its_name_alike(name: str) -> None:
    assert direction("mine", name) is None
    assert direction("mine", "f1") == "higher"


def test_a_category_has_the_direction_of_its_metric() -> None:
    assert direction("eyechart", "acuity/13 pixels") == "lower"
