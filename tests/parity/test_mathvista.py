"""MathVista's published replies and extractions, of every visible model, in every figure."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks.mathvista import layout, mathvista
from snellen.sample import Sample
from tests.golden_data import FOLDER, golden
from tests.parity.lines import Line
from tests.parity.packs.mathvista import models

MODELS = models(FOLDER / "mathvista")
METADATA = ("language", "source", "category", "task", "context", "grade")
SEEDS = (1, 2)
TEMPLATE = "testmini_template_for_leaderboard_submission"
Rows = dict[str, dict[str, Any]]
Figures = dict[str, tuple[float, int]]


def of_json(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@cache
def expected(model: str) -> dict[str, Any]:
    found: dict[str, Any] = of_json(golden("mathvista") / "expected.json")[model]
    return found


@cache
def items(model: str) -> Mapping[str, tuple[str | None, int, int]]:
    """By problem the authors' prediction, and whether it is right, now and by the rule of 2023."""
    found: Mapping[str, Any] = of_json(golden("mathvista") / "expected_items.json.gz")[model]
    return found


def published(model: str) -> Path:
    path = golden("mathvista") / "outputs" / str(expected(model)["file"])
    return path if path.exists() else path.with_name(f"{path.name}.gz")


@cache
def rows(model: str) -> Rows:
    found: Rows = of_json(published(model))
    return found


@cache
def figures(path: Path, scoring: str) -> Figures:
    """Values and n by the authors' names of the categories."""
    data = golden("mathvista")
    report = snellen.score(path, "mathvista", data=data, scorings=[scoring]).report
    found = report.scorings[scoring].metrics
    return {name: (metric.value or 0.0, metric.n) for name, metric in found.items()}


def official(model: str, scoring: str) -> Figures:
    """The figures of the authors' scorer as it is, or as it was in 2023."""
    one = expected(model)
    scores = one["scores"] if scoring == "official" else one["legacy_integer_rule"]["scores"]
    found = {"accuracy": scores["average"]["all"]}
    for group in ("question_type", "answer_type", *METADATA, "skills"):
        found |= {f"accuracy/{name}": part for name, part in scores[group].items()}
    return {name: (part["accuracy"], part["total"]) for name, part in found.items()}


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


def same(one: Figures, other: Figures) -> None:
    assert set(one) == set(other)
    for key, (value, n) in other.items():
        assert one[key][1] == n, key
        assert one[key][0] == pytest.approx(value, abs=1e-9), key


# -- lines

COLUMNS = {
    "task": (
        "figure question answering",
        "geometry problem solving",
        "math word problem",
        "textbook question answering",
        "visual question answering",
    ),
    "skills": (
        "algebraic reasoning",
        "arithmetic reasoning",
        "geometry reasoning",
        "logical reasoning",
        "numeric commonsense",
        "scientific reasoning",
        "statistical reasoning",
    ),
}
"""The columns of the leaderboard."""


def parity() -> list[Line]:
    return [line for model in MODELS for line in lines(model)]


def lines(model: str) -> list[Line]:
    of = expected(model)["published"]
    stated = {"accuracy": of["average"]["accuracy"]}
    for group, names in COLUMNS.items():
        stated |= {f"accuracy/{name}": of[group][name]["accuracy"] for name in names}
    found = []
    # llavar's published figures alone are by the rule as it is now.
    for scoring in ("official", "official-2023"):
        theirs = official(model, scoring)
        for name, figure in stated.items():
            ours = figures(published(model), scoring)
            line = Line(
                benchmark="mathvista",
                model=model,
                metric=f"{scoring} {name}",
                n=theirs[name][1],
                published=float(figure) / 100,
                official=theirs[name][0],
                ours=ours[name][0],
                proof="published outputs",
                reason=reason(model, scoring, theirs[name][0], float(figure) / 100),
            )
            if scoring == "official" or theirs[name] != official(model, "official")[name]:
                found.append(line)
    return found


def reason(model: str, scoring: str, official: float, published: float) -> str:
    if abs(official - published) <= 0.00005 + 1e-12:
        return ""
    if model == TEMPLATE:
        return "the template's predictions are the most frequent answers, its figures random ones"
    if model == "chatgpt":
        return "published over 222 problems, of which the file has 223"
    if scoring == "official":
        return "published by the rule of 2023: official-2023"
    return "published by the rule as it is now: official"


# -- tests


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    benchmark = mathvista(data=golden("mathvista"))
    found = (benchmark.sample(row.place, row) for row in benchmark.data)
    return {sample.id: sample for sample in found}


@pytest.mark.parametrize("model", MODELS)
def test_every_extraction_has_the_authors_prediction_and_verdicts(
    model: str, samples: Mapping[str, Sample]
) -> None:
    read = layout(published(model))
    assert read is not None
    scorings = mathvista(data=golden("mathvista")).scorings
    differences: list[object] = []
    for name, (prediction, now, in_2023) in items(model).items():
        sample = samples[name]
        for scoring, right in (("official", now), ("official-2023", in_2023)):
            judge = scorings[scoring].judge
            assert judge is not None
            if (stated := read.readings[scoring].get(name)) is not None:
                # Without an extraction there is no prediction.
                if scorings[scoring].score(stated, sample) != right:
                    differences.append((name, stated, scoring, right))
                continue
            (words,) = read.verdicts[scoring][name]
            reading = judge.parse(words, sample)
            found: object = reading.answer if reading.rule == "extracted" else None
            if sample.choices:
                found = sample.choices["ABCDEFGH".index(str(found))]
            if scoring == "official" and found != prediction:
                differences.append((name, words, found, prediction))
            if scorings[scoring].score(reading, sample) != right:
                differences.append((name, words, scoring, right))
    assert differences == []


@pytest.mark.parametrize("scoring", ["official", "official-2023"])
@pytest.mark.parametrize("model", MODELS)
def test_every_figure_is_the_authors(model: str, scoring: str) -> None:
    same(figures(published(model), scoring), official(model, scoring))


@pytest.mark.parametrize("model", MODELS)
def test_every_published_figure_is_reproduced_or_has_a_reason(model: str) -> None:
    for line in lines(model):
        assert line.ours is not None and line.official is not None and line.published
        assert abs(line.ours - line.official) <= 1e-9, line
        agrees = abs(line.official - line.published) <= 0.00005 + 1e-12
        assert agrees is not bool(line.reason), line


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", MODELS)
def test_shuffled_halved_and_mixed_files_score_what_their_single_verdicts_say(
    model: str, seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"{model} {seed}")
    other = draw.choice([name for name in MODELS if name != model])
    order = draw.sample(list(rows(model)), 1000)
    verdicts = {name: now for name, (_, now, _) in items(model).items()}

    def scored(made: Rows) -> Figures:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps(made))
        return figures(path, "official")

    shuffled = {name: rows(model)[name] for name in order}
    same(scored(shuffled), by_hand(shuffled, verdicts))

    half = {name: rows(model)[name] for name in order[:500]}
    same(scored(half), by_hand(half, verdicts))

    swapped = set(order[::10])
    said = ("response", "extraction")
    mixed = {
        name: {
            **{key: value for key, value in row.items() if key not in said},
            **{key: value for key, value in rows(other)[name].items() if key in said},
        }
        if name in swapped
        else row
        for name, row in rows(model).items()
    }
    right = {name: items(other if name in swapped else model)[name][1] for name in mixed}
    same(scored(mixed), by_hand(mixed, right))


def test_every_query_is_as_it_is_stored_but_for_choices_that_stood_in_another_order(
    samples: Mapping[str, Sample],
) -> None:
    benchmark = mathvista(data=golden("mathvista"))
    others = []
    for name, row in rows("gpt4").items():
        (message,) = benchmark.prompt(samples[name], ())
        if message.text != row["query"]:
            others.append(name)
            asked, stored = (text.partition("\nChoices:") for text in (message.text, row["query"]))
            assert asked[:2] == stored[:2]
    assert len(others) == 10


def test_half_of_a_file_is_scored_over_that_half_with_the_whole_data_set(tmp_path: Path) -> None:
    half = {name: rows("llavar")[name] for name in list(rows("llavar"))[::2]}
    path = tmp_path / "half.json"
    path.write_text(json.dumps(half))
    value, n = figures(path, "official")["accuracy"]
    right = sum(items("llavar")[name][1] for name in half)
    assert (value, n) == (right / 500, 500)
