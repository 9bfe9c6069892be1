"""CC-OCR: made replies of all tracks, with the scores of the authors' code."""

import base64
import csv
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
    expected_of,
    of_json_lines,
    write_json,
)

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"
REPLIES = {"response_success_ratio": "response_success_ratio"}
METRICS = {"macro_f1_score": "score", "mirco_f1_score": "micro_f1", "score": "score", **REPLIES}
COLUMNS = ("index", "image", "question", "answer", "category", "l2-category", "split", "image_name")
Row = Mapping[str, Any]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = [
        row
        for row in of_json_lines(folder / "differential.jsonl")
        if not isinstance(row.get("score"), str)  # the authors' code stops there
    ]
    if not rows:
        return Pack(cases=[])
    with (scratch / "CCOCR.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t")
        writer.writeheader()
        for row in rows:
            track, name = location(row)
            cells = {"index": row["id"], "question": "?", "image_name": row["id"]}
            # A short cell is the index of the row that has the picture.
            cells["image"] = PICTURE if row is rows[0] else rows[0]["id"]
            right = row["reference"]
            cells["answer"] = right if isinstance(right, str) else json.dumps(right)
            cells |= {"category": track, "l2-category": row.get("op", name), "split": name}
            writer.writerow(cells)
    replies = [{"index": row["id"], "prediction": row["prediction"]} for row in rows]
    return Pack(
        cases=[
            Case(
                model="made replies",
                replies=write_json(scratch / "replies.json", replies),
                benchmark="cc-ocr",
                data=scratch,
                expected={
                    "official": Expected(
                        figures=figures(expected_of(folder), rows),
                        items={str(row["id"]): [item(row)] for row in rows},
                    )
                },
                proof="generated pairs",
            )
        ]
    )


def location(row: Row) -> tuple[str, str]:
    """The track and the data set of a row. Rows without a data set have their kind."""
    if row["task"] == "ocr":
        return row["group"], row["dataset"]
    return row["task"], row.get("op", row["task"])


def figures(known: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Figure]:
    by_metric = {}
    for name, values in known.items():
        track, _, part = name.partition("/")
        n = sum(location(row) == (track, part or track) for row in rows)
        metrics = {"acc": "score", "f1_score": "kie_f1", **REPLIES} if track == "kie" else METRICS
        for key, metric in metrics.items():
            if key in values:
                by_metric[f"{metric}/{track}/{part or track}"] = Figure(
                    official=values[key], n=n, reason=NO_OUTPUTS
                )
    return by_metric


def item(row: Row) -> Item:
    if row["task"] == "ocr":
        values = {"score": row["macro_f1_score"], "micro_f1": row["micro_f1_score"]}
        return Item(metrics=values)
    if row["task"] == "kie":
        parsed = row["parsed"]
        return Item(
            answer="" if parsed is None else json.dumps(parsed, ensure_ascii=False),
            metrics={"score": row["acc"], "kie_f1": row["f1_score"]},
        )
    return Item(score=row["score"])
