"""MP-DocVQA: made replies and pages, with the scores of the authors' framework."""

from collections.abc import Mapping, Sequence
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

METRICS: tuple[str, ...] = ("anls", "accuracy", "page_accuracy")
NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    known = expected_of(folder)
    data = [
        {
            "questionId": row["id"],
            "question": "?",
            "doc_id": row["id"],
            "page_ids": ["a"],
            "answers": row["answers"],
            "answer_page_idx": row["answer_page"],
            "answer_type": row["answer_type"],
        }
        for row in rows
    ]
    write_json(scratch / "val.json", {"data": data})
    replies = [
        {
            "questionId": row["id"],
            "answer": row["prediction"],
            "answer_page": row["predicted_page"],
        }
        for row in rows
    ]
    figures: dict[str, Figure] = {
        metric: Figure(official=known[metric], n=len(rows), reason=NO_OUTPUTS)
        for metric in METRICS
        if metric in known
    }
    return Pack(
        cases=[
            Case(
                model="made replies",
                replies=write_json(scratch / "replies.json", replies),
                benchmark="mp-docvqa",
                data=scratch,
                expected={
                    "official": Expected(figures=figures, items=items(rows, "")),
                    "case-sensitive": Expected(items=items(rows, "_case_sensitive")),
                },
                proof="generated pairs",
            )
        ]
    )


def items(rows: Sequence[Mapping[str, Any]], ending: str) -> dict[str, list[Item]]:
    return {
        str(row["id"]): [
            Item(
                score=row[f"anls{ending}"],
                metrics={
                    "accuracy": row[f"accuracy{ending}"],
                    "page_accuracy": row["page_correct"],
                },
            )
        ]
        for row in rows
    }
