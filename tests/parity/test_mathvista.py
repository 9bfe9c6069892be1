"""Files made of MathVista's published replies and extractions, and the queries in them."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.mathvista import mathvista
from snellen.core.sample import Sample
from tests.golden_data import FOLDER, golden
from tests.parity.engine import score
from tests.parity.packs.mathvista import models

MODELS = models(FOLDER / "mathvista")
METADATA = ("language", "source", "category", "task", "context", "grade")
Rows = dict[str, dict[str, Any]]
Figures = dict[str, tuple[float, int]]


def of_json(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@cache
def expected(model: str) -> dict[str, Any]:
    figures_of_model: dict[str, Any] = of_json(golden("mathvista") / "expected.json")[model]
    return figures_of_model


@cache
def items(model: str) -> Mapping[str, tuple[str | None, int, int]]:
    """By problem the authors' prediction, and whether it is right, now and by the rule of 2023."""
    verdicts: Mapping[str, Any] = of_json(golden("mathvista") / "expected_items.json.gz")[model]
    return verdicts


def published(model: str) -> Path:
    path = golden("mathvista") / "outputs" / str(expected(model)["file"])
    return path if path.exists() else path.with_name(f"{path.name}.gz")


@cache
def rows(model: str) -> Rows:
    problems: Rows = of_json(published(model))
    return problems


def figures(path: Path) -> Figures:
    """Values and n by the authors' names of the categories."""
    data = golden("mathvista")
    report = score(path, "mathvista", data, scorings=["official"]).report
    metrics = report.scorings["official"].metrics
    return {name: (metric.value or 0.0, metric.n) for name, metric in metrics.items()}


def by_hand(problems: Rows, right: Mapping[str, int]) -> Figures:
    """The share of right answers among the problems of each category, as their file has these."""
    groups: dict[str, list[int]] = {}
    for name, problem in problems.items():
        metadata = problem["metadata"]
        kinds = [problem["question_type"], problem["answer_type"], *metadata["skills"]]
        kinds += [metadata[group] for group in METADATA]
        for key in ("accuracy", *(f"accuracy/{kind}" for kind in kinds)):
            groups.setdefault(key, []).append(right[name])
    return {key: (sum(group) / len(group), len(group)) for key, group in groups.items()}


def same(ours: Figures, theirs: Figures) -> None:
    assert set(ours) == set(theirs)
    for key, (value, n) in theirs.items():
        assert ours[key][1] == n, key
        assert ours[key][0] == pytest.approx(value, abs=1e-9), key


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    benchmark = mathvista(data=golden("mathvista"))
    every_sample = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in every_sample}


@pytest.mark.parametrize("model", MODELS)
def test_shuffled_halved_and_mixed_files_score_what_their_single_verdicts_say(
    model: str, tmp_path: Path
) -> None:
    draw = random.Random(model)
    other = draw.choice([name for name in MODELS if name != model] or [model])
    order = draw.sample(list(rows(model)), len(rows(model)))
    verdicts = {name: now for name, (_, now, _) in items(model).items()}

    def scored(problems: Rows) -> Figures:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps(problems))
        return figures(path)

    shuffled = {name: rows(model)[name] for name in order}
    same(scored(shuffled), by_hand(shuffled, verdicts))

    half = {name: rows(model)[name] for name in order[: len(order) // 2]}
    same(scored(half), by_hand(half, verdicts))

    swapped = set(order[::10])
    reply_fields = ("response", "extraction")
    mixed = {
        name: {
            **{key: value for key, value in row.items() if key not in reply_fields},
            **{key: value for key, value in rows(other)[name].items() if key in reply_fields},
        }
        if name in swapped
        else row
        for name, row in rows(model).items()
    }
    right = {name: items(other if name in swapped else model)[name][1] for name in mixed}
    same(scored(mixed), by_hand(mixed, right))


@pytest.mark.parametrize("model", [model for model in MODELS if model == "gpt4"])
def test_every_query_is_as_it_is_stored_but_for_choices_that_stood_in_another_order(
    model: str, samples: Mapping[str, Sample]
) -> None:
    benchmark = mathvista(data=golden("mathvista"))
    others = []
    for name, row in rows(model).items():
        (message,) = benchmark.prompt(samples[name], ())
        if message.text != row["query"]:
            others.append(name)
            ours, stored = (text.partition("\nChoices:") for text in (message.text, row["query"]))
            assert ours[:2] == stored[:2]
    assert len(others) == 10
