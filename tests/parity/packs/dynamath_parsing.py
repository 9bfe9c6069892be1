"""DynaMath: made replies, as the authors' script and VLMEvalKit score them."""

import base64
import csv
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
    of_json_lines,
    write_json,
)

PICTURE = base64.b64encode(bytes(range(60))).decode()
"""Bytes that nobody opens here."""
COLUMNS = ("qid", "answer", "answer_type", "subject", "knowledge_level")
NO_OUTPUTS = "no model's replies are published; the replies are generated"


def pack(folder: Path, scratch: Path) -> Pack:
    rows, expected = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    if not rows:
        return Pack(cases=[])
    write_sheet(scratch / "DynaMath.tsv", rows)
    replies = [{"index": row["id"], "prediction": row["prediction"]} for row in rows]
    return Pack(
        cases=[
            Case(
                model="made replies",
                replies=write_json(scratch / "replies.json", replies),
                benchmark="DynaMath",
                heading="dynamath",
                data=scratch,
                expected={
                    "official": Expected(
                        figures=dict(figures(expected.get("official", {}), rows)),
                        items={
                            str(row["id"]): [
                                Item(
                                    score=float(row["official"] == "correct"),
                                    answer=row["official_short_answer"],
                                )
                            ]
                            for row in rows
                        },
                    ),
                    "vlmevalkit": Expected(
                        figures=dict(figures(expected.get("vlmevalkit", {}), rows, "vlmevalkit")),
                        items={
                            str(row["id"]): [
                                Item(
                                    score=float(row["vlmevalkit_correct"]),
                                    answer=None if row["vlmevalkit_parse"] else "",
                                )
                            ]
                            for row in rows
                        },
                    ),
                },
                proof="generated pairs",
            )
        ]
    )


def figures(
    known: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], scoring: str = ""
) -> Iterator[tuple[str, Figure]]:
    if not known:
        return
    average, worst, n = known["average"], known["worst_case"], known["questions"]
    ratio = worst / average if average else None
    values = {"average": (average, len(rows)), "worst_case": (worst, n), "robustness": (ratio, n)}
    for subject, value in known["average_by_subject"].items():
        values[f"average/{subject}"] = (value, sum(row["subject"] == subject for row in rows))
    for metric, (value, count) in values.items():
        label = f"{metric} ({scoring})" if scoring else None
        yield metric, Figure(official=value, n=count, reason=NO_OUTPUTS, label=label)


def write_sheet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows as VLMEvalKit publishes questions, with one picture for all of them."""
    columns = ("index", "image", "question", "varid", *COLUMNS)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t")
        writer.writeheader()
        for row in rows:
            # A short cell is the index of the row that has the picture.
            image = PICTURE if row is rows[0] else rows[0]["id"]
            cells = {"index": row["id"], "question": "Which?", "varid": row["variant"]}
            writer.writerow({**cells, "image": image} | {name: row[name] for name in COLUMNS})
