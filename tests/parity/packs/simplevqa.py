"""SimpleVQA: made verdicts of a judge, with the labels and the aggregate of the authors' script."""

import base64
from pathlib import Path

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

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
LABELS = {"correct": 1.0, "incorrect": 0.0, "not_attempted": 0.0}
"""The scores of the labels. Any other label is the name of the exception that stops the script."""
UNPUBLISHED = "no outputs are published; the verdicts are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    sheet = ["index\timage\tquestion\tanswer\n"]
    sheet += [
        # A short cell is the index of the row that has the picture.
        f"{row['id']}\t{PICTURE if row is rows[0] else rows[0]['id']}\tWhat?\tthat\n"
        for row in rows
    ]
    (scratch / "SimpleVQA.tsv").write_text("".join(sheet), encoding="utf-8")
    verdicts = [
        {"data_id": row["id"], "it_response": "this", "judge_res": {"it_response": verdict}}
        for row in rows
        for verdict in [row["judge_res"]]
    ]
    aggregate = expected_of(folder)
    n = aggregate.get("rows")
    figures = {
        name: Figure(official=value, n=n, reason=UNPUBLISHED)
        for name, value in aggregate.items()
        if name != "rows"
    }
    items = {
        str(row["id"]): [Item(score=LABELS[row["label"]], answer=row["label"].replace("_", " "))]
        for row in rows
        if row["label"] in LABELS
    }
    stopped = len(rows) - len(items)
    case = Case(
        model="made verdicts",
        replies=write_json(scratch / "verdicts.json", verdicts),
        benchmark="simplevqa",
        data=scratch,
        expected={"official": Expected(figures=figures, items=items)},
        proof="generated pairs",
        notes=(f"{stopped} verdicts that stop the authors' script: no score here",),
    )
    return Pack(cases=[case])
