"""Short benchmarks against the code of authors and toolkits on generated replies.

The replies, and what the code gives for them, are in choice_rules.jsonl.gz
(scripts/draw_choice_rules.py).
"""

import base64
import csv
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Reply
from snellen.core.sample import Sample
from tests.parity.engine import score

FIXTURE = Path(__file__).parent / "choice_rules.jsonl.gz"
SYNTHETIC = Path(registry.SYNTHETIC)
# Bytes that nobody opens here.
PICTURE = base64.b64encode(bytes(range(60))).decode()
Row = Mapping[str, Any]


@cache
def rows(kind: str) -> Sequence[Row]:
    lines = gzip.decompress(FIXTURE.read_bytes()).decode().splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


@cache
def figures() -> Row:
    return rows("figures")[0]


def differences(
    benchmark: str, scoring: str, expected: Sequence[tuple[Row, object]]
) -> list[tuple[Row, object, object]]:
    """The rows whose reply gets another score, or another answer if a letter is expected."""
    rule = registry.benchmark(benchmark, data=SYNTHETIC).scorings[scoring]
    wrong: list[tuple[Row, object, object]] = []
    for row, value in expected:
        choices = tuple(row.get("choices", ()))
        sample = Sample(id=row["id"], question="Which?", choices=choices, target=row["answer"])
        reading = rule.parse(Reply(text=row["reply"]), sample)
        actual = rule.score(reading, sample)
        is_letter = isinstance(value, str)
        if actual != (float(value == row["answer"]) if is_letter else value) or (
            is_letter and known(reading.answer, choices) != known(value, choices)
        ):
            wrong.append((row, reading.answer, actual))
    return wrong


def known(letter: object, choices: Sequence[str]) -> object:
    """A letter that is a choice's; "" for any other, and for none."""
    return letter if letter in [*"ABCDEFGH"[: len(choices)]] else ""


@pytest.mark.parametrize(
    ("benchmark", "scoring", "column"),
    [
        ("mmstar", "lmms-eval", "mmstar"),
        ("ai2d", "lmms-eval", "ai2d"),
        ("realworldqa", "lmms-eval", "realworldqa"),
        ("hr-bench", "lmms-eval", "hrbench"),
        ("hr-bench", "vlmevalkit", "kit"),
        ("cv-bench", "lmms-eval", "cvbench"),
    ],
)
def test_letters_are_those_of_the_toolkits_code(benchmark: str, scoring: str, column: str) -> None:
    expected = [(row, row[column]) for row in rows("letter")]
    assert len(expected) == 720
    assert differences(benchmark, scoring, expected) == []


@pytest.mark.parametrize(
    ("column", "listed"), [("puzzles", True), ("puzzles without texts", False)]
)
def test_visualpuzzles_letters_are_those_of_its_authors_code(column: str, listed: bool) -> None:
    rule = registry.benchmark("visualpuzzles", data=SYNTHETIC).scorings["official"]
    compared = [row for row in rows("letter") if column in row]
    wrong = []
    for row in compared:
        choices = tuple(row["choices"][:4])
        sample = Sample(id="1", question="Which?", choices=choices, data={"listed": listed})
        reading = rule.parse(Reply(text=row["reply"]), sample)
        answer = "random" if reading.undecided else reading.answer
        if answer != row[column].upper().replace("RANDOM", "random"):
            wrong.append((row["reply"], choices, row[column], answer))
    assert len(compared) > 300
    assert wrong == []


def test_visualpuzzles_letters_are_those_of_vlmevalkits_code() -> None:
    rule = registry.benchmark("visualpuzzles", data=SYNTHETIC).scorings["vlmevalkit"]
    sample = Sample(id="1", question="Which?", choices=("a", "b", "c", "d"))
    for row in rows("letter"):
        answer = rule.parse(Reply(text=row["reply"]), sample).answer
        assert (answer or "Z") == row["kit puzzles"].upper(), row


@pytest.mark.parametrize(
    ("spec", "column"),
    [("omnispatial", "omnispatial re"), ("omnispatial:prompt=direct", "omnispatial direct")],
)
def test_omnispatial_scores_are_those_of_its_authors_code(spec: str, column: str) -> None:
    expected = [(row, float(row[column])) for row in rows("letter")]
    assert len(expected) == 720
    assert differences(spec, "official", expected) == []


def test_open_questions_are_scored_as_by_lmms_eval() -> None:
    expected = [(row, row["realworldqa"]) for row in rows("open")]
    assert {value for _, value in expected} == {0.0, 1.0}
    assert differences("realworldqa", "lmms-eval", expected) == []


@pytest.mark.parametrize(
    ("scoring", "column"), [("official", "official"), ("vlmevalkit", "kit"), ("lmms-eval", "lmms")]
)
def test_counts_are_scored_as_by_the_code(scoring: str, column: str) -> None:
    expected = [(row, row[column]) for row in rows("count")]
    assert len(expected) == 612
    assert differences("countbench", scoring, expected) == []


@pytest.mark.parametrize(("scoring", "column"), [("vlmevalkit", "kit"), ("lmms-eval", "lmms")])
def test_zerobenchs_answers_are_scored_as_by_the_code(scoring: str, column: str) -> None:
    expected = [(row, row[column]) for row in rows("braces")]
    assert len(expected) == 640
    assert {value for _, value in expected} == {0.0, 1.0}
    assert differences("zerobench", scoring, expected) == []


def test_hr_benchs_judge_is_asked_and_read_as_by_its_authors_code() -> None:
    judge = registry.benchmark("hr-bench", data=SYNTHETIC).scorings["official"].judge
    score_of = registry.benchmark("hr-bench", data=SYNTHETIC).scorings["official"].score
    assert judge is not None
    assert len(rows("judge")) == 240
    for row in rows("judge"):
        choices = tuple(row["choices"])
        sample = Sample(id=row["id"], question="Which?", choices=choices, target=row["answer"])
        (message,) = judge.prompt(sample, Reply(text=row["reply"]))
        assert sha256(message.text.encode()).hexdigest() == row["request"], row
        # An empty verdict scores 0 in the authors' code, and is no verdict here.
        verdict = judge.parse(row["verdict"], sample)
        assert score_of(verdict, sample) == row["score"], row
        assert (verdict.answer is None) == (not row["verdict"].strip())


# -- figures


def sheet(path: Path, tags: Callable[[Row], Mapping[str, str]]) -> None:
    columns = ("index", "image", "question", "answer", *"ABCDE", *tags(rows("letter")[0]))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", delimiter="\t")
        writer.writeheader()
        for row in rows("letter"):
            question = {"index": row["id"], "question": "Which?", "answer": row["answer"]}
            choices = dict(zip("ABCDE", row["choices"], strict=False))
            image = PICTURE if row["id"] == "0" else "0"
            writer.writerow({**question, **choices, **tags(row), "image": image})


def scored(folder: Path, benchmark: str, scoring: str) -> Mapping[str, float | None]:
    replies = [{"id": row["id"], "response": row["reply"]} for row in rows("letter")]
    path = folder / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    report = score(path, benchmark, folder).report.scorings[scoring]
    return {name: metric.value for name, metric in report.metrics.items()}


def test_mmstars_average_is_over_axes(tmp_path: Path) -> None:
    sheet(tmp_path / "MMStar.tsv", lambda row: {"category": "math", "l2_category": row["axis"]})
    assert scored(tmp_path, "mmstar", "lmms-eval")["average"] == pytest.approx(
        figures()["mmstar average"], abs=1e-9
    )


@pytest.mark.parametrize(
    ("scoring", "figure"), [("lmms-eval", "hrbench"), ("vlmevalkit", "kit hrbench")]
)
def test_hr_benchs_accuracy_is_over_cycles(scoring: str, figure: str, tmp_path: Path) -> None:
    sheet(
        tmp_path / "hr_bench_4k.tsv",
        lambda row: {"category": "single", "cycle_category": row["cycle"]},
    )
    assert scored(tmp_path, "hr-bench", scoring)["accuracy"] == pytest.approx(
        figures()[figure], abs=1e-9
    )


def test_cv_benchs_accuracy_weighs_its_sources(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(bytes(range(60)))
    for part in ("2d", "3d"):
        lines = [
            {
                "idx": row["id"],
                "type": part.upper(),
                "task": "Count",
                "image": "1.png",
                "question": "Which?",
                "prompt": "Which?",
                "choices": row["choices"],
                "answer": f"({row['answer']})",
                "source": row["source"],
            }
            for row in rows("letter")
            if (row["source"] == "Omni3D") == (part == "3d")
        ]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / f"test_{part}.jsonl").write_text(text, encoding="utf-8")
    replies = [
        {
            "id": f"{'3D' if row['source'] == 'Omni3D' else '2D'}-{row['id']}",
            "response": row["reply"],
        }
        for row in rows("letter")
    ]
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")

    metrics = score(path, "cv-bench", tmp_path).report.scorings["lmms-eval"].metrics

    assert metrics["accuracy"].value == pytest.approx(figures()["cvbench"], abs=1e-9)
    assert metrics["cv_bench_acc"].value == pytest.approx(figures()["cvbench plain"], abs=1e-9)


def test_cv_benchs_accuracy_in_2d_is_vlmevalkits(tmp_path: Path) -> None:
    sheet(
        tmp_path / "CV-Bench-2D.tsv",
        lambda row: {"prompt": "Which?", "source": row["source"], "split": "2D"},
    )
    lines = (tmp_path / "CV-Bench-2D.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if "Omni3D" not in line or PICTURE in line]
    assert not any("Omni3D" in line for line in kept)
    (tmp_path / "CV-Bench-2D.tsv").write_text("".join(kept), encoding="utf-8")
    flat = {row["id"] for row in rows("letter") if row["source"] != "Omni3D"}
    replies = [
        {"id": row["id"], "response": row["reply"]} for row in rows("letter") if row["id"] in flat
    ]
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    report = score(path, "cv-bench:part=2d", tmp_path).report.scorings["vlmevalkit"]
    assert report.metrics["accuracy"].value == pytest.approx(figures()["kit cvbench 2d"], abs=1e-9)
