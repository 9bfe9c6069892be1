"""What recipes state besides the question, and where recipes come from."""

import re
import shutil
from pathlib import Path

import pytest

from snellen import recipes, registry
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Image
from snellen.media.drawing import Canvas
from snellen.transforms.recipe import ask_for, in_words_of_recipe
from tests.test_registry.test_plugins import install

HEAD = 'family = "F"\nevidence = "toolkit"\nsource = "a/b@0123abc:c.py"\n'
SHORT = '[prompts]\nshort = "{{ question }}!"\n'
ASK = '[[asks]]\ndata_sets = ["pope"]\nprompt = "short"\n'


def write(folder: Path, text: str) -> Path:
    (folder / "mine.toml").write_text(HEAD + text)
    return folder / "mine.toml"


def every_ask() -> list[recipes.Ask]:
    return [ask for name in recipes.names() for ask in recipes.load(name).asks.values()]


def test_each_way_of_asking_has_a_source_at_a_commit_and_evidence() -> None:
    for ask in every_ask():
        assert re.search(r"@[0-9a-f]{40}(:|$)", ask.manner.source), ask
        assert ask.evidence


def test_at_least_ten_families_say_what_is_unknown_and_ten_how_they_were_scored() -> None:
    loaded = [recipes.load(name) for name in recipes.names()]
    assert len({recipe.family for recipe in loaded if recipe.unknown and recipe.asks}) >= 10
    scored = {
        recipe.family
        for recipe in loaded
        if recipe.asks and all(ask.manner.scoring for ask in recipe.asks.values())
    }
    assert len(scored) >= 10


def test_makers_recipes_have_no_toolkits_fault_under_the_makers_name() -> None:
    for ask in every_ask():
        if ask.manner.fault and ask.evidence.startswith("toolkit"):
            assert ask.manner.builder or ask.recipe.endswith("-vlmevalkit"), ask


def test_the_closest_scoring_is_one_of_a_benchmark() -> None:
    pairs = {
        (ask.manner.benchmark, ask.manner.scoring.scoring)
        for ask in every_ask()
        if ask.manner.scoring and ask.manner.scoring.scoring and ask.manner.benchmark
    }
    by_scoring: dict[str, set[str]] = {}
    for benchmark, scoring in pairs:
        has = scoring in registry.benchmark(benchmark).scorings
        by_scoring.setdefault(scoring, set()).update({benchmark} if has else ())
    assert all(by_scoring.values()), by_scoring


def test_figures_stand_at_the_way_of_asking_and_the_others_in_the_recipe() -> None:
    recipe = recipes.load("qwen3-vl")
    by_checkpoint = {
        figure.checkpoint: figure.value for figure in recipe.ask("mmmu").manner.figures
    }
    assert by_checkpoint == {"Qwen3-VL-30B-A3B-Instruct": 74.2, "Qwen3-VL-8B-Instruct": 69.6}
    [lvbench] = [figure for figure in recipe.figures if figure.benchmark == "LVBench"]
    assert (lvbench.value, lvbench.data_set) == (58.0, "")
    thinking = recipes.load("internvl3.5-thinking-vlmevalkit")
    assert thinking.ask("mmmu_dev_val", "cot").manner.figures[0].value == 73.4
    assert not thinking.ask("mmmu_dev_val").manner.figures


def test_thinking_is_stated_for_each_data_set() -> None:
    recipe = recipes.load("ovis2.5")
    on, off = (recipe.ask(name).manner.thinking for name in ("mmstar", "ai2d_test"))
    assert on is not None and (on.mode, on.budget, on.strip) == ("on", 6144, "</think>")
    assert off is not None and str(off) == "off"
    no_think = recipes.load("mimo-vl").ask("ai2d_boxed", "no-think").manner.thinking
    assert no_think is not None and no_think.suffix == "\n<no_think>\n"


def test_a_figure_of_a_data_set_that_is_not_asked_is_an_error(tmp_path: Path) -> None:
    figure = '{ data_set = "x", benchmark = "X", checkpoint = "c", value = 1, source = "s" }'
    path = write(tmp_path, f"figures = [{figure}]\n{SHORT}{ASK}")
    with pytest.raises(UsageError, match=r"\[\[figures\]\]: the recipe does not ask x\. Leave"):
        recipes.load(path)


def test_a_recipe_takes_what_it_does_not_state_from_its_base(tmp_path: Path) -> None:
    text = f'base = "vlmevalkit"\n[defaults]\nsystem = "Hi."\n{SHORT}{ASK}'
    recipe = recipes.load(write(tmp_path, text))
    sample = Sample(id="1", question="Why?", media=(Image(Canvas(8, 8).png()),))
    assert recipe.ask("pope").text(sample) == "Why?!"
    chart = recipe.ask("chartqa_test")
    assert chart.text(sample) == "<image>Why?\nAnswer the question using a single word or phrase."
    assert chart.manner.system == "Hi."
    assert chart.manner.source.startswith("open-compass/VLMEvalKit@")


def test_a_base_that_is_not_bundled_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no bundled recipe x for `base`"):
        recipes.load(write(tmp_path, f'base = "x"\n{SHORT}{ASK}'))


def test_a_toolkits_fault_is_repeated_only_under_its_name() -> None:
    benchmark = registry.benchmark("mmmu-pro", data=Path(registry.SYNTHETIC))
    with pytest.raises(UsageError, match=r"--recipe minicpm-v-4\.5:mmmu_pro_10c:vlmevalkit\."):
        ask_for(benchmark, "minicpm-v-4.5")
    with pytest.raises(UsageError, match="which has a fault: The choices are not sent"):
        ask_for(benchmark, "sail-vl2:mmmu_pro_10c")
    changed = in_words_of_recipe(benchmark, "minicpm-v-4.5:mmmu_pro_10c:vlmevalkit")
    assert any(note.startswith("fault of the recipe: The choices") for note in changed.notes)


def test_a_result_says_how_the_figures_were_scored() -> None:
    benchmark = registry.benchmark("mmmu", data=Path(registry.SYNTHETIC))
    notes = in_words_of_recipe(benchmark, "qwen2-vl").notes
    assert (
        "the recipe's figures were scored so: VLMEvalKit's (closest here: the scoring vlmevalkit)"
    ) in notes


def test_a_package_brings_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path / "site")))
    assert "count-vl" in recipes.names()
    recipe = recipes.load("count-vl")
    assert (recipe.family, recipe.provider) == ("Count-VL", "lettercount 1.0")
    sample = Sample(id="1", question="Is it?", media=(Image(Canvas(8, 8).png()),))
    assert recipe.ask("pope").text(sample) == "<image>Is it? In a word."


def test_two_recipes_of_one_name_are_an_error_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install(tmp_path / "site")
    points = site / "lettercount-1.0.dist-info" / "entry_points.txt"
    points.write_text("[snellen.recipes]\nqwen2-vl = lettercount\n")
    shutil.copy(site / "lettercount/count-vl.toml", site / "lettercount/qwen2-vl.toml")
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(
        UsageError, match=r"2 recipes have the name qwen2-vl: those of Snellen and lettercount 1\.0"
    ):
        recipes.load("qwen2-vl")


def test_a_package_without_its_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install(tmp_path / "site")
    (site / "lettercount/count-vl.toml").unlink()
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(UsageError, match=r"lettercount 1\.0 has no file count-vl\.toml"):
        recipes.load("count-vl")
