"""MMMU-Pro: the authors' output files, each with the verdicts stored in it."""

import json
import re
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
    items_of,
    of_json_lines,
)
from tests.parity.packs.mathvision import in_order

NAME = re.compile(
    r"(?P<model>.+)_(?P<setting>standard|vision)(?:\((?P<n>\d+) options\))?_(?P<mode>cot|direct)"
)
OTHER_RUN = "the outputs in the repository are not from the paper's run"
NO_DRAW = "accuracy of what needs no draw"


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    paths = sorted((folder / "outputs").glob("*.jsonl*"))
    files = {path.name.removesuffix(".gz"): path for path in paths}
    cases = []
    for name, path in in_order(files, expected):
        cases += of_file(name, path, folder, scratch, expected.get(name), items.get(name, {}))
    return Pack(cases=cases, without_output=[name for name in expected if name not in files])


def of_file(
    name: str,
    path: Path,
    folder: Path,
    scratch: Path,
    known: Mapping[str, Any] | None,
    items: Mapping[str, Sequence[Any]],
) -> list[Case]:
    """The bytes as published; and for docs/parity.md the letters that the authors drew, which no
    scorer can draw again, in the place of the replies they were drawn for."""
    matched = NAME.fullmatch(name.removesuffix(".jsonl"))
    if matched is None:
        raise ValueError(f"{path}: the name of a file of MMMU-Pro has its setting and mode in it.")
    setting = f"{matched['setting']}-{matched['n']}" if matched["n"] else matched["setting"]
    spec = f"mmmu-pro:setting={setting},mode={matched['mode']}"
    if known is None:
        return [Case(model=name, replies=path, benchmark=spec, data=path, expected={})]
    rows = {row["id"]: row["response"] for row in of_json_lines(path)}
    drawn = {key for key, (answer, *_) in items.items() if answer is None}
    as_stored = {
        key: f"Answer: {items[key][2]}" if key in drawn else reply for key, reply in rows.items()
    }
    without = {key: reply for key, reply in rows.items() if key not in drawn}
    page = matched["model"]
    return [
        Case(
            model=name,
            replies=path,
            benchmark=spec,
            data=path,
            expected={
                "official": Expected(
                    figures=in_bounds(known, items, drawn),
                    items={
                        key: [Item(score=score, answer=answer)]
                        for key, (answer, score, *_) in items.items()
                        if key not in drawn
                    },
                )
            },
            page="",
            notes=(f"{len(drawn)} replies get a random letter, without a seed",) * bool(drawn),
        ),
        Case(
            model=f"{name}, with its draws",
            replies=write_replies(scratch / f"{name} stored.jsonl", as_stored),
            benchmark=spec,
            data=path,
            expected={"official": Expected(figures=stored(known, len(drawn)))},
            page=page,
        ),
        Case(
            model=f"{name}, without draws",
            replies=write_replies(scratch / f"{name} without.jsonl", without),
            benchmark=spec,
            data=path,
            expected={"official": Expected(figures=deterministic(known))},
            page=page,
            missing="excluded",
        ),
    ]


def stored(known: Mapping[str, Any], draws: int) -> dict[str, Figure]:
    """The verdicts in the file."""
    published = known.get("published")
    reason = OTHER_RUN if published else ""
    if draws:
        reason = f"the letters of {draws} random draws are taken from the file"
    return {
        "accuracy": Figure(
            official=known["stored"]["correct"] / known["n"],
            n=known["n"],
            published=published["value_percent"] / 100 if published else None,
            reason=reason,
        ),
        **{
            f"accuracy/{subject}": Figure(official=of["acc"], n=of["total"])
            for subject, of in known["stored_by_subject"].items()
        },
    }


def deterministic(known: Mapping[str, Any]) -> dict[str, Figure]:
    part = known["official_scorer_deterministic_part"]
    return {
        "accuracy": Figure(official=part["correct"] / part["rows"], n=part["rows"], label=NO_DRAW)
    }


def in_bounds(
    known: Mapping[str, Any], items: Mapping[str, Sequence[Any]], drawn: set[str]
) -> dict[str, Figure]:
    """Every figure between all draws wrong and all draws right."""
    figures = {}
    for subject, total in {
        "": known["n"],
        **{name: of["total"] for name, of in known["stored_by_subject"].items()},
    }.items():
        rows = [key for key in items if not subject or subject_of(key) == subject]
        right = sum(items[key][1] for key in rows if key not in drawn)
        draws = sum(key in drawn for key in rows)
        figures["accuracy" + f"/{subject}" * bool(subject)] = Figure(
            official=None, bounds=(right / total, (right + draws) / total), n=total
        )
    return figures


def subject_of(name: str) -> str:
    return "_".join(name.split("_")[1:-1])


def write_replies(path: Path, replies: Mapping[str, str]) -> Path:
    lines = (json.dumps({"id": name, "response": reply}) for name, reply in replies.items())
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
