"""ScreenSpot-Pro: made replies as five models' adapters and three toolkits score them."""

import re
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

RESULTS = ("correct", "wrong", "wrong_format")
PIXELS = "points are compared in pixels, to ten digits"
PARTS = "the report's parts by platform, and texts and icons by application: the items have them"
FOUR_IN_BOX = re.compile(r"<box>\d+ \d+ \d+ \d+</box>")
"""In the pack, MiniCPM-V's point is the first two of these numbers. In the authors' code, it is the
center of the box (models/minicpmv.py#L73-L78)."""
BOXES = "{n} replies with a <box> of four numbers: the pack does not do what the adapter does"
STOPPED = "{n} replies at which the adapter of {name} stops: not scored there, unparsed here"


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    entries = [annotation(row, scratch / "images") for row in rows]
    write_json(scratch / "annotations/android_studio_macos.json", entries)
    columns = [name.removesuffix("_point") for name in rows[0] if name.endswith("_point")]
    adapters = [name for name in columns if name.startswith("official_")]
    cases = []
    for name in adapters:
        scored = [row for row in rows if row[name] in RESULTS and not differs(name, row)]
        replies = write_replies(
            scratch / f"{name}.jsonl", ((row["id"], row["prediction"]) for row in scored)
        )
        note = BOXES if name == "official_minicpmv" else STOPPED
        stopped = note.format(n=len(rows) - len(scored), name=name)
        expected = {scoring(name): of_adapter(name, scored, known.get(name, {}))}
        notes = (PIXELS, PARTS, *([stopped] if len(scored) < len(rows) else []))
        cases.append(case("screenspot-pro", replies, scratch, expected, *notes, written=of_answer))
    every = write_replies(
        scratch / "replies.jsonl", ((row["id"], row["prediction"]) for row in rows)
    )
    toolkits = {
        "vlmevalkit": Expected(
            figures=of_vlmevalkit(known.get("vlmevalkit", {})),
            items={
                row["id"]: [
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
            figures=by_type(known.get("lmms_correct", {})),
            items=column(rows, "lmms_correct", lmms_eval),
        ),
        "evalscope": Expected(
            figures=by_type(known.get("evalscope_correct", {})),
            items=column(rows, "evalscope_correct", evalscope),
        ),
        **{scoring(name): of_stops(name, rows) for name in adapters},
    }
    cases.append(case("screenspot-pro", every, scratch, toolkits, PIXELS, written=of_answer))
    return Pack(cases=cases)


def annotation(row: dict[str, Any], pictures: Path) -> dict[str, Any]:
    row["id"] = str(row["id"])
    fields = ("id", "bbox", "img_size", "ui_type", "group", "application", "platform")
    name = write_picture(pictures, row["img_size"])
    return {**{field: row[field] for field in fields}, "img_filename": name, "instruction": "?"}


def differs(name: str, row: Mapping[str, Any]) -> bool:
    return name == "official_minicpmv" and bool(FOUR_IN_BOX.search(row["prediction"]))


def scoring(name: str) -> str:
    adapter = name.removeprefix("official_")
    return "official" if adapter == "gpt" else adapter


def of_adapter(name: str, rows: Rows, known: Mapping[str, Any]) -> Expected:
    """The report of `evaluate()`, and each reply's verdict and point."""
    figures: dict[str, Any] = {}
    for category, part in ({"": known["overall"]} if known else {}).items():
        figures |= of_part(category, part)
        figures["wrong_format"] = figure(part["wrong_format_num"] / part["num_total"])
    for style in ("leaderboard_simple_style", "leaderboard_detailed_style"):
        for category, part in known.get(style, {}).items():
            kind, _, label = category.partition(":")
            figures |= of_part(f"/{label}", part, kinds=kind == "group")
    items = {
        row["id"]: [Item(score=float(row[name] == "correct"), answer=point(row, f"{name}_point"))]
        for row in rows
    }
    return Expected(figures=figures, items=items)


def of_part(category: str, part: Mapping[str, Any], kinds: bool = True) -> dict[str, Any]:
    figures = {f"accuracy{category}": figure(part["action_acc"], part["num_total"])}
    for kind in ("text", "icon") if kinds else ():
        cell = f"{category} {kind}" if category else f"/{kind}"
        figures[f"accuracy{cell}"] = figure(part[f"{kind}_acc"])
    return figures


def of_stops(name: str, rows: Rows) -> Expected:
    """The replies at which an adapter stops. They have no answer."""
    return Expected(
        items={row["id"]: [Item(answer="")] for row in rows if row[name] not in RESULTS}
    )


def of_vlmevalkit(known: Mapping[str, float]) -> dict[str, Any]:
    names = {"accuracy": "Overall_Accuracy", "wrong_format": "Format_Err_Rate"}
    return {name: figure(known[of] / 100) for name, of in names.items() if of in known}


def by_type(known: Mapping[str, float]) -> dict[str, Any]:
    return {
        "accuracy" if kind == "all" else f"accuracy/{kind}": figure(value)
        for kind, value in known.items()
    }


def point(row: Mapping[str, Any], name: str) -> str:
    share, (width, height) = row[name], row["img_size"]
    return "" if share is None else digits((share[0] * width, share[1] * height))


def lmms_eval(row: Mapping[str, Any]) -> str:
    """The point that is parsed counts as pixels if a coordinate is over 1."""
    values = row["lmms_point"]
    return digits(values) if values and max(values) > 1 else point(row, "lmms_point")


def evalscope(row: Mapping[str, Any]) -> str:
    values = (
        [*map(float, row["evalscope_extracted"].strip("[]").split(", "))]
        if row["evalscope_extracted"]
        else None
    )
    return point({**row, "at": values}, "at")
