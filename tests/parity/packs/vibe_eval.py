"""Vibe-Eval: published replies with the ratings of the authors' judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of

REPRODUCED = "reproduced"
"""The first word of a note on figures that the stored ratings give."""


def pack(folder: Path, scratch: Path) -> Pack:
    models = expected_of(folder)
    items = items_of(folder)
    paths = {
        path.name.partition(".jsonl")[0]: path
        for path in sorted((folder / "outputs" / "results").rglob("*.jsonl*"))
        if "_summary." not in path.name
    }
    cases = [
        Case(
            model=model,
            replies=path,
            benchmark="vibe-eval",
            data=folder,
            expected={
                "official": Expected(
                    figures=figures(models[model]),
                    items={
                        name: [Item(score=(stored - 1) / 4, answer=float(read))]
                        for name, (read, stored) in items.get(model, {}).items()
                        if read is not None and stored is not None
                    },
                )
            }
            if models.get(model, {}).get("n")
            else {},
        )
        for model, path in paths.items()
    ]
    return Pack(cases=cases, without_output=[name for name in models if name not in paths])


def figures(model: Mapping[str, Any]) -> dict[str, Figure]:
    published = model.get("published") or {}
    counts = {"all": model.get("n"), **model.get("n_by_category", {})}
    note = model.get("note", "")
    return {
        "score" if part == "all" else f"score/{part}": Figure(
            official=None if model.get(part) is None else model[part] / 100,
            n=counts.get(part),
            published=published[part] / 100 if part in published else None,
            reason="" if note.startswith(REPRODUCED) else note,
        )
        for part in ("all", "difficulty-hard", "difficulty-normal")
    }
