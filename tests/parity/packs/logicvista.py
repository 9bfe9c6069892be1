"""LogicVista: the authors' tables of results of every model, and their replies by rule."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.data import file_content
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    items_of,
    of_json,
    write_json,
)

TABLE = "-accuracy-results.csv"
NO_LETTERS = ([""], ["zzzzz"])


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    data = write_json(
        scratch / "dataset.json", of_json(next((folder / "annotations").glob("dataset.json*")))
    )
    paths = sorted((folder / "outputs").rglob(f"*{TABLE}*"))
    tables = {path.name.partition(TABLE)[0]: path for path in paths}
    answers = sorted((folder / "outputs").rglob("*-answers.json*"))
    cases = [
        Case(
            model=model,
            replies=path,
            benchmark="logicvista",
            data=data,
            expected={"official": of_table(known[model], items[model])} if model in known else {},
        )
        for model, path in tables.items()
    ]
    for path in answers:
        model = next((name for name in items if raw(tables.get(name)) == texts(path)), None)
        cases.append(
            Case(
                model=f"{path.name.partition('-answers')[0]}, by rule",
                page="",
                replies=path,
                benchmark="logicvista",
                data=data,
                expected={"official": by_rule(items[model], texts(path))} if model else {},
                missing="excluded",
            )
        )
    return Pack(cases=cases, without_output=[name for name in known if name not in tables])


def of_table(known: Mapping[str, Any], items: Mapping[str, Any]) -> Expected:
    parts = known["reasoning_skill_and_capability"]
    return Expected(
        figures={
            "accuracy" if name == "Total" else f"accuracy/{name.lower()}": Figure(
                official=part["percent"] / 100, n=part["total"]
            )
            for name, part in parts.items()
        },
        items={
            name: [Item(score=float(score), answer=answer(extracted))]
            for name, (extracted, _, score) in items.items()
        },
    )


def by_rule(items: Mapping[str, Any], replies: Mapping[str, str]) -> Expected:
    """The items that rules decide: a reply without text, or one sign that is no choice. The lists
    that predate the rule have the same verdicts."""
    decided = {
        name: items[name]
        for name, text in replies.items()
        if not text.strip()
        or (len(text.strip()) == 1 and text.strip().lower() not in "abcde0123456789")
    }
    return Expected(
        items={
            name: [
                Item(
                    score=float(score),
                    answer=answer(extracted) if extracted in NO_LETTERS else None,
                )
            ]
            for name, (extracted, _, score) in decided.items()
        }
    )


def answer(extracted: list[str]) -> object:
    return "" if extracted in ([], [""]) else tuple(extracted)


def raw(table: Path | None) -> dict[str, str] | None:
    """The replies in a table of results."""
    if table is None:
        return None
    rows = csv.DictReader(io.StringIO(file_content(table).decode(), newline=""))
    return {
        row["id"]: next(value for name, value in row.items() if name.endswith(" answer raw"))
        for row in rows
    }


def texts(answers: Path) -> dict[str, str]:
    """The replies in a file of answers, cut as the authors' script cuts them."""
    replies = {name: row["answer"] for name, row in of_json(answers).items()}
    return {
        name: text.split("ASSISTANT:")[1] if "ASSISTANT:" in text else text
        for name, text in replies.items()
    }
