"""GQA: made pairs with LAVIS's and mmpretrain's verdicts."""

from pathlib import Path

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
from tests.parity.lines import Line

SCORINGS = ("lavis", "mmpretrain")
NO_OUTPUTS = "no model's outputs are published with the right answers; the pairs are generated"
HIDDEN = (
    "the questions and their answers are not available; the figure is from LLaVA's table, and with "
    "two decimals from its issue 584"
)


def pack(folder: Path, scratch: Path) -> Pack:
    rows = [row for row in of_json_lines(folder / "differential.jsonl") if row["answer"]]
    if not rows:
        return Pack(cases=[])
    questions = [
        {"question_id": row["id"], "image": "a.jpg", "question": "?", "answer": row["answer"]}
        for row in rows
    ]
    write_json(scratch / "testdev_balanced_questions.json", questions)
    replies = [{"questionId": str(row["id"]), "prediction": row["prediction"]} for row in rows]
    return Pack(
        cases=[
            Case(
                model="made pairs",
                replies=write_json(scratch / "testdev_balanced_predictions.json", replies),
                benchmark="gqa:split=testdev_balanced",
                heading="gqa",
                data=scratch,
                expected={
                    name: Expected(
                        figures={
                            "accuracy": Figure(
                                official=mean([row[f"{name}_gqa"] for row in rows]),
                                n=len(rows),
                                reason=NO_OUTPUTS,
                                label=f"accuracy ({name})",
                            )
                        },
                        items={
                            str(row["id"]): [
                                Item(score=row[f"{name}_gqa"], answer=row["norm_prediction"])
                            ]
                            for row in rows
                        },
                    )
                    for name in SCORINGS
                },
                proof="generated pairs",
                notes=("rows without an answer are in no file of questions: not compared",),
            )
        ]
    )


def lines(folder: Path) -> list[Line]:
    """LLaVA's answers, which are published without those that are right."""
    path = folder / "outputs_unscored" / "llava-v1.5-13b.jsonl.gz"
    return [
        Line(
            benchmark="gqa",
            model="llava-v1.5-13b",
            metric="accuracy",
            n=len(of_json_lines(path)),
            published=0.6332,
            official=None,
            ours=None,
            proof="published outputs",
            reason=HIDDEN,
        )
    ]
