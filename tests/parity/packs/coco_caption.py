"""COCO captions: made captions with the figures of coco-caption."""

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

METRICS = {
    "cider": "CIDEr",
    "bleu_4": "Bleu_4",
    "bleu_3": "Bleu_3",
    "bleu_2": "Bleu_2",
    "bleu_1": "Bleu_1",
    "rouge_l": "ROUGE_L",
}
"""Our name of a figure, and theirs; METEOR needs Java, and there is none here."""
REASON = (
    "the captions are generated; published figures could be checked only for the captions of the "
    "authors' demo, whose references are not available"
)


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    expected = expected_of(folder).get("differential", {})
    complete = expected.get("n") == len(rows)
    return Pack(
        cases=[
            Case(
                model="made captions",
                replies=write_files(scratch, rows),
                benchmark="coco-captions:split=val2014",
                heading="coco-captions",
                data=scratch,
                expected={
                    "official": Expected(
                        figures={
                            ours: Figure(official=expected[theirs], n=len(rows), reason=REASON)
                            for ours, theirs in METRICS.items()
                        }
                        if complete
                        else {},
                        items={str(row["id"]): [Item(metrics=alone(row))] for row in rows},
                    )
                },
                proof="generated pairs",
                notes=("CIDEr of one caption depends on all of them: not compared by row",),
            )
        ]
    )


def alone(row: Mapping[str, Any]) -> dict[str, float]:
    """The figures of one caption that do not depend on the others."""
    return {ours: row["official"][name] for ours, name in METRICS.items() if ours != "cider"}


def write_files(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """The references and a file of results as the server takes it."""
    content = {
        "info": {},
        "images": [{"id": row["id"], "file_name": f"{row['id']}.jpg"} for row in rows],
        "annotations": [
            {"id": 10 * row["id"] + number, "image_id": row["id"], "caption": caption}
            for row in rows
            for number, caption in enumerate(row["references"])
        ],
    }
    write_json(folder / "captions_val2014.json", content)
    results = [{"image_id": row["id"], "caption": row["prediction"]} for row in rows]
    return write_json(folder / "captions_val2014_made_results.json", results)
