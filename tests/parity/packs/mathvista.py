"""MathVista: replies and extractions of every model, by the rules of today and of 2023."""

from pathlib import Path
from string import ascii_uppercase
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of, of_json
from tests.parity.packs.mathvision import in_order

GROUPS = (
    "question_type",
    "answer_type",
    "language",
    "source",
    "category",
    "task",
    "context",
    "grade",
    "skills",
)


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    problems = of_json(folder / "annotations.json")
    files = outputs(folder)
    return Pack(
        cases=[
            Case(
                model=model,
                replies=path,
                benchmark="mathvista",
                data=folder,
                expected=expected(known[model], items.get(model, {}), problems)
                if model in known
                else {},
                page="",  # test_mathvista.py has its lines
            )
            for model, path in in_order(files, known)
        ],
        without_output=[model for model in known if model not in files],
    )


def models(folder: Path) -> list[str]:
    """The models whose replies lie here, in the order of expected.json."""
    return [model for model, _ in in_order(outputs(folder), expected_of(folder))]


def outputs(folder: Path) -> dict[str, Path]:
    paths = sorted((folder / "outputs").rglob("output_*.json*"))
    return {path.name.partition(".json")[0].removeprefix("output_"): path for path in paths}


def expected(
    model: dict[str, Any], items: dict[str, Any], problems: dict[str, Any]
) -> dict[str, Expected]:
    """By the rule as it is, and by the one of 2023, which has no answers of its own."""
    now, older = model["scores"], model["legacy_integer_rule"]["scores"]
    return {
        "official": Expected(
            figures=figures(now),
            items={
                name: [Item(score=right, answer=letter(prediction, problems[name]))]
                for name, (prediction, right, _) in items.items()
            },
        ),
        "official-2023": Expected(
            figures=figures(older),
            items={name: [Item(score=right)] for name, (_, _, right) in items.items()},
        ),
    }


def figures(scores: dict[str, Any]) -> dict[str, Figure]:
    parts = {"accuracy": scores["average"]["all"]}
    for group in GROUPS:
        parts |= {f"accuracy/{name}": part for name, part in scores[group].items()}
    return {
        metric: Figure(official=part["accuracy"], n=part["total"]) for metric, part in parts.items()
    }


def letter(prediction: str | None, problem: dict[str, Any]) -> str | None:
    """Our answer for the authors' normalized prediction; a choice is a letter here."""
    choices = problem["choices"]
    if prediction is None or not choices:
        return prediction
    return ascii_uppercase[choices.index(prediction)]
