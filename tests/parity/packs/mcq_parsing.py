"""Made replies to questions with choices, as four scripts read a letter out of them."""

import base64
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    mean,
    of_json_lines,
    write_json,
)

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"
FAILED = "Failed to obtain answer via API"
STRIPPED = "{n} rows with blanks at their ends: the script that asks stores replies without them"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    stripped = [row for row in rows if row["prediction"] == row["prediction"].strip()]
    note = STRIPPED.format(n=len(rows) - len(stripped))
    received = [row for row in stripped if not row["prediction"].startswith(FAILED)]
    failures = f"{len(stripped) - len(received)} replies that say the request failed: no score here"
    replies = [{"index": row["id"], "prediction": row["prediction"]} for row in rows]
    path = write_json(scratch / "replies.json", replies)
    for name in ("MMBench_DEV_EN.tsv", "MMStar.tsv"):
        write_sheet(scratch / name, rows)
    write_sheet(scratch / "MMMU_Pro_10c.tsv", rows, category="Art")
    write_json(scratch / "problems.json", {str(row["id"]): problem(row) for row in rows})
    return Pack(
        cases=[
            case(
                "mmbench:version=1.0",
                path,
                {
                    "official": verdicts(rows, "vlmevalkit_can_infer", "vlmevalkit_correct"),
                    "vlmevalkit-2024": verdicts(
                        rows, "vlmeval_2024_can_infer", "vlmeval_2024_correct"
                    ),
                },
                scratch,
            ),
            mmstar(rows, path, scratch),
            case(
                "mmmu-pro",
                path,
                {"vlmevalkit": verdicts(received, "vlmevalkit_can_infer", "vlmevalkit_correct")},
                scratch,
                note,
                failures,
            ),
            case(
                "scienceqa",
                path,
                {"llava": verdicts(stripped, "llava_scienceqa_parsed", "llava_scienceqa_correct")},
                scratch,
                note,
            ),
        ]
    )


def case(
    benchmark: str,
    replies: Path,
    expected: Mapping[str, Expected],
    data: Path,
    *notes: str,
) -> Case:
    return Case(
        model="made replies",
        replies=replies,
        benchmark=benchmark,
        data=data,
        expected=expected,
        proof="generated pairs",
        page="",
        notes=notes,
    )


def mmstar(rows: Rows, replies: Path, data: Path) -> Case:
    return Case(
        model="made replies",
        replies=replies,
        benchmark="mmstar",
        data=data,
        expected={
            "official": Expected(
                figures={
                    "accuracy": Figure(
                        official=mean([row["mmstar_correct"] for row in rows]),
                        n=len(rows),
                        reason=NO_OUTPUTS,
                    )
                },
                items={str(row["id"]): [Item(score=row["mmstar_correct"])] for row in rows},
            )
        },
        proof="generated pairs",
    )


def verdicts(rows: Rows, parsed: str, correct: str) -> Expected:
    """Letters and verdicts; a script's word for no letter is not an answer here."""
    return Expected(
        items={
            str(row["id"]): [
                Item(
                    score=row[correct],
                    answer="" if row[parsed] in (False, "FAILED") else row[parsed],
                )
            ]
            for row in rows
        }
    )


def write_sheet(path: Path, rows: Rows, **more: str) -> None:
    """The rows as VLMEvalKit publishes questions, with one picture for all of them."""
    columns = ("index", "image", "question", "answer", "A", "B", "C", "D", *more)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", delimiter="\t")
        writer.writeheader()
        for row in rows:
            # A short cell is the index of the row that has the picture.
            image = PICTURE if row is rows[0] else rows[0]["id"]
            question = {"index": row["id"], "question": "Which?", "answer": row["answer"]}
            writer.writerow({**question, "image": image, **row["options"], **more})


def problem(row: Mapping[str, Any]) -> dict[str, Any]:
    """A question as ScienceQA's problems.json has it."""
    return {
        "question": "Which?",
        "choices": [*row["options"].values()],
        "answer": [*row["options"]].index(row["answer"]),
        "hint": "",
        "image": None,
        "grade": "grade1",
        "subject": "natural science",
        "topic": "physics",
        "split": "test",
    }
