"""OSWorld-G: made replies as lmms-eval and VLMEvalKit score them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import Expected, Item, Pack, expected_of, of_json_lines, write_json
from tests.parity.packs._grounding import (
    case,
    column,
    digits,
    figure,
    of_answer,
    write_picture,
    write_replies,
)

KINDS = ("bbox", "polygon", "refusal")


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    entries = [
        {
            **{name: row[name] for name in ("image_size", "box_type", "box_coordinates")},
            "id": str(row["id"]),
            "image_path": write_picture(scratch / "images", row["image_size"]),
            "instruction": "click",
        }
        for row in rows
    ]
    write_json(scratch / "OSWorld-G.json", entries)
    replies = write_replies(
        scratch / "replies.jsonl", ((str(row["id"]), row["prediction"]) for row in rows)
    )
    figures = {}
    if known:
        figures["accuracy"] = figure(known["osworld_g_acc"], len(rows))
        figures |= {f"accuracy/{kind}": figure(known[kind]) for kind in KINDS if kind in known}
    of_boxes = known.get("vlmevalkit_bbox_rows")
    expected = {
        "lmms-eval": Expected(figures=figures, items=column(rows, "lmms_correct", point)),
        "vlmevalkit": Expected(
            figures={} if of_boxes is None else {"accuracy": figure(of_boxes / 100)},
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
    }
    return Pack(cases=[case("osworld-g", replies, scratch, expected, written=of_answer)])


def point(row: Mapping[str, Any]) -> str:
    """The point that is parsed, in pixels."""
    if row["lmms_point"] is None:
        return ""
    (x, y), (width, height) = row["lmms_point"], row["image_size"]
    is_relative = 0 <= x <= 1 and 0 <= y <= 1
    return digits((x * width, y * height) if is_relative else (x, y))
