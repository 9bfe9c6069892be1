"""TableVQA-Bench: GPT-4V's outputs with the authors' verdicts, and made pairs with their scores."""

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
    mean,
    of_json,
    of_json_lines,
    write_json,
)

SCORINGS = ("official", "exact")
"""Our scorings, in the order of the authors' scores of a row; only fintabnetqa has the second."""
UNPUBLISHED = "the pairs are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    cases, names = [], set()
    for path in sorted((folder / "outputs").rglob("*.json*")):
        content = of_json(path)
        rows = content["instances"] if isinstance(content, dict) else content
        part = path.name.partition(".")[0]
        names.add(part)
        scores = dict(items.get(part, {}))
        if isinstance(content, dict):  # the authors' own verdicts, for the same replies
            scores = {row["qa_id"]: [*row["scores"].values()] for row in rows}
        cases.append(case(path.parent.name, part, rows, path, scores, expected.get(part, {})))
    generated = of_json_lines(folder / "differential.jsonl")
    for part in dict.fromkeys(row["part"] for row in generated):
        some = [row for row in generated if row["part"] == part]
        rows = [
            {"qa_id": str(number), "question": "?", "gt": row["gt"], "pred": row["pred"]}
            for number, row in enumerate(some)
        ]
        path = write_json(scratch / "made" / f"{part}.json", rows)
        scores = {str(number): row["scores"] for number, row in enumerate(some)}
        cases.append(case("made pairs", part, rows, path, scores, {}))
    return Pack(cases=cases, without_output=[part for part in expected if part not in names])


def case(
    model: str,
    part: str,
    rows: Sequence[Mapping[str, Any]],
    replies: Path,
    scores: Mapping[str, Sequence[float | None]],
    known: Mapping[str, Any],
) -> Case:
    generated = model == "made pairs"
    # The first score is the relieved one. The authors write null for a reply that is both true and
    # false, and count it as not right.
    columns = {
        scoring: {name: float(row[column] or 0) for name, row in scores.items()}
        for column, scoring in enumerate(SCORINGS)
        if all(len(row) > column for row in scores.values())
    }
    return Case(
        model=f"{model} {part}",
        replies=replies,
        benchmark=f"tablevqa-bench:part={part}",
        data=replies,
        expected={
            scoring: Expected(
                figures=figures([*column.values()], generated, known, scoring),
                items={f"{part}-{name}": [Item(score=score)] for name, score in column.items()},
            )
            for scoring, column in columns.items()
        },
        proof="generated pairs" if generated else "published outputs",
        page="" if model.endswith("evaluated") else model,
        heading="tablevqa-bench",
    )


def figures(
    scores: Sequence[float], generated: bool, known: Mapping[str, Any], scoring: str
) -> dict[str, Figure]:
    """The mean of the verdicts, and the figures in expected.json: exact, and as the authors round
    them."""
    name = next((key for key in names_of(scoring) if key in known), None)
    label = "{}" if scoring == "official" else f"{{}} ({scoring})"
    if name is None:
        accuracy = Figure(
            official=mean(scores) if scores else None,
            n=len(scores),
            reason=UNPUBLISHED * generated,
            label=label.format("accuracy"),
        )
        return {"accuracy": accuracy}
    figure, published = known[name], known["published"]
    return {
        "accuracy": Figure(official=figure["exact_percent"] / 100, n=known["n"], label=""),
        "average": Figure(
            official=figure["percent"] / 100,
            n=known["n"],
            published=published[name] / 100 if name in published else None,
            label=label.format("average"),
        ),
    }


def names_of(scoring: str) -> tuple[str, ...]:
    """The names of a scoring's figures in expected.json."""
    return ("relieved", "accuracy") if scoring == "official" else ("exact",)
