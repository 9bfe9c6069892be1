"""Made replies to questions with short answers, by benchmark: each kind of row has a case."""

import base64
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    of_json_lines,
    write_json,
)
from tests.parity.packs.image_mcq import write_lines

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    cases = []
    for kind, case in CASES.items():
        if of_kind := [row for row in rows if row["kind"] == kind]:
            data = scratch / kind
            data.mkdir()
            cases.append(case(of_kind, data, known))
    return Pack(cases=cases)


def zerobench(rows: Rows, data: Path, known: Mapping[str, Any]) -> Case:
    with (data / "zerobench.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(("index", "question", "answers", "image"))
        for row in rows:
            # A short cell is the index of the row that has the picture.
            image = PICTURE if row is rows[0] else rows[0]["id"]
            writer.writerow((row["id"], "What?", row["answer"], image))
    replies = [{"index": row["id"], "prediction": row["prediction"]} for row in rows]
    return Case(
        model="made replies",
        replies=write_json(data / "replies.json", replies),
        benchmark="zerobench",
        data=data,
        expected={"lmms-eval": verdicts(rows, "lmms_correct", known)},
        proof="generated pairs",
    )


def videommmu(rows: Rows, data: Path, known: Mapping[str, Any]) -> Case:
    names = {row["id"]: f"validation_Math_{row['id']}" for row in rows}
    write_lines(
        data / "Adaptation.jsonl",
        rows,
        lambda row: {
            "id": names[row["id"]],
            "question": "What?",
            "options": [],
            "answer": row["answer"],
            "question_type": "open",
        },
    )
    replies = [{"id": names[row["id"]], "prediction": row["prediction"]} for row in rows]
    expected = {
        "official": verdicts(rows, "official_correct", known),
        "lmms-eval": verdicts(rows, "lmms_correct", known),
    }
    return Case(
        model="made replies, open",
        replies=write_json(data / "replies.json", replies),
        benchmark="video-mmmu:track=adaptation",
        heading="video-mmmu",
        data=data,
        expected={
            scoring: replace(of, items={names[int(name)]: item for name, item in of.items.items()})
            for scoring, of in expected.items()
        },
        proof="generated pairs",
    )


def mmvu(rows: Rows, data: Path, known: Mapping[str, Any]) -> Case:
    questions = [
        {
            **{name: row[name] for name in ("id", "question_type", "answer", "choices")},
            "question": "What?",
            "video": "videos/Biology/0.mp4",
        }
        for row in rows
    ]
    replies = [{"id": row["id"], "prediction": row["prediction"]} for row in rows]
    return Case(
        model="made replies",
        replies=write_json(data / "replies.json", replies),
        benchmark="mmvu",
        data=write_json(data / "validation.json", questions),
        expected={"lmms-eval": verdicts(rows, "lmms_rule_correct", known)},
        proof="generated pairs",
    )


def verdicts(rows: Rows, column: str, known: Mapping[str, Any]) -> Expected:
    """Whether each reply is right, and the share that is."""
    share = known.get(f"{rows[0]['kind']}:{column}")
    return Expected(
        figures={"accuracy": Figure(official=share["accuracy"], n=share["rows"], reason=NO_OUTPUTS)}
        if share
        else {},
        items={str(row["id"]): [Item(score=float(row[column]))] for row in rows},
    )


CASES: Mapping[str, Callable[[Rows, Path, Mapping[str, Any]], Case]] = {
    "zerobench": zerobench,
    "videommmu_open": videommmu,
    "mmvu": mmvu,
}
"""By the kind of a row: what makes a case of the rows of this kind in a folder."""
