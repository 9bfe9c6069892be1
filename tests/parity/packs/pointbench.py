"""Point-Bench: made replies as the authors' code for Molmo and lmms-eval score them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.core import PointAnswer, SeveralAnswers
from tests.parity.engine import Expected, Figure, Pack, expected_of, of_json_lines, write_json
from tests.parity.packs._grounding import case, column, digits, figure, write_replies
from tests.parity.packs.refspatial import write_masks

SCORINGS = {
    "official_success": "official",
    "lmms_fraction": "lmms-eval",
    "lmms_binary": "lmms-eval-binary",
    "lmms_json_fraction": "lmms-eval-json",
    "lmms_json_binary": "lmms-eval-json-binary",
}
PIXELS = "points are compared in pixels, to ten digits"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    for kind in ("images", "masks"):
        write_masks(folder, scratch / kind)
    entries = [
        {
            **{"id": str(row["id"]), "user_input": "?", "category": row["category"]},
            **{"image_filename": f"{row['mask']}.png", "mask_filename": f"{row['mask']}.png"},
            "count": row["count"],
        }
        for row in rows
    ]
    write_json(scratch / "data.json", entries)
    replies = write_replies(
        scratch / "replies.jsonl", ((str(row["id"]), row["prediction"]) for row in rows)
    )
    expected = {
        scoring: Expected(
            figures=figures(name, known),
            items=column(rows, name, points if scoring == "official" else lambda _: None),
        )
        for name, scoring in SCORINGS.items()
    }
    return Pack(cases=[case("pointbench", replies, scratch, expected, PIXELS, written=of_points)])


def figures(name: str, known: Mapping[str, Any]) -> dict[str, Figure]:
    if name != "official_success":
        return {"accuracy": figure(known[name])} if name in known else {}
    if "official_success_rate" not in known:
        return {}
    parts = {f"accuracy/{category}": value for category, value in known["by_category"].items()}
    values = {"accuracy": known["official_success_rate"], **parts}
    return {metric: figure(value) for metric, value in values.items()}


def points(row: Mapping[str, Any]) -> str:
    return "; ".join(map(digits, row["official_points"]))


def of_points(answer: object) -> str:
    """Points of ours in the form of `points`."""
    answers = answer.answers if isinstance(answer, SeveralAnswers) else ()
    return "; ".join(
        digits((point.x, point.y)) for point in answers if isinstance(point, PointAnswer)
    )
