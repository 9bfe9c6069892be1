"""EMMA: replies of every model with the stored verdicts, and generated replies."""

from collections.abc import Iterator, Mapping, Sequence
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
    write_json,
)

RULES, VERDICTS = "official", "judged"
STORED = {RULES: "fast_eval", VERDICTS: "stored"}
"""Our scorings, and the figures of the authors' code in expected.json."""


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    files = outputs(folder)
    cases = [
        Case(
            model=name.removesuffix(".json"),
            replies=path,
            benchmark="emma",
            data=path,
            expected=expected(known[name], items.get(name, {})) if name in known else {},
        )
        for name, path in files.items()
    ]
    rows = of_json_lines(folder / "differential.jsonl")
    return Pack(
        cases=[*cases, generated(rows, scratch)] if rows else cases,
        without_output=[name for name in known if name not in files],
    )


def outputs(folder: Path) -> dict[str, Path]:
    """The files of replies by their names in expected.json."""
    paths = sorted((folder / "outputs").rglob("*.json*"))
    names = {
        path.relative_to(folder / "outputs").as_posix().removesuffix(".gz"): path for path in paths
    }
    return {name: path for name, path in names.items() if not name.endswith("_result.json")}


def expected(known: Mapping[str, Any], items: Mapping[str, Sequence[Any]]) -> dict[str, Expected]:
    verdicts = {
        RULES: {
            name: [Item(answer=answer or "", score=fast)]
            for name, (answer, fast, _) in items.items()
        },
        VERDICTS: {name: [Item(score=stored)] for name, (*_, stored) in items.items()},
    }
    return {
        scoring: Expected(
            figures=dict(figures(known, key)) if known.get(key) else {}, items=verdicts[scoring]
        )
        for scoring, key in STORED.items()
    }


def figures(known: Mapping[str, Any], key: str) -> Iterator[tuple[str, Figure]]:
    """The authors' figures by our names. Those of categories and tasks would fill the page."""
    scores = known[key]
    published = known.get("published") or {}
    scoring = RULES if key == STORED[RULES] else VERDICTS
    yield (
        "accuracy",
        Figure(
            official=scores["average"]["accuracy"],
            n=scores["average"]["total"],
            published=published.get("accuracy"),
            reason=""
            if scoring == VERDICTS
            else "published with the verdicts of that time (judged)",
            label=f"{scoring} accuracy",
        ),
    )
    categories = scores.get("category", {})
    parts = [
        *(
            pair
            for group in ("subject", "question_type", "task")
            for pair in scores.get(group, {}).items()
        ),
        *(
            (f"{subject}_{name}", part)
            for subject, of_subject in categories.items()
            for name, part in of_subject.items()
        ),
    ]
    for name, part in parts:
        label = f"{scoring} accuracy/{name}" if name in scores.get("subject", {}) else ""
        yield (
            f"accuracy/{name}",
            Figure(official=part["accuracy"], n=part["total"], label=label),
        )


def generated(rows: Sequence[Mapping[str, Any]], scratch: Path) -> Case:
    records = {
        str(number): {
            **row,
            "pid": str(number),
            "question": "Which?",
            "options": None,
            "context": "",
            "subject": "Math",
            "task": "",
            "category": "",
            "type": "Open-ended",
        }
        for number, row in enumerate(rows)
    }
    path = write_json(scratch / "generated.json", records)
    items = {
        str(number): [Item(answer=row["extraction"] or "", score=row["right"])]
        for number, row in enumerate(rows)
    }
    return Case(
        model="generated replies",
        replies=path,
        benchmark="emma",
        data=path,
        expected={RULES: Expected(items=items)},
        proof="generated pairs",
        page="",
    )
