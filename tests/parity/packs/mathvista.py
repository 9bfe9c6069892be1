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
COLUMNS = {
    "task": (
        "figure question answering",
        "geometry problem solving",
        "math word problem",
        "textbook question answering",
        "visual question answering",
    ),
    "skills": (
        "algebraic reasoning",
        "arithmetic reasoning",
        "geometry reasoning",
        "logical reasoning",
        "numeric commonsense",
        "scientific reasoning",
        "statistical reasoning",
    ),
}
"""The columns of the leaderboard, which are on docs/parity.md."""
REASONS = {
    "testmini_template_for_leaderboard_submission": "the template's predictions are the most "
    "frequent answers, but its figures are those of random answers",
    "chatgpt": "published over 222 problems; the file has 223",
}
BY_OTHER_RULE = {
    "official": "published by the rule of 2023 (official-2023)",
    "official-2023": "published by the current rule (official)",
}


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
                expected=expected(model, known[model], items.get(model, {}), problems)
                if model in known
                else {},
            )
            for model, path in in_order(files, known)
        ],
        without_output=[model for model in known if model not in files],
    )


def models(folder: Path) -> list[str]:
    """The models whose replies lie here, of those in expected.json and in its order."""
    files = outputs(folder)
    return [model for model in expected_of(folder) if model in files]


def outputs(folder: Path) -> dict[str, Path]:
    paths = sorted((folder / "outputs").rglob("output_*.json*"))
    return {path.name.partition(".json")[0].removeprefix("output_"): path for path in paths}


def expected(
    name: str, model: dict[str, Any], items: dict[str, Any], problems: dict[str, Any]
) -> dict[str, Expected]:
    """By the rule as it is, and by the one of 2023, which has no answers of its own."""
    now, older = parts(model["scores"]), parts(model["legacy_integer_rule"]["scores"])
    printed = columns(model.get("published", {}))
    return {
        "official": Expected(
            figures=figures(name, "official", now, printed, on_page={*printed}),
            items={
                name: [Item(score=right, answer=letter(prediction, problems[name]))]
                for name, (prediction, right, _) in items.items()
            },
        ),
        "official-2023": Expected(
            figures=figures(
                name,
                "official-2023",
                older,
                printed,
                on_page={metric for metric in printed if older[metric] != now[metric]},
            ),
            items={name: [Item(score=right)] for name, (_, _, right) in items.items()},
        ),
    }


def parts(scores: dict[str, Any]) -> dict[str, tuple[float, int]]:
    """Accuracy and number of problems by our name of the metric, leaderboard columns first."""
    categories = [(group, name) for group, names in COLUMNS.items() for name in names]
    categories += [(group, name) for group in GROUPS for name in scores[group]]
    entries = {"accuracy": scores["average"]["all"]}
    entries |= {f"accuracy/{name}": scores[group][name] for group, name in categories}
    return {metric: (part["accuracy"], part["total"]) for metric, part in entries.items()}


def columns(published: dict[str, Any]) -> dict[str, float]:
    """The published figures of the leaderboard's columns, which are percent as text."""
    if not published:
        return {}
    return {"accuracy": float(published["average"]["accuracy"]) / 100} | {
        f"accuracy/{name}": float(published[group][name]["accuracy"]) / 100
        for group, names in COLUMNS.items()
        for name in names
    }


def figures(
    model: str,
    scoring: str,
    official: dict[str, tuple[float, int]],
    printed: dict[str, float],
    on_page: set[str],
) -> dict[str, Figure]:
    return {
        metric: Figure(
            official=accuracy,
            n=n,
            published=printed.get(metric),
            reason=reason(model, scoring, accuracy, printed.get(metric)),
            label=f"{scoring} {metric}" if metric in on_page else "",
        )
        for metric, (accuracy, n) in official.items()
    }


def reason(model: str, scoring: str, official: float, published: float | None) -> str:
    if published is None or abs(official - published) <= 0.00005 + 1e-12:
        return ""
    return REASONS.get(model, BY_OTHER_RULE[scoring])


def letter(prediction: str | None, problem: dict[str, Any]) -> str | None:
    """Our answer for the authors' normalized prediction; a choice is a letter here."""
    choices = problem["choices"]
    if prediction is None or not choices:
        return prediction
    return ascii_uppercase[choices.index(prediction)]
