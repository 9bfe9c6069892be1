"""Data sets that have the name of a benchmark, and data sets by the benchmark's name."""

from pathlib import Path

import pytest

from snellen import recipes, registry
from snellen.errors import UsageError
from snellen.transforms.recipe import ask_for
from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
RECIPE = """\
family = "Mine"
evidence = "maker-code"
source = "me/mine@0123abc:eval"

[prompts]
short = "{{ images | join }}{{ question }}"

[[asks]]
data_sets = ["eyechart", "MMMU_DEV_VAL", "MMVP", "secret_set"]
prompt = "short"

[[asks]]
data_sets = ["pope"]
benchmark = "mme"
prompt = "short"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(RECIPE)
    return path


def test_a_data_set_with_the_name_or_alias_of_a_benchmark_is_that_benchmark(recipe: Path) -> None:
    asks = registry.recipe(f"{recipe}").asks
    assert {name: ask.manner.benchmark for (name, _), ask in asks.items()} == {
        "eyechart": "eyechart",
        "MMMU_DEV_VAL": "mmmu:split=val",
        "MMVP": "mmvp",
        "secret_set": None,
        "pope": "mme",  # as the recipe says
    }


def test_bundled_recipes_stay_as_they_are() -> None:
    for name in recipes.names():
        assert registry.recipe(name).asks == recipes.load(name).asks


def test_such_a_benchmark_is_asked_without_naming_the_data_set(recipe: Path) -> None:
    ask = ask_for(registry.benchmark("eyechart"), f"{recipe}", registry.recipe)
    assert ask.data_set == "eyechart"


def test_a_card_runs_such_a_benchmark(snellen: Snellen, recipe: Path) -> None:
    done = snellen(
        *("card", recipe, "-m", "baseline/first", "-b", "eyechart", "--limit", "12", "-q", "--json")
    )
    (row,) = done.json["rows"]
    assert (row["benchmark"], row["by_recipe"]["n"]) == ("eyechart", 12)


def test_a_data_set_is_chosen_by_its_benchmark_if_only_one_is_it(snellen: Snellen) -> None:
    assert recipes.load("qwen2-vl").ask("mmmu").data_set == "mmmu_dev_val"
    shown = snellen("show", "--recipe", "qwen2-vl:mmmu", "--json")
    assert shown.json["data_set"] == "mmmu_dev_val"


def test_a_benchmark_of_several_data_sets_is_refused_with_their_names() -> None:
    with pytest.raises(UsageError, match=r"asks mathvista in \d ways: .*mathvista_testmini_cot"):
        recipes.load("llava-onevision-1.5").ask("mathvista")
