"""RefCOCO: made replies as two model makers and three toolkits score them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from snellen.core import BoxAnswer
from tests.parity.engine import Expected, Item, Pack, expected_of, of_json_lines
from tests.parity.packs._grounding import (
    NOT_FINITE,
    Rows,
    case,
    digits,
    figure,
    of_answer,
    write_picture,
    write_replies,
)

SCORINGS = {
    "internvl": "internvl",
    "qwenvl": "qwen-vl",
    "vlmevalkit": "vlmevalkit",
    "lmms_rec": "lmms-eval",
    "lmms_grounding": "lmms-eval-grounding",
    "evalscope": "evalscope",
}
CENTERS = {"lmms_rec_center": "lmms-eval-center", "evalscope_center": "evalscope-center"}
UNION = "IoUs that are not finite count as 0 here"
AVERAGES = {"Precision@1": "accuracy", "Average IoU": "iou"}


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    write_rows(rows, scratch)
    replies = write_replies(
        scratch / "replies.jsonl", ((name_of(row), row["prediction"]) for row in rows)
    )
    expected = {
        **{
            scoring: Expected(
                figures={"accuracy": figure(known.get(column, {}).get("acc_at_0.5"), len(rows))},
                items=of_column(column, rows),
            )
            for column, scoring in SCORINGS.items()
        },
        **{
            scoring: Expected(items={name_of(row): [Item(score=row[column])] for row in rows})
            for column, scoring in CENTERS.items()
        },
    }
    by_split = known.get("vlmevalkit_by_split", {})
    expected["vlmevalkit"].figures.update(averages(by_split))  # type: ignore[attr-defined]
    by_metric = known.get("lmms_rec_by_metric", {})
    expected["lmms-eval"].figures.update(of_metrics(by_metric))  # type: ignore[attr-defined]
    expected["lmms-eval-center"].figures.update(  # type: ignore[attr-defined]
        {"accuracy": figure(by_metric["Center_ACC"])} if by_metric else {}
    )
    boxes = {"vlmevalkit": expected.pop("vlmevalkit")}
    return Pack(
        cases=[
            case("refcoco:split=refcoco_val", replies, scratch, expected, UNION, written=of_answer),
            case("refcoco:split=refcoco_val", replies, scratch, boxes, written=six_decimals),
        ]
    )


def name_of(row: Mapping[str, Any]) -> str:
    return str(row["id"])


def file_of(split: str) -> str:
    """The split as in the names of files: `RefCOCO+_testA` is `refcoco+_testA`."""
    data_set, _, part = split.partition("_")
    return f"{data_set.lower()}_{part}"


def write_rows(rows: Rows, scratch: Path) -> None:
    """All rows in the file of a split. A row names its own split."""
    lines = [
        {
            "id": name_of(row),
            "split": file_of(row["split"]),
            "image": write_picture(scratch, (row["width"], row["height"])),
            "sent": "the cat",
            "bbox": row["gt_bbox"],
            "width": row["width"],
            "height": row["height"],
        }
        for row in rows
    ]
    (scratch / "refcoco_val.jsonl").write_text("\n".join(map(json.dumps, lines)))


def of_column(column: str, rows: Rows) -> dict[str, list[Item]]:
    """The IoU of each row. The verdict is in a metric of the same row."""
    return {
        name_of(row): [
            Item(
                score=0.0 if row[f"{column}_iou"] in NOT_FINITE else row[f"{column}_iou"],
                answer=box(column, row),
                metrics={"accuracy": float(row[f"{column}_correct"])},
            )
        ]
        for row in rows
        if row[f"{column}_iou"] in NOT_FINITE or isinstance(row[f"{column}_iou"], float | int)
    }


def box(column: str, row: Mapping[str, Any]) -> str | None:
    """The box in pixels. A reply without a box is 0, 0, 0, 0 there, and has no answer here."""
    value = row.get(f"{column}_box")
    if column == "vlmevalkit":
        return str(value or "")
    if value is None or not any(value):
        return None
    return "" if any(item in NOT_FINITE for item in value) else digits(value)


def six_decimals(answer: object) -> str:
    """A box as VLMEvalKit writes it."""
    if not isinstance(answer, BoxAnswer):
        return ""
    corners: Iterable[float] = (answer.left, answer.top, answer.right, answer.bottom)
    return f"[{', '.join(f'{value:.6f}' for value in corners)}]"


def averages(by_split: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    figures = {}
    for split, values in by_split.items():
        for name, metric in AVERAGES.items():
            value = values[name] / (100 if metric == "accuracy" else 1)
            if split == "Average":
                of_all = {"accuracy": "average", "iou": "average_iou"}
                figures[of_all[metric]] = figure(value, int(values["Samples"]))
            else:
                figures[f"{metric}/{file_of(split)}"] = figure(value, int(values["Samples"]))
    return figures


def of_metrics(known: Mapping[str, float]) -> dict[str, Any]:
    names = {name: f"accuracy{name.removeprefix('ACC')}" for name in known if "ACC@" in name}
    names |= {"ACC@0.5": "accuracy", "IoU": "iou"}
    return {metric: figure(known[name]) for name, metric in names.items() if name in known}
