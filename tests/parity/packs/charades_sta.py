"""Charades-STA: made replies, whose intervals two scripts of lmms-eval read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.core import IntervalAnswer
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    of_json_lines,
)
from tests.parity.packs.image_mcq import write_lines

NO_OUTPUTS = "no model's outputs are published; the replies are generated"
NAMES = {
    "mIOU": "miou",
    **{f"IOU@{n}": f"recall@0.{n}" for n in (3, 5, 7)},
    **{f"IOU@0.{n}": f"recall@0.{n}" for n in (3, 5, 7)},
}
"""Our name of a figure by the scripts'."""
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows, known = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    if not rows:
        return Pack(cases=[])
    data = write_lines(
        scratch / "charades_sta_test.jsonl",
        rows,
        lambda row: {
            "id": row["id"],
            "video": "1.mp4",
            "caption": f"event {row['id']}",
            "timestamp": row["gt"],
        },
    )
    replies = write_lines(
        scratch / "replies.jsonl", rows, lambda row: {"id": row["id"], "output": row["prediction"]}
    )
    expected = {
        ours: Expected(
            figures=figures(known.get(f"lmms_{theirs}", {}), len(rows), ours),
            items={str(row["id"]): [item(row, theirs)] for row in rows},
        )
        for ours, theirs in (("lmms-eval", "utils"), ("lmms-eval-script", "script"))
    }
    return Pack(
        cases=[
            Case(
                model="made replies",
                replies=replies,
                benchmark="charades-sta",
                data=data,
                expected=expected,
                proof="generated pairs",
            )
        ]
    )


def figures(known: Mapping[str, float], n: int, scoring: str) -> dict[str, Figure]:
    return {
        NAMES[name]: Figure(
            official=value / 100,
            n=n,
            reason=NO_OUTPUTS,
            label=NAMES[name] if scoring == "lmms-eval" else f"{NAMES[name]} ({scoring})",
        )
        for name, value in known.items()
    }


def item(row: Mapping[str, Any], script: str) -> Item:
    """The interval and its overlap; a reply at which the script fails scores 0 there."""
    pairs, overlap = row[f"{script}_interval"], row[f"{script}_iou"]
    answer = IntervalAnswer(start=pairs[0][0], end=pairs[0][1]) if pairs else ""
    return Item(
        score=overlap if isinstance(overlap, float | int) else 0.0,
        answer=answer if isinstance(overlap, float | int) else None,
    )
