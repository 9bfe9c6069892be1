"""VQAv2: made pairs of a reply and ten answers, with the scores of four public scorers."""

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
from tests.parity.packs import textvqa

QUESTIONS = "v2_OpenEnded_mscoco_val2014_questions.json"
ANNOTATIONS = "v2_mscoco_val2014_annotations.json"
SCORINGS = ("official", "lavis", "mmpretrain")
NO_OUTPUTS = "no model's outputs are published with the right answers; the pairs are generated"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    replies = {row["id"]: row["prediction"] for row in rows}
    return Pack(
        cases=[
            Case(
                model="made pairs",
                replies=write_files(scratch, rows, replies),
                benchmark="vqav2",
                data=scratch,
                expected={
                    name: Expected(
                        figures=figures(rows, name),
                        items={str(row["id"]): [Item(score=score_of(row, name))] for row in rows},
                    )
                    for name in SCORINGS
                },
                proof="generated pairs",
            ),
            # VLMEvalKit's rule is TextVQA's there.
            textvqa.case(rows, "vlmevalkit", "vlmevalkit_vqa_score", scratch / "textvqa"),
        ]
    )


def score_of(row: Mapping[str, Any], scoring: str) -> float:
    return float(row["official"]["acc"] if scoring == "official" else row[f"{scoring}_acc"])


def figures(rows: Rows, scoring: str) -> dict[str, Figure]:
    groups = {"accuracy": rows}
    if scoring == "official":
        for tag in ("answer_type", "question_type"):
            for name in sorted({row[tag] for row in rows}):
                groups[f"accuracy/{name}"] = [row for row in rows if row[tag] == name]
    return {
        metric: Figure(
            official=mean([score_of(row, scoring) for row in group]),
            n=len(group),
            reason=NO_OUTPUTS,
            label=metric if scoring == "official" else f"{scoring} {metric}",
        )
        for metric, group in groups.items()
    }


def write_files(folder: Path, rows: Rows, replies: Mapping[int, str]) -> Path:
    """The questions, the answers, and a file of results, all as the authors have them."""
    questions = [{"image_id": row["id"], "question": "?", "question_id": row["id"]} for row in rows]
    annotations = [
        {
            "question_type": row["question_type"],
            "answer_type": row["answer_type"],
            "image_id": row["id"],
            "question_id": row["id"],
            "answers": [
                {"answer": answer, "answer_confidence": "yes", "answer_id": number}
                for number, answer in enumerate(row["answers"], 1)
            ],
        }
        for row in rows
    ]
    write_json(folder / QUESTIONS, {"questions": questions})
    write_json(folder / ANNOTATIONS, {"annotations": annotations})
    results = [{"question_id": name, "answer": reply} for name, reply in replies.items()]
    return write_json(folder / "results.json", results)
