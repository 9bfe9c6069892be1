"""MM-Vet's published grades of LLaVA-1.5-7B, aggregated anew."""

import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import snellen
from snellen.scoring import Report
from tests.golden_data import golden

RUNS = (1, 3)
SEEDS = (1, 2, 3, 4, 5)
Grades = dict[str, dict[str, Any]]


def published(runs: int) -> Path:
    name = f"llava-v1.5-7b_gpt-4-grade-{runs}runs.json"
    return golden("mmvet") / "outputs" / "results" / name


@cache
def expected(runs: int) -> dict[str, Any]:
    raw = (golden("mmvet") / "expected.json").read_bytes()
    found: dict[str, Any] = json.loads(raw)[f"llava-v1.5-7b/{runs}run"]
    return found


def grades(runs: int) -> Grades:
    found: Grades = json.loads(published(runs).read_bytes())
    return found


def questions(folder: Path) -> Path:
    """mm-vet.json as its authors have it, of LLaVA's copy of the questions: the answers are not
    there, and are made up; a grade that has been given does not depend on them."""
    lines = (golden("mmvet") / "annotations" / "llava-mm-vet.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    made = {
        f"v1_{row['question_id']}": {
            "imagename": row["image"],
            "question": row["text"],
            "answer": "made up",
            "capability": [],
        }
        for row in rows
    }
    (folder / "mm-vet.json").write_text(json.dumps(made))
    return folder


def value(report: Report) -> float:
    found = report.scorings["official"].metrics["score"].value
    assert found is not None
    return found


def total(rows: Mapping[str, Mapping[str, Any]]) -> float:
    """The authors' formula: the mean over runs of the sum of grades over 218."""
    return fmean(
        sum(run) / 218 for run in zip(*(row["score"] for row in rows.values()), strict=True)
    )


def scored(rows: Grades, folder: Path) -> Report:
    path = folder / "m_gpt-4-grade-runs.json"
    path.write_text(json.dumps(rows))
    return snellen.score(path, "mm-vet", data=questions(folder)).report


@pytest.mark.parametrize("runs", RUNS)
def test_every_grade_is_read_as_it_stands_with_the_reply_beside_it(
    runs: int, tmp_path: Path
) -> None:
    report = snellen.score(published(runs), "mm-vet", data=questions(tmp_path)).report
    assert report.scorings["official"].readings == {"answered": 218}
    assert not any("not beside it" in note for note in report.notes)
    if runs > 1:
        (spread,) = (note for note in report.notes if "by each judge and time alone" in note)
        assert ", ".join(f"{run / 100:.4f}" for run in expected(runs)["runs"]) in spread


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("runs", RUNS)
def test_shuffled_and_halved_files_and_mixed_grades_give_the_authors_formula(
    runs: int, seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"{runs} {seed}")
    rows = grades(runs)
    order = draw.sample(list(rows), len(rows))
    shuffled = {name: rows[name] for name in order}
    assert value(scored(shuffled, tmp_path)) == pytest.approx(total(rows), abs=1e-9)

    half = {name: rows[name] for name in order[:109]}
    assert value(scored(half, tmp_path)) == pytest.approx(total(half), abs=1e-9)

    # There is one model: other questions' grades stand for another's.
    mixed = dict(zip(order, (rows[name] for name in reversed(order)), strict=True))
    mixed = {name: (mixed if place % 3 else rows)[name] for place, name in enumerate(order)}
    assert value(scored(mixed, tmp_path)) == pytest.approx(total(mixed), abs=1e-9)


def test_llavas_answers_and_the_questions_alone_are_read() -> None:
    answers = golden("mmvet") / "outputs" / "answers" / "llava-v1.5-7b.jsonl"
    report = snellen.score(answers, "mm-vet", data=golden("mmvet")).report
    assert report.replies == {"ok": 218}
