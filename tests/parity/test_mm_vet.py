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
from tests.golden_data import FOLDER, golden
from tests.parity.engine import score
from tests.parity.packs.mmvet import GRADES

RESULTS = FOLDER / "mmvet" / "outputs" / "results"
FILES = sorted(path.name for path in RESULTS.glob("*_gpt-4-grade-*runs.json"))
SEEDS = (1,)
Grades = dict[str, dict[str, Any]]


@cache
def expected(file: str) -> dict[str, Any]:
    matched = GRADES.fullmatch(file)
    assert matched is not None
    raw = (golden("mmvet") / "expected.json").read_bytes()
    known: dict[str, Any] = json.loads(raw)[f"{matched['model']}/{matched['runs']}run"]
    return known


def grades(file: str) -> Grades:
    rows: Grades = json.loads((RESULTS / file).read_bytes())
    return rows


def questions(folder: Path) -> Path:
    """mm-vet.json as its authors have it, of LLaVA's copy of the questions: the answers are not
    there, and are made up; a grade that has been given does not depend on them."""
    lines = (golden("mmvet") / "annotations" / "llava-mm-vet.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    annotations = {
        f"v1_{row['question_id']}": {
            "imagename": row["image"],
            "question": row["text"],
            "answer": "made up",
            "capability": [],
        }
        for row in rows
    }
    (folder / "mm-vet.json").write_text(json.dumps(annotations))
    return folder


def value(report: Report) -> float:
    score_value = report.scorings["official"].metrics["score"].value
    assert score_value is not None
    return score_value


def total(rows: Mapping[str, Mapping[str, Any]]) -> float:
    """The authors' formula: the mean over runs of the sum of grades over 218."""
    return fmean(
        sum(run) / 218 for run in zip(*(row["score"] for row in rows.values()), strict=True)
    )


def scored(rows: Grades, folder: Path) -> Report:
    path = folder / "m_gpt-4-grade-runs.json"
    path.write_text(json.dumps(rows))
    return score(path, "mm-vet", questions(folder)).report


@pytest.mark.parametrize("file", FILES)
def test_every_grade_is_read_as_it_stands_with_the_reply_beside_it(
    file: str, tmp_path: Path
) -> None:
    report = snellen.score(RESULTS / file, "mm-vet", data=questions(tmp_path)).report
    assert report.scorings["official"].readings == {"answered": 218}
    assert not any("only its grades count" in note for note in report.notes)
    if len(expected(file).get("runs", ())) > 1:
        (spread,) = (note for note in report.notes if "for each judge and repeat" in note)
        assert ", ".join(f"{run / 100:.4f}" for run in expected(file)["runs"]) in spread


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_shuffled_and_halved_files_and_mixed_grades_give_the_authors_formula(
    file: str, seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"{file} {seed}")
    rows = grades(file)
    order = draw.sample(list(rows), len(rows))
    shuffled = {name: rows[name] for name in order}
    assert value(scored(shuffled, tmp_path)) == pytest.approx(total(rows), abs=1e-9)

    half = {name: rows[name] for name in order[:109]}
    assert value(scored(half, tmp_path)) == pytest.approx(total(half), abs=1e-9)

    # There is one model: other questions' grades stand for another's.
    mixed = dict(zip(order, (rows[name] for name in reversed(order)), strict=True))
    mixed = {name: (mixed if number % 3 else rows)[name] for number, name in enumerate(order)}
    assert value(scored(mixed, tmp_path)) == pytest.approx(total(mixed), abs=1e-9)


def test_llavas_answers_and_the_questions_alone_are_read() -> None:
    answers = golden("mmvet") / "outputs" / "answers" / "llava-v1.5-7b.jsonl"
    report = snellen.score(answers, "mm-vet", data=golden("mmvet")).report
    assert report.replies == {"ok": 218}
