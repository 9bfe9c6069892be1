"""MATH-Vision: replies of every model, with the authors' verdict on each."""

from pathlib import Path
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of

LATER = "on the authors' own file, their own script counts one more right answer than their table"


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    files = outputs(folder)
    return Pack(
        cases=[
            Case(
                model=model,
                replies=path,
                benchmark="mathvision",
                data=folder,
                expected={
                    "official": Expected(
                        figures=figures(expected[model]), items=verdicts(items.get(model, {}))
                    )
                }
                if model in expected
                else {},
            )
            for model, path in in_order(files, expected)
        ],
        without_output=[model for model in expected if model not in files],
    )


def models(folder: Path) -> list[str]:
    """The models whose replies lie here, of those in expected.json and in its order."""
    files = outputs(folder)
    return [model for model in expected_of(folder) if model in files]


def outputs(folder: Path) -> dict[str, Path]:
    """The files of replies by model, some of them gzipped."""
    paths = sorted((folder / "outputs").rglob("*.jsonl*"))
    return {path.name.partition(".jsonl")[0]: path for path in paths}


def in_order(files: dict[str, Path], models: dict[str, Any]) -> list[tuple[str, Path]]:
    """Files in the order of expected.json, those without an entry last."""
    order = [*(name for name in models if name in files), *(name for name in files)]
    return [(name, files[name]) for name in dict.fromkeys(order)]


def figures(model: dict[str, Any]) -> dict[str, Figure]:
    scores, published = model.get("scores", {}), model.get("published", {})
    return {
        metric: Figure(
            official=scores[key]["percent"] / 100,
            n=scores[key]["total"],
            published=published[key]["percent"] / 100 if key in published else None,
            reason=LATER if key in model.get("differs_from_published", {}) else "",
            label="" if "_level" in metric else None,  # they would fill the page
        )
        for key in scores
        if (metric := metric_of(key)) is not None
    }


def metric_of(key: str) -> str | None:
    """Our name of a category; None for those that stand there twice or are not the authors'."""
    if key == "-all":
        return "accuracy"
    if key.startswith("-level") and "_" not in key:
        return f"accuracy/{key[1:]}"
    return None if key.startswith(("-", "extra:")) else f"accuracy/{key}"


def verdicts(items: dict[str, Any]) -> dict[str, list[Item]]:
    return {name: [Item(answer=answer, score=score)] for name, (answer, score) in items.items()}
