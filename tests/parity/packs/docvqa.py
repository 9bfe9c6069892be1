"""DocVQA and InfographicVQA: made pairs with the scores of five public scorers."""

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

NAMES = {"docvqa": "val_v1.0.json", "info-vqa": "infographicsVQA_val_v1.0.json"}
COLUMNS = {
    "official": {"anls": "lmms_eval_anls"},
    "mmpretrain": {"anls": "mmpretrain_anls"},
    "pix2struct": {"anls": "pix2struct_anls"},
    "m4c": {"anls": "m4c_stvqa_anls", "accuracy": "m4c_stvqa_acc"},
}
"""By scoring and metric the column; vlmevalkit_anls is the first one again."""
NO_OUTPUTS = "no model's outputs are published; the pairs are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    return Pack(
        cases=[
            Case(
                model="made pairs",
                replies=write_files(scratch / name, name, rows),
                benchmark=name,
                data=scratch / name,
                expected={
                    scoring: Expected(
                        figures={
                            metric: Figure(
                                official=mean([row[column] for row in rows]),
                                n=len(rows),
                                reason=NO_OUTPUTS,
                                label=metric if scoring == "official" else f"{scoring} {metric}",
                            )
                            for metric, column in columns.items()
                        },
                        items={
                            str(row["id"]): [
                                Item(metrics={name: row[key] for name, key in columns.items()})
                            ]
                            for row in rows
                        },
                    )
                    for scoring, columns in COLUMNS.items()
                },
                proof="generated pairs",
            )
            for name in NAMES
        ]
    )


def write_files(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """The questions as published, and replies as the server takes them."""
    data = [
        {
            "questionId": row["id"],
            "question": "?",
            "image": "documents/a.png",
            "image_local_name": "a.jpeg",
            "answers": row["answers"],
        }
        for row in rows
    ]
    document = {"dataset_name": "docvqa", "dataset_split": "val", "data": data}
    write_json(folder / NAMES[name], document)
    replies = [{"questionId": row["id"], "answer": row["prediction"]} for row in rows]
    return write_json(folder / "replies.json", replies)
