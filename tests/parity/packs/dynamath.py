"""DynaMath: published verdicts on 501 questions in ten variants, with the paper's figures."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
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
    write_json,
)

SUFFIX = "-result.csv"
LEADERBOARD = "the leaderboard's figure does not follow from the published verdicts"


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    files = {
        path.name.removesuffix(SUFFIX): path
        for path in sorted((folder / "outputs").glob(f"*{SUFFIX}"))
    }
    return Pack(
        cases=[
            Case(
                model=model,
                replies=path,
                benchmark="dynamath",
                data=write_questions(path, scratch / model),
                expected={
                    "official": Expected(
                        figures=dict(figures(expected[model])) if model in expected else {},
                        items=verdicts(items.get(model, {})),
                    )
                }
                if model in expected or model in items
                else {},
            )
            for model, path in files.items()
        ],
        without_output=[model for model in expected if model not in files],
    )


def verdicts(items: Mapping[str, str]) -> dict[str, list[Item]]:
    return {
        f"{question.removeprefix('Q')}-{variant}": [Item(score=float(digit))]
        for question, digits in items.items()
        for variant, digit in enumerate(digits, 1)
    }


def figures(model: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    board = model.get("published", {}).get("leaderboard", {})
    n, variants = model["n"], len(model["correct_per_variant"])
    average, worst = model["average"], model["worst_case"]
    yield "average", figure(average, n * variants, board.get("average", {}).get("all"))
    yield "worst_case", figure(worst, n, board.get("worst_case", {}).get("all"))
    yield "best_case", figure(model["best_case"], n)
    yield "robustness", figure(100 * worst / average, n) if average else Figure(official=None)
    csv_averages = model.get("published", {}).get("A_avg", [None] * variants)
    per_variant = zip(model["average_per_variant"], csv_averages, strict=True)
    for number, (value, published) in enumerate(per_variant, 1):
        yield f"average/variant {number}", figure(value, n, published)
    for name, part in chain(model["topic"].items(), model["level"].items()):
        shown = {kind: board.get(kind, {}).get(name) for kind in ("average", "worst_case")}
        yield f"average/{name}", figure(part["average"], part["n"] * variants, shown["average"])
        yield f"worst_case/{name}", figure(part["worst"], part["n"], shown["worst_case"])


def figure(value: float, n: int, published: float | None = None) -> Figure:
    return Figure(
        official=value / 100,
        n=n,
        published=None if published is None else published / 100,
        reason=LEADERBOARD,
    )


def write_questions(path: Path, folder: Path) -> Path:
    """The authors' folder of trials, with the topics and levels of a file of verdicts. The
    questions and answers are made up: the verdicts do not depend on them."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = [row for row in csv.DictReader(lines) if row["Topic"]]
    for variant in (name for name in (rows[0] if rows else ()) if name.startswith("Variant ")):
        name = f"trial{variant.removeprefix('Variant ')}"
        write_json(folder / name / "dataset.json", questions(rows))
    return folder


def questions(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {
        row["Question ID"].removeprefix("Q"): {
            "question": "Which?",
            "answer": "A",
            "image": "image/image.png",
            "answer_type": "multiple choice",
            "subject": row["Topic"],
            "level": row["Difficulty Level"],
        }
        for row in rows
    }
