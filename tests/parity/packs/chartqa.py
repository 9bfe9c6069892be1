"""ChartQA: made pairs with the verdicts of the scorers that published figures used."""

import json
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

COLUMNS = {"pix2struct_relaxed": "official", "vlmevalkit_relaxed": "vlmevalkit"}
"""Our scoring for each column; lmms_eval_relaxed is the first one again."""
NO_OUTPUTS = "no model's outputs are published; the pairs are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    halves = {"human": rows[: len(rows) // 2], "augmented": rows[len(rows) // 2 :]}
    replies = {row["id"]: row["prediction"] for row in rows}
    ids = {
        row["id"]: f"{kind}-{number}"
        for kind, some in halves.items()
        for number, row in enumerate(some)
    }
    return Pack(
        cases=[
            Case(
                model="made pairs",
                replies=write_files(scratch, halves, replies),
                benchmark="chartqa",
                data=scratch,
                expected={
                    scoring: Expected(
                        figures={
                            "relaxed_accuracy": Figure(
                                official=mean([row[column] for row in rows]),
                                n=len(rows),
                                reason=NO_OUTPUTS,
                                label=None
                                if scoring == "official"
                                else f"relaxed_accuracy ({scoring})",
                            )
                        },
                        items={ids[row["id"]]: [Item(score=float(row[column]))] for row in rows},
                    )
                    for column, scoring in COLUMNS.items()
                },
                proof="generated pairs",
            )
        ]
    )


def write_files(
    folder: Path, halves: Mapping[str, Sequence[Mapping[str, Any]]], replies: Mapping[int, str]
) -> Path:
    """The authors' two files of questions, and a file of replies by the pairs' ids."""
    lines = []
    for kind, some in halves.items():
        rows = [{"imgname": "a.png", "query": "?", "label": row["answer"]} for row in some]
        write_json(folder / f"test_{kind}.json", rows)
        lines += [
            {"id": f"{kind}-{number}", "prediction": replies[row["id"]]}
            for number, row in enumerate(some)
            if row["id"] in replies
        ]
    path = folder / "replies.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path
