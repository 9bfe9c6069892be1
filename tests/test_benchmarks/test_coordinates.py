"""In which coordinates the scoring `robust` of each benchmark reads, by its prompt and by the
model. Expected numbers are worked out by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen import recipes, registry
from snellen.benchmarks.families.masks import encoded
from snellen.core import PointAnswer, Reply, Sample
from snellen.core.coordinates import CoordinateUse
from snellen.core.model import Sizes
from snellen.core.scoring import total_score
from snellen.errors import UsageError
from snellen.media.content import Image
from snellen.store import Run
from snellen.transforms.coordinates import with_coordinates
from tests.servers import completion, serving


def use_of(spec: str) -> CoordinateUse:
    use = registry.benchmark(spec).scorings["robust"].coordinates
    assert use is not None
    return use


@pytest.mark.parametrize(
    ("spec", "coordinates", "is_demanded"),
    [
        ("refcoco", "pixels-original", False),
        ("refcoco:prompt=qwen-vl", "pixels-original", False),
        ("refcoco:prompt=lmms-eval-grounding", "pixels-original", False),
        ("refcoco:prompt=lmms-eval", "0-1", True),
        ("ref-l4", "pixels-original", True),
        ("screenspot", "pixels-original", False),
        ("screenspot:prompt=vlmevalkit", "pixels-original", False),
        ("screenspot:prompt=lmms-eval", "0-1", True),
        ("screenspot:version=v2,prompt=lmms-eval", "0-1", True),
        ("screenspot-pro", "0-1", True),
        ("screenspot-pro:prompt=lmms-eval", "0-1", True),
        ("screenspot-pro:prompt=evalscope", "0-1", True),
        ("screenspot-pro:prompt=qwen2vl", "pixels-original", False),
        ("screenspot-pro:prompt=minicpmv", "pixels-original", False),
        ("screenspot-pro:prompt=vlmevalkit", "pixels-original", False),
        ("osworld-g", "pixels-original", False),
        ("refspatial", "0-1", True),
        ("refspatial:prompt=lmms-eval", "0-1", True),
        ("refspatial:prompt=gemini", "pixels-original", False),
        ("pointbench", "pixels-original", False),
        ("pointbench:prompt=lmms-eval", "0-1000", True),
        ("pointbench:prompt=lmms-eval-json", "0-1000", True),
    ],
)
def test_without_the_model_s_coordinates_the_prompt_decides(
    spec: str, coordinates: str, is_demanded: bool
) -> None:
    use = use_of(spec)
    assert (str(use.effective), use.is_demanded) == (coordinates, is_demanded)


@pytest.mark.parametrize(
    "name",
    ["refcoco", "ref-l4", "screenspot", "screenspot-pro", "osworld-g", "refspatial", "pointbench"],
)
def test_the_model_s_coordinates_change_only_robust(name: str) -> None:
    plain = registry.benchmark(name)
    changed = with_coordinates(plain, "yxyx-0-1000")
    assert changed.provenance.from_catalog
    for scoring, rule in plain.scorings.items():
        if scoring == "robust":
            use = changed.scorings[scoring].coordinates
            assert use is not None
            assert str(use.effective) == "yxyx-0-1000"
        else:
            assert changed.scorings[scoring] is rule
    assert changed.scorings["robust"].version == 2


def test_other_benchmarks_do_not_change() -> None:
    plain = registry.benchmark("eyechart")
    assert with_coordinates(plain, "0-1") is plain
    with pytest.raises(UsageError, match="'1-0' is none of"):
        with_coordinates(plain, "1-0")


def robust_score(spec: str, text: str, sample: Sample, coordinates: str | None) -> float | None:
    rule = with_coordinates(registry.benchmark(spec), coordinates).scorings["robust"]
    return total_score(rule.score(rule.parse(Reply(text=text), sample), sample))


def right_half(**data: object) -> Sample:
    """A picture of 40 x 20 pixels whose mask is its right half."""
    inside = np.zeros((20, 40), bool)
    inside[:, 20:] = True
    return Sample(
        id="1",
        question="?",
        target="?",
        media=(Image(b"", width=40, height=20),),
        tags={"category": "spatial"},
        data={"mask": encoded(inside), **data},
    )


@pytest.mark.parametrize(
    ("text", "coordinates", "score"),
    [
        ("[(0.75, 0.5), (0.25, 0.5)]", None, 0.5),
        ('<point x="0.75" y="0.5">', None, 1.0),
        ("[(30, 10)]", None, 0.0),
        ("[(30, 10)]", "pixels-original", 1.0),
        ('[{"point_2d": [750, 500]}, {"point_2d": [760, 500]}]', "0-1000", 1.0),
        ('```json\n[{"point": [500, 750]}]\n```', "yxyx-0-1000", 1.0),
        ('```json\n[{"point": [750, 500]}]\n```', "yxyx-0-1000", 1.0),
        ('```json\n[{"point": [750, 400]}]\n```', "yxyx-0-1000", 0.0),
        ('{"box_2d": [0, 600, 100, 800]}', "yxyx-0-1000", 1.0),
        ("There is none.", "0-1000", 0.0),
    ],
)
def test_points_in_a_mask(text: str, coordinates: str | None, score: float) -> None:
    assert robust_score("refspatial", text, right_half(), coordinates) == score


@pytest.mark.parametrize(
    ("text", "category", "count", "score"),
    [
        ("[(750, 500)]", "spatial", 1, 1.0),
        ("[(750, 500), (10, 500)]", "spatial", 1, 1.0),
        ("[(750, 500), (800, 500)]", "counting", 2, 1.0),
        ("[(750, 500), (10, 500)]", "counting", 2, 0.0),
        ("[(750, 500)]", "counting", 2, 0.0),
    ],
)
def test_points_that_are_counted(text: str, category: str, count: int, score: float) -> None:
    sample = replace(right_half(count=count), tags={"category": category})
    assert robust_score("pointbench", text, sample, "0-1000") == score


@pytest.mark.parametrize(
    ("box_type", "text", "score"),
    [
        ("refusal", "[-1, -1]", 1.0),
        ("refusal", "[0.5, 0.5]", 0.0),
        ("bbox", "[-1, -1]", 0.0),
        ("bbox", "[0.5, 0.5]", 1.0),
        ("bbox", "[320, 240]", 0.0),
    ],
)
def test_a_refusal_is_the_same_in_all_coordinates(box_type: str, text: str, score: float) -> None:
    sample = Sample(
        id="1",
        question="?",
        target="?",
        tags={"box_type": box_type},
        data={"box": [300, 200, 340, 280], "size": [640, 480]},
    )
    assert robust_score("osworld-g", text, sample, "0-1") == score


# -- recipes


@pytest.mark.parametrize(
    ("recipe", "coordinates"),
    [
        ("qwen2-vl", "0-1000"),
        ("qwen2.5-vl", "pixels-shown:qwen2.5-vl"),
        ("qwen3-vl", "0-1000"),
        ("internvl", "0-1000"),
        ("glm-4.1v", "0-1000"),
    ],
)
def test_a_recipe_states_its_model_s_coordinates_with_their_source(
    recipe: str, coordinates: str
) -> None:
    loaded = recipes.load(recipe)
    # Data sets that come from the toolkit's recipe state none.
    assert {ask.manner.coordinates for ask in loaded.asks.values()} - {""} == {coordinates}
    assert any(note.startswith("Boxes") and "@" in note for note in loaded.notes)


def test_a_run_with_a_recipe_reads_the_recipe_s_coordinates(tmp_path: Path) -> None:
    """The bundled pictures of RefCOCO have 160 x 120 pixels."""
    with serving(completion("[[0, 0, 500, 500]]")) as server:
        result = snellen.evaluate(
            "refcoco",
            "openai/m",
            data="synthetic",
            limit=1,
            recipe="internvl",
            base_url=server.url,
            out=tmp_path,
        )
    assert result.run is not None
    manifest = Run(result.run).manifest()
    assert manifest["identity"]["coordinates"] == "0-1000"
    assert manifest["origins"]["coordinates"] == "recipe"
    lines = map(json.loads, (result.run / "scores.jsonl").read_text().splitlines())
    (answer,) = (line["answer"] for line in lines if line["scoring"] == "robust")
    assert (answer["right"], answer["bottom"]) == (80, 60)


def test_the_coordinates_of_a_recipe_can_be_left_out(tmp_path: Path) -> None:
    with serving(completion("[[0, 0, 500, 500]]")) as server:
        result = snellen.evaluate(
            "refcoco",
            "openai/m",
            data="synthetic",
            limit=1,
            recipe="internvl",
            recipe_without=["coordinates"],
            base_url=server.url,
            out=tmp_path,
        )
    assert result.run is not None
    assert "coordinates" not in Run(result.run).manifest()["identity"]


def test_a_recipe_with_other_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'family = "F"\nevidence = "maker-card"\nsource = "o/r@1:eval"\n[prompts]\np = "?"\n'
        '[defaults]\ncoordinates = "percent"\n[[asks]]\ndata_sets = ["refcoco"]\nprompt = "p"\n'
    )
    with pytest.raises(UsageError, match=r"mine\.toml.*'percent' is none of 0-1"):
        recipes.load(path)


# -- a scoring of one's own


def test_the_scoring_of_the_guide_reads_the_model_s_coordinates() -> None:
    guide = Path(__file__).parents[2] / "docs/places.md"
    (code,) = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    values: dict[str, Any] = {}
    exec(compile(code, "docs/places.md", "exec"), values)
    own = replace(registry.benchmark("eyechart"), name="own", scorings={"ours": values["scoring"]})
    sample = Sample(id="1", question="?", target="?", media=(Image(b"", width=40, height=20),))

    def read(coordinates: str | None, text: str, sizes: Sizes | None = None) -> Any:
        scoring = with_coordinates(own, coordinates).scorings["ours"]
        return scoring.parse(Reply(text=text, sizes=sizes), sample)

    assert read(None, "(0.25, 0.5)").answer == PointAnswer(x=10, y=10)
    assert read("0-1000", "(250, 500)").answer == PointAnswer(x=10, y=10)
    assert read("pixels-shown", "(5, 5)", ((20, 10),)).answer == PointAnswer(x=10, y=10)
    assert read("0-1", "(250, 500)").rule == "brackets: outside 0-1"
