"""VCR-wiki: made English pairs with the figures of the authors' find_best_match."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    mean,
    of_json_lines,
    write_json,
)

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg=="
)
METRICS = ("exact_match", "jaccard", "precision", "recall", "f1")
NO_OUTPUTS = "no model's outputs are published"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    return Pack(
        cases=[
            Case(
                model="generated pairs",
                replies=write_replies(scratch, rows),
                benchmark="vcr-wiki",
                data=write_data(scratch, rows),
                expected={
                    "official": Expected(
                        figures={
                            name: Figure(
                                official=mean([values(row)[name] for row in rows]),
                                n=len(rows),
                                reason=NO_OUTPUTS,
                            )
                            for name in METRICS
                        },
                        items={
                            str(number): [Item(metrics=values(row))]
                            for number, row in enumerate(rows)
                        },
                    )
                },
                proof="generated pairs",
            )
        ]
    )


def values(row: Mapping[str, Any]) -> dict[str, float]:
    """The authors' figures of a pair; a reply that their filter drops has none."""
    kept = row["kept_by_rough_filter"]
    return {name: row["official"][name] if kept else 0.0 for name in METRICS}


def write_data(folder: Path, rows: Rows) -> Path:
    """A TSV as VLMEvalKit publishes it, with a picture for each pair."""
    path = folder / "VCR-wiki-en-easy-test.tsv"
    lines = ["index\timage\tquestion\tanswer"]
    for number, row in enumerate(rows):
        cell = repr([row["answer"]]).replace('"', '""')
        lines.append(f'{number}\t{PICTURE}\twhat?\t"{cell}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_replies(folder: Path, rows: Rows) -> Path:
    replies = {
        str(number): {"res_stacked_image": row["prediction"]} for number, row in enumerate(rows)
    }
    return write_json(folder / "results.json", replies)
