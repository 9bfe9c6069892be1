"""CG-Bench: made replies to three tasks, as the authors' code scores them."""

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
from tests.parity.packs.image_mcq import write_lines

NO_OUTPUTS = "no model's outputs are published; the replies are generated"
TASKS = {"long_acc": "long", "clue_acc": "clue", "miou": "miou"}
Row = Mapping[str, Any]


def pack(folder: Path, scratch: Path) -> Pack:
    rows, known = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    return Pack(
        cases=[
            case(theirs, of_task, known.get(theirs, {}), scratch / theirs)
            for theirs in TASKS
            if (of_task := [row for row in rows if row["task_mode"] == theirs])
        ]
    )


def case(theirs: str, rows: Sequence[Row], known: Row, scratch: Path) -> Case:
    questions = [
        {
            "qid": row["id"],
            "video_uid": "1",
            "question": "Which?",
            "choices": [*"abcdefgh"],
            "right_answer": "A" if theirs == "miou" else row["reference"],
            "clue_intervals": row["reference"] if theirs == "miou" else [],
        }
        for row in rows
    ]
    replies = write_lines(
        scratch / "replies.jsonl",
        [row for row in rows if row["reply"] is not None],
        lambda row: {"id": row["id"], "output": row["reply"]},
    )
    return Case(
        model=f"made replies, {TASKS[theirs]}",
        replies=replies,
        benchmark=f"cg-bench:task={TASKS[theirs]}",
        heading="cg-bench",
        data=write_json(scratch / "cgbench_mini.json", questions),
        expected={
            "official": Expected(
                figures=figures(known, theirs),
                # A row without a result, for which the authors' code may fail, has no score.
                items={str(row["id"]): [Item(score=float(row["result"]))] for row in rows
                       if isinstance(row["result"], int | float)},
            )
        },
        proof="generated pairs",
    )  # fmt: skip


def figures(known: Row, theirs: str) -> dict[str, Figure]:
    values = {
        "accuracy": known.get("accuracy"),
        "miou": known.get("mean"),
        "recall": known.get("rec@iou_mean"),
        **{f"recall@{least}": value for least, value in known.get("rec@iou", {}).items()},
    }
    return {
        name: Figure(
            official=value,
            n=known["rows_with_result"],
            reason=NO_OUTPUTS,
            label=f"{name}, {TASKS[theirs]}",
        )
        for name, value in values.items()
        if value is not None
    }
