"""Ways of asking between a base and a recipe: what is sent, and which run it is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snellen import recipes
from snellen.core.profile import ImageLimits, Profile
from snellen.run.card_entries import UNASKED, CardRequest, card_entries
from snellen.run.run_plan import run_plan
from snellen.run.ways import TwoWays, figure_scoring, sendable_way_by_recipe, way_by_default
from tests.gap_cases import FIELDS, fields_of, write_recipe, write_rows
from tests.servers import Server, completion, serving


def two_ways(folder: Path, server: Server, fields: tuple[str, ...], **own: Any) -> TwoWays:
    rows, recipe = folder / "rows.jsonl", folder / "stand-in.toml"
    write_rows(rows, 3)
    write_recipe(recipe, rows, fields)
    shared: Mapping[str, Any] = {
        "base_url": server.url,
        "out": folder / "runs",
        "limit": 1,
        **{name: value for name, value in own.items() if name == "profile"},
    }
    by_recipe, refused = sendable_way_by_recipe(
        f"{rows}",
        f"{recipe}:stand-in",
        "openai/m",
        shared,  # type: ignore[arg-type]
    )
    return TwoWays(
        base=way_by_default(f"{rows}", "openai/m", {**shared, **own}),  # type: ignore[typeddict-item]
        by_recipe=by_recipe,
        recipe=f"{recipe}:stand-in",
        refused=refused,
    )


def sent(ways: TwoWays, server: Server, fields: set[str]) -> frozenset[str]:
    """The fields that have the recipe's values in the request of this way."""
    run_plan(ways.plan(fields))
    request = server.requests[-1]
    match = re.search(rb"Question (\d+):", request.body)
    assert match is not None
    return fields_of(request.json, int(match[1]))


def test_a_way_sends_the_recipes_values_of_its_fields_and_of_no_other(tmp_path: Path) -> None:
    with serving(completion("A")) as server:
        ways = two_ways(tmp_path, server, FIELDS)
        assert {*ways.exchangeable} == {*FIELDS}
        assert sent(ways, server, set()) == frozenset()
        assert sent(ways, server, {*FIELDS}) == {*FIELDS}
        for name in FIELDS:
            assert sent(ways, server, {name}) == {name}
            assert sent(ways, server, {*FIELDS} - {name}) == {*FIELDS} - {name}
        runs = {path.parent for path in (tmp_path / "runs").rglob("manifest.json")}
        assert len(runs) == len(server.requests) == 2 + 2 * len(FIELDS)


def test_a_prompt_that_reads_the_same_is_no_field(tmp_path: Path) -> None:
    with serving(completion("A")) as server:
        assert two_ways(tmp_path, server, ("max_tokens",)).exchangeable == ["max_tokens"]


def test_a_users_own_settings_are_the_base(tmp_path: Path) -> None:
    profile = Profile(top_p=0.5, extra={"top_k": 3}, images=ImageLimits(max_side=8))
    with serving(completion("A")) as server:
        ways = two_ways(
            tmp_path, server, ("top_p", "extra.top_k"), profile=profile, max_tokens=7
        )  # the profile holds for both ways, and the recipe wins over it
        values = {field.name: (field.base, field.recipe) for field in ways.fields}
        assert values == {
            "max_tokens": ("7", "512"),
            "top_p": ("0.5", "0.8"),
            "extra.top_k": ("3", "20"),
        }
        run_plan(ways.plan({"top_p"}))
        body = server.requests[-1].json
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    assert (body["top_p"], body["top_k"], limit) == (0.8, 3, 7)


def test_limits_that_exclude_the_others_cannot_be_exchanged_alone(tmp_path: Path) -> None:
    profile = Profile(images=ImageLimits(max_pixels=512))
    rows, recipe = tmp_path / "rows.jsonl", tmp_path / "limits.toml"
    write_rows(rows, 3)
    write_recipe(recipe, rows, ("images.min_pixels", "top_p"))
    recipe.write_text(recipe.read_text().replace("= 1024", "= 1024, max_pixels = 2048"))
    by_recipe, _ = sendable_way_by_recipe(
        f"{rows}", f"{recipe}:stand-in", "openai/m", {"profile": profile}
    )
    ways = TwoWays(
        base=way_by_default(f"{rows}", "openai/m", {"profile": profile}),
        by_recipe=by_recipe,
        recipe=f"{recipe}:stand-in",
    )
    reasons = {field.name: field.reason for field in ways.fields}
    for name in ("images.min_pixels", "images.max_pixels"):
        assert reasons[name].startswith("cannot be exchanged alone: min_pixels (1,024)")
    assert ways.exchangeable == ["top_p"]


def test_a_seed_is_listed_and_not_exchanged(tmp_path: Path) -> None:
    with serving(completion("A")) as server:
        ways = two_ways(tmp_path, server, ("top_p",), seed=5)
        fields = {field.name: field for field in ways.fields}
        assert fields["seed"].reason == "on average, a different seed does not change the score"
        assert ways.exchangeable == ["top_p"]


@pytest.mark.parametrize("name", ["prompt", "system"])
def test_a_part_of_the_recipes_words_is_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    with serving(completion("A")) as server:
        ways = two_ways(tmp_path, server, ("prompt", "system"))
        runs = [run_plan(ways.plan(fields))[0].run for fields in ([], [name], ["prompt", "system"])]
    assert len({*runs}) == 3


def test_an_effort_and_a_recipes_thinking_are_a_single_field(tmp_path: Path) -> None:
    with serving(completion("A")) as server:
        ways = two_ways(tmp_path, server, ("thinking", "top_p"), effort="none")
        # The recipe states no token limit, which thinking needs.
        assert sorted(ways.exchangeable) == ["max_tokens", "thinking", "top_p"]
        [field] = [field for field in ways.fields if field.name == "thinking"]
        assert "none" in field.base
        assert "true" in field.recipe
        sent_thinking = {}
        for name in ("thinking", "top_p"):
            run_plan(ways.plan({name}))
            sent_thinking[name] = server.requests[-1].json["chat_template_kwargs"]
    assert sent_thinking == {
        "thinking": {"enable_thinking": True},  # the recipe's, without the effort
        "top_p": {"enable_thinking": False},  # the effort's
    }


def test_the_scoring_of_a_bundled_recipes_figures_is_that_of_its_source() -> None:
    qwen2 = figure_scoring(recipes.load("qwen2-vl").ask("mmmu_dev_val"))
    assert (qwen2.words, qwen2.name) == ("VLMEvalKit's", "vlmevalkit")
    qwen3 = figure_scoring(recipes.load("qwen3-vl").ask("mathvision", "instruct"))
    assert qwen3.words == "the judge extracts, then equality; judge: gpt-4o-2024-05-13"
    assert qwen3.name is None  # no scoring of Snellen is this one
    internvl = recipes.load("internvl").ask("docvqa")
    assert figure_scoring(internvl).words == f"{internvl.manner.scoring}"


def test_a_scoring_that_snellen_has_is_a_field_and_one_that_it_lacks_is_not_exchanged() -> None:
    known = bundled_ways("qwen2-vl:mmmu_dev_val", "mmmu")
    fields = {field.name: field for field in known.fields}
    assert (fields["scoring"].base, fields["scoring"].recipe) == ("official", "vlmevalkit")
    assert known.scoring({"scoring"}) == "vlmevalkit"
    assert known.scoring({"prompt"}) is None
    lacking = bundled_ways("qwen3-vl:mathvision:instruct", "mathvision")
    fields = {field.name: field for field in lacking.fields}
    assert fields["scoring"].reason == "Snellen has no such scoring"


def bundled_ways(recipe: str, benchmark: str) -> TwoWays:
    shared: Any = {"data": "synthetic", "base_url": "http://127.0.0.1:1/v1"}
    by_recipe, refused = sendable_way_by_recipe(benchmark, recipe, "openai/m", shared)
    base = way_by_default(benchmark, "openai/m", shared)
    return TwoWays(base=base, by_recipe=by_recipe, recipe=recipe, refused=refused)


def test_a_bundled_cards_benchmarks_are_those_asked_and_then_those_with_figures_alone() -> None:
    request = CardRequest(recipe="qwen3-vl::instruct", model="baseline/first")
    entries = card_entries(request)
    data_sets = [entry.data_set for entry in entries if entry.ask is not None]
    assert data_sets == [name for name, _ in recipes.load("qwen3-vl").asks]
    alone = {entry.data_set: entry for entry in entries if entry.ask is None}
    assert {name: entry.benchmark for name, entry in alone.items()} == {
        "MMStar": "mmstar",
        "LVBench": None,
        "MMBench-EN v1.1": None,
        "MathVista": "mathvista",
        "HallusionBench": "hallusionbench:questions=image",
        "AI2D": "ai2d:version=mask",
        "OCRBench": "ocrbench",
        "DocVQA (val)": "docvqa",
        "MuirBench": "muirbench",
    }
    assert {entry.reason for entry in alone.values()} == {UNASKED}
    assert [figure.value for figure in alone["MMStar"].figures] == [58.3, 69.8, 70.9]
    assert alone["HallusionBench"].scoring.name == "vlmevalkit"


def test_a_card_of_figures_alone_has_a_benchmark_for_each_name() -> None:
    entries = card_entries(CardRequest(recipe="step3-vl", model="baseline/first"))
    assert all(entry.ask is None for entry in entries)
    [mmmu] = [entry for entry in entries if entry.data_set == "MMMU"]
    assert [figure.value for figure in mmmu.figures] == [78.11, 80.11]
