"""TextVQA: made pairs with the scores of mmf's evaluator."""

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

NO_OUTPUTS = "LLaVA-1.5's outputs are published without the right answers; the pairs are generated"
VAL = "TextVQA_0.5.1_val.json"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    return Pack(cases=[case(rows, "official", "m4c_acc", scratch)] if rows else [])


def case(rows: Rows, scoring: str, column: str, scratch: Path) -> Case:
    """Pairs of a reply and ten answers, put into the authors' files."""
    replies = {row["id"]: row["prediction"] for row in rows}
    return Case(
        model="made pairs",
        replies=write_files(scratch, rows, replies),
        benchmark="textvqa",
        data=scratch,
        expected={
            scoring: Expected(
                figures={
                    "accuracy": Figure(
                        official=mean([row[column] for row in rows]),
                        n=len(rows),
                        reason=NO_OUTPUTS,
                        label=None if scoring == "official" else f"{scoring} accuracy",
                    )
                },
                items={str(row["id"]): [Item(score=row[column])] for row in rows},
            )
        },
        proof="generated pairs",
    )


def write_files(folder: Path, rows: Rows, replies: Mapping[int, str]) -> Path:
    data = [
        {
            "question_id": row["id"],
            "question": "?",
            "image_id": f"{row['id']:016x}",
            "answers": row["answers"],
        }
        for row in rows
    ]
    write_json(folder / VAL, {"data": data})
    results = [{"question_id": name, "answer": reply} for name, reply in replies.items()]
    return write_json(folder / "results.json", results)
