"""BLINK: replies and stored predictions of every model, and the letters that rules find."""

from collections.abc import Mapping
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
    mean,
    of_json,
    write_json,
)


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    data = next((folder / "annotations").glob("val_answers.json*"))
    right = of_json(data)
    models = sorted(path for path in (folder / "outputs").iterdir() if path.is_dir())
    cases = []
    for path in models:
        model = path.name
        case = Case(model=model, replies=path, benchmark="blink", data=data, expected={})
        if model not in known:  # an ablation that the authors do not score
            cases.append(case)
            continue
        stored = {
            name: [Item(score=float(score), answer=prediction or "")]
            for name, (prediction, score, _) in items[model].items()
        }
        official = Expected(figures=figures(known[model]), items=stored)
        cases += [
            Case(
                model=model,
                replies=path,
                benchmark="blink",
                data=data,
                expected={"official": official},
            ),
            Case(
                model=f"{model}, by rule",
                page="",
                replies=write_json(scratch / f"{model}.json", replies(path)),
                benchmark="blink",
                data=data,
                expected={"official": by_rule(known[model], items[model], right)},
                missing="excluded",  # no rule decides an empty reply
            ),
        ]
    names = {path.name for path in models}
    return Pack(cases=cases, without_output=[name for name in known if name not in names])


def figures(known: Mapping[str, Any]) -> dict[str, Figure]:
    published = known.get("published")
    total = Figure(
        official=known["Total"],
        n=known["n"],
        published=None if published is None else published / 100,
        reason="" if known["note"] == "reproduced" else known["note"],
    )
    subtasks = {
        f"accuracy/{name}": Figure(official=part["acc"], n=part["n"])
        for name, part in known["subtasks"].items()
    }
    micro = Figure(official=known["extra:micro"], n=known["n"])
    return {"accuracy": total, **subtasks, "micro_accuracy": micro}


def by_rule(
    known: Mapping[str, Any], items: Mapping[str, Any], right: Mapping[str, str]
) -> Expected:
    """The letters of the replies that rules decide. `n` shows that no other reply is decided."""
    letters = {name: letter for name, (_, _, letter) in items.items() if letter is not None}
    assert len(letters) == known["extra:rule_decides"]
    scores = {name: float(letter == right[name]) for name, letter in letters.items()}
    accuracy = mean([*scores.values()])
    return Expected(
        figures={"micro_accuracy": Figure(official=accuracy, n=len(letters))},
        items={name: [Item(score=scores[name], answer=letter)] for name, letter in letters.items()},
    )


def replies(path: Path) -> list[dict[str, str]]:
    """The replies alone. A reply that is no text raises an error in the authors' rules: none of
    them has a letter."""
    rows = [row for file in sorted(path.glob("*.json*")) for row in of_json(file)["val"]]
    return [
        {"id": row["idx"], "prediction": row["full_prediction"]}
        for row in rows
        if isinstance(row["full_prediction"], str)
    ]
