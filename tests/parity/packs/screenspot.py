"""ScreenSpot: made replies as SeeClick, VLMEvalKit, and lmms-eval score them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import Expected, Item, Pack, expected_of, of_json_lines, write_json
from tests.parity.packs._grounding import (
    Rows,
    case,
    column,
    digits,
    figure,
    of_answer,
    write_picture,
    write_replies,
)

PIXELS = "points are compared in pixels, to ten digits"
THRESHOLDS = ("0.1", "0.3", "0.5", "0.7", "0.9")


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    replies = write_replies(
        scratch / "replies.jsonl", ((str(row["id"]), row["prediction"]) for row in rows)
    )
    for end, pictures in (("", "screenspot_imgs"), ("_v2", "screenspotv2_image")):
        elements = [element(row, scratch / pictures) for row in rows]
        write_json(scratch / f"screenspot_web{end}.json", elements)
    first = {
        "official": Expected(
            figures={
                **cells("seeclick_correct", known),
                "wrong_format": share(known.get("seeclick_wrong_format"), rows),
            },
            items=column(rows, "seeclick_correct", seeclick),
        ),
        "vlmevalkit": Expected(
            figures={
                **cells("vlmevalkit_correct", known),
                "wrong_format": share(
                    known["vlmevalkit_format_err_rate"] * len(rows) / 100 if known else None, rows
                ),
            },
            items={
                str(row["id"]): [
                    Item(
                        score=float(row["vlmevalkit_stat"] == 1),
                        answer="" if row["vlmevalkit_stat"] < 0 else None,
                    )
                ]
                for row in rows
                if isinstance(row["vlmevalkit_stat"], int)
            },
        ),
        "lmms-eval": Expected(
            figures={
                **{
                    f"accuracy@{at}": figure(known["lmms_rec"][f"ACC@{at}"])
                    for at in THRESHOLDS
                    if known
                },
                **({"iou": figure(known["lmms_rec"]["IoU"])} if known else {}),
            },
            items=column(rows, "lmms_rec_iou", box),
        ),
        "lmms-eval-center": Expected(
            figures=cells("lmms_rec_center", known), items=column(rows, "lmms_rec_center", box)
        ),
    }
    second = {
        "lmms-eval": Expected(
            figures=cells("lmms_v2_correct_norm", known),
            items=column(rows, "lmms_v2_correct_norm", lmms_eval),
        ),
        "lmms-eval-xywh": Expected(
            figures=cells("lmms_v2_correct_xywh", known),
            items=column(rows, "lmms_v2_correct_xywh", lmms_eval),
        ),
    }
    return Pack(
        cases=[
            case("screenspot:part=web", replies, scratch, first, PIXELS, written=of_answer),
            case(
                "screenspot:version=v2,part=web",
                replies,
                scratch,
                second,
                PIXELS,
                heading="screenspot:version=v2",
                written=of_answer,
            ),
        ]
    )


def element(row: Mapping[str, Any], pictures: Path) -> dict[str, Any]:
    return {
        "id": row["id"],
        "img_filename": write_picture(pictures, row["img_size"]),
        "bbox": row["bbox_xywh"],
        "instruction": "click",
        "data_type": row["data_type"],
        "data_source": row["data_source"],
    }


def cells(name: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy, and that of texts and icons."""
    return {
        f"accuracy/{kind}" if kind != "all" else "accuracy": figure(value)
        for kind, value in known.get(name, {}).items()
    }


def share(count: float | None, rows: Rows) -> Any:
    return figure(None if count is None else count / len(rows))


def seeclick(row: Mapping[str, Any]) -> str:
    point = row["seeclick_point"]
    return digits(None if point is None else map(float.__mul__, point, map(float, row["img_size"])))


def lmms_eval(row: Mapping[str, Any]) -> str:
    """The point that is parsed counts as pixels if a coordinate is over 1."""
    point, size = row["lmms_v2_point"], row["img_size"]
    if point is None:
        return ""
    return digits(point if max(point) > 1 else (point[0] * size[0], point[1] * size[1]))


def box(row: Mapping[str, Any]) -> str:
    """A reply without a box is 0, 0, 0, 0 there, and has no answer here."""
    (left, top, right, bottom), (width, height) = row["lmms_rec_box"], row["img_size"]
    pixels = (left * width, top * height, right * width, bottom * height)
    return digits(pixels) if any(pixels) else None  # type: ignore
