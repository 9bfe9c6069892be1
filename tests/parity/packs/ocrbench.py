"""OCRBench: made replies to the authors' questions, with their points."""

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
    of_json,
    of_json_lines,
    write_json,
)

NO_OUTPUTS = "no outputs of version 1 are published; the replies are generated"
TOTAL = "Final Score"


def pack(folder: Path, scratch: Path) -> Pack:
    runs = expected_of(folder).get("differential", {})
    questions = of_json(folder / "annotations.json")
    rows = of_json_lines(folder / "differential.jsonl")
    by_run: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    return Pack(
        cases=[
            case(folder, scratch, questions, run, some, runs.get(f"run{run}", {}))
            for run, some in sorted(by_run.items())
        ]
    )


def case(
    folder: Path,
    scratch: Path,
    questions: Sequence[Mapping[str, Any]],
    run: int,
    rows: Sequence[Mapping[str, Any]],
    sums: Mapping[str, Any],
) -> Case:
    replies = {row["annotation_index"]: row["prediction"] for row in rows}
    complete = sums.get("n") == len(rows)
    return Case(
        model=f"made replies {run}",
        replies=write_replies(scratch / f"run{run}.json", questions, replies),
        benchmark="ocrbench",
        data=folder / "annotations.json",
        expected={
            "official": Expected(
                figures={
                    "final_score" if name == TOTAL else f"final_score/{name}": Figure(
                        official=value, page_n=sums["n"], reason=NO_OUTPUTS, label=name
                    )
                    for name, value in sums.items()
                    if name not in ("n", "published")
                }
                if complete
                else {},
                items={
                    name_of(questions[row["annotation_index"]]): [Item(score=row["official"])]
                    for row in rows
                },
            )
        },
        proof="generated pairs",
    )


def write_replies(
    path: Path, questions: Sequence[Mapping[str, Any]], replies: Mapping[int, str]
) -> Path:
    """The authors' file of results; a question without a reply has a 0."""
    rows = [{**row, "predict": replies.get(number, 0)} for number, row in enumerate(questions)]
    return write_json(path, rows)


def name_of(question: Mapping[str, Any]) -> str:
    """Our id of a question: ids of different data sets are the same."""
    return f"{question['dataset_name']}-{question['id']}"
