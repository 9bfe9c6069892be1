"""Recipes with tools: the questions, and the options that the recipe sets."""

from pathlib import Path

from snellen import recipes, registry
from snellen.core.profile import Profile
from snellen.run.recipe_settings import with_recipe


def test_qwens_notebook_asks_v_star_in_the_words_of_its_rows_with_qwens_tool() -> None:
    benchmark = registry.benchmark("vstar", data=Path("synthetic"))
    ask = recipes.load("qwen3-vl-tools").ask("vstar")
    system, user = ask.messages(benchmark.read(next(iter(benchmark.data))))
    assert system.text.startswith("Your role is that of a research assistant specializing in")
    # The text of the bundled row.
    assert user.text == (
        "What is the color of the disc?\n(A) blue\n(B) red\n(C) green\n(D) yellow\n"
        "Answer with the option's letter from the given choices directly."
    )
    settings = with_recipe(Profile(), ask, "vllm/qwen")
    assert settings.tools == {"tools": ["image_zoom_in_tool"], "max_steps": 20}
    assert (settings.profile.temperature, settings.profile.top_p) == (0.7, 0.8)


def test_a_recipe_with_tools_and_no_token_limit_leaves_room_for_a_call() -> None:
    ask = recipes.load("qwen3-vl-tools").ask("vstar")
    # V* itself allows 16 tokens, which are for a letter.
    assert with_recipe(Profile(), ask, "vllm/qwen", usual_limit=16).profile.max_tokens == 16384
    assert with_recipe(Profile(), ask, "vllm/qwen", usual_limit=30000).profile.max_tokens == 30000
    own = with_recipe(Profile(max_tokens=2048), ask, "vllm/qwen", usual_limit=16)
    assert own.profile.max_tokens == 2048
