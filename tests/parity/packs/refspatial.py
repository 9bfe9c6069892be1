"""RefSpatial-Bench: made replies as the authors' four parsers and two toolkits score them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    of_json,
    of_json_lines,
    write_json,
)
from tests.parity.packs._grounding import Rows, case, figure, write_gray, write_replies

SCORINGS = {
    "official_relative": "official",
    "official_absolute": "absolute",
    "official_molmo": "molmo",
    "official_gemini": "gemini",
    "lmms_text": "lmms-eval",
    "lmms_0_999": "lmms-eval-0-999",
    "lmms_json": "lmms-eval-json",
    "vlmevalkit_acc": "vlmevalkit",
}
UNPARSED = "replies that are skipped, or stop the script, are compared as unparsed"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    write_masks(folder, scratch / "Location/mask")
    for part in ("Location", "Placement", "Unseen"):
        entries = [question(row) for row in rows if row["task"] == part]
        for entry in entries:
            entry["mask_path"] = f"../Location/mask/{entry['mask_path']}"
        write_json(scratch / part / "question.json", entries)
    replies = write_replies(
        scratch / "replies.jsonl", ((name_of(row), row["prediction"]) for row in rows)
    )
    expected = {
        scoring: Expected(figures=figures(column, known, rows), items=items(column, rows))
        for column, scoring in SCORINGS.items()
    }
    return Pack(
        cases=[case("refspatial", replies, scratch, expected, UNPARSED, written=has_answer)]
    )


def write_masks(folder: Path, target: Path) -> None:
    for name, mask in of_json(folder / "masks.json").items():
        write_gray(target / f"{name}.png", [bytes.fromhex(row) for row in mask["rows_hex"]])


def question(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{"id": row["id"], "object": "?", "prompt": "?", "suffix": "", "category": row["task"]},
        **{"rgb_path": "image/a.png", "mask_path": f"{row['mask']}.png", "step": 1},
    }


def name_of(row: Mapping[str, Any]) -> str:
    return f"{row['task'].lower()}-{row['id']}"


def figures(column: str, known: Mapping[str, Any], rows: Rows) -> dict[str, Figure]:
    if column == "vlmevalkit_acc":
        return {
            "accuracy" if name == "overall" else f"accuracy/{name}": figure(value)
            for name, value in known.get("vlmevalkit", {}).items()
        }
    if column not in known:
        return {}
    entry = known[column]
    return {"accuracy": figure(entry["accuracy"], entry.get("evaluated", len(rows)))}


def items(column: str, rows: Rows) -> dict[str, list[Item]]:
    """The score of each reply; text in its stead means that there is none."""
    return {
        name_of(row): [
            Item(answer="")
            if isinstance(row[column], str)
            else Item(score=row[column], answer=parsable(column, row))
        ]
        for row in rows
    }


def parsable(column: str, row: Mapping[str, Any]) -> str | None:
    if column != "vlmevalkit_acc":
        return "points" if column.startswith("official") else None
    return "points" if row["vlmevalkit_parsable"] else ""


def has_answer(answer: object) -> str:
    return "" if answer is None else "points"
