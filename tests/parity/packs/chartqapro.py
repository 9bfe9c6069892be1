"""ChartQAPro: made replies with the scores of the authors' script and of lmms-eval."""

import base64
import csv
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
    of_json_lines,
    write_json,
)

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    known = expected_of(folder)
    kept = [row for row in rows if not isinstance(row["official"], str)]
    figures = {
        f"relaxed_accuracy/{kind}" if kind != "Overall" else "relaxed_accuracy": value
        for kind, value in known.get("official", {}).items()
    }
    note = f"{len(rows) - len(kept)} rows at which the authors' script stops: no score"
    overall = known.get("lmms_eval_overall")
    return Pack(
        cases=[
            case("official", kept, scratch / "official", figures, note),
            case("lmms-eval", rows, scratch / "lmms_eval", {"relaxed_accuracy": overall}),
        ]
    )


def case(
    scoring: str, rows: Rows, folder: Path, figures: Mapping[str, float | None], *notes: str
) -> Case:
    folder.mkdir()
    write_sheet(folder / "chartqapro.tsv", rows)
    replies = [{"index": row["id"], "prediction": row["prediction"]} for row in rows]
    column = scoring.replace("-", "_")
    return Case(
        model="made replies",
        replies=write_json(folder / "replies.json", replies),
        benchmark="chartqapro",
        data=folder,
        expected={
            scoring: Expected(
                figures={
                    metric: Figure(
                        official=value,
                        n=len(rows) if metric == "relaxed_accuracy" else None,
                        reason=NO_OUTPUTS,
                        label=metric if scoring == "official" else f"{metric} ({scoring})",
                    )
                    for metric, value in figures.items()
                },
                items={str(row["id"]): [Item(score=row[column])] for row in rows},
            )
        },
        proof="generated pairs",
        notes=notes,
    )


def write_sheet(path: Path, rows: Rows) -> None:
    columns = ("index", "image", "question", "answer", "question_type", "year", "paragraph")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    "index": row["id"],
                    # A short cell is the index of the row that has the picture.
                    "image": PICTURE if row is rows[0] else rows[0]["id"],
                    "question": ["What?"],
                    "answer": row["answer"],
                    "question_type": row["question_type"],
                    "year": row["year"],
                }
            )
