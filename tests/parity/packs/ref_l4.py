"""Ref-L4: made boxes as the authors' evaluator scores them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import Expected, Item, Pack, expected_of, of_json_lines, write_json
from tests.parity.packs._grounding import NOT_FINITE, case, figure

METRICS = {
    "Ann-level acc iou 0.5": "accuracy",
    "Ann-level acc iou 0.75": "accuracy@0.75",
    "Ann-level acc iou 0.9": "accuracy@0.9",
    "Ann-level macc iou 0.5:0.95": "macc",
    **{
        f"{size.capitalize()} {name} iou {at}": f"{metric}/{size}"
        for size in ("small", "medium", "large")
        for name, at, metric in (("acc", "0.5", "accuracy"), ("macc", "0.5:0.95", "macc"))
    },
    "Average class-level acc iou 0.5": "class_accuracy",
    "Average class-level macc iou 0.5:0.95": "class_macc",
}
COPIES = "the lists for copying are the same figures, rounded"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    lines = [json.dumps(annotation(row)) for row in rows]
    (scratch / "ref-l4-val.jsonl").write_text("\n".join(lines), encoding="utf-8")
    predictions = [
        {"id": row["ann_id"], "pred_bbox": row["pred_bbox"], "format": row["format"]}
        for row in rows
    ]
    replies = write_json(scratch / "predictions.json", predictions)
    expected = Expected(
        figures={
            metric: figure(known[name] / 100) for name, metric in METRICS.items() if name in known
        },
        items={
            row["ann_id"]: [
                Item(
                    score=0.0 if row["iou_float32"] in NOT_FINITE else row["iou_float32"],
                    metrics=hits(row),
                )
            ]
            for row in rows
        },
    )
    return Pack(cases=[case("ref-l4:split=val", replies, scratch, {"official": expected}, COPIES)])


def annotation(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["ann_id"],
        "caption": "the cat",
        "bbox": row["gt_xywh"],
        "ori_category_id": row["ori_category_id"],
        "file_name": "a.jpg",
        "split": "val",
    }


def hits(row: Mapping[str, Any]) -> dict[str, float]:
    at = row["hits"]
    return {"accuracy": at[0], "accuracy@0.75": at[5], "accuracy@0.9": at[8], "macc": sum(at) / 10}
