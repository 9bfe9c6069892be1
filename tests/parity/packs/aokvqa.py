"""A-OKVQA: made questions and replies with the authors' verdicts in both settings."""

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

FIELDS = {"da": "direct_answer", "mc": "multiple_choice"}
COPIED = ("question_id", "choices", "correct_choice_idx", "direct_answers")
NO_OUTPUTS = "no model's outputs are published with the right answers; the pairs are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    write_json(scratch / "aokvqa_v1p0_val.json", [question(row) for row in rows])
    return Pack(cases=[case(rows, setting, scratch) for setting in FIELDS])


def question(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the authors publish it."""
    copied = {name: row[name] for name in (*COPIED, "difficult_direct_answer")}
    return {"image_id": 1, "question": "?", "split": "val", **copied}


def case(rows: list[dict[str, Any]], setting: str, scratch: Path) -> Case:
    replies = {
        row["question_id"]: {FIELDS[setting]: reply}
        for row in rows
        if (reply := row[f"prediction_{setting}"]) is not None
    }
    verdicts = {
        row["question_id"]: verdict
        for row in rows
        if (verdict := row[f"official_{setting}"]) is not None
    }
    return Case(
        model="made pairs",
        replies=write_json(scratch / f"predictions_{setting}.json", replies),
        benchmark=f"a-okvqa:setting={setting}",
        data=scratch,
        expected={
            "official": Expected(
                figures={
                    "accuracy": Figure(
                        official=mean([*verdicts.values()]), n=len(verdicts), reason=NO_OUTPUTS
                    )
                },
                items={name: [Item(score=verdict)] for name, verdict in verdicts.items()},
            )
        },
        proof="generated pairs",
    )
