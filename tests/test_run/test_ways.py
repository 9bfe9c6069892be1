"""Ways of asking between a base and a recipe: what is sent, and which run it is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snellen.core.profile import ImageLimits, Profile
from snellen.run.run_plan import run_plan
from snellen.run.ways import TwoWays, sendable_way_by_recipe, way_by_default
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
