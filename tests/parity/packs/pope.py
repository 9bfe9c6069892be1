"""POPE: LLaVA's replies to three sets, and made replies with the official script's verdicts."""

import json
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
from tests.parity.packs.mathvision import in_order, outputs

SPEC = "pope:release=e3e3926"
SETS = ("adversarial", "popular", "random")
FIGURES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1_score",
    "yes_ratio": "yes_ratio",
}
"""Our name of a figure, and the script's."""


def pack(folder: Path, scratch: Path) -> Pack:
    expected, files = expected_of(folder), outputs(folder)
    cases = [
        Case(
            model=model,
            replies=path,
            benchmark=SPEC,
            data=folder,
            expected={"official": Expected(figures=figures(expected[model]))}
            if model in expected
            else {},
        )
        for model, path in in_order(files, expected)
    ]
    if rows := of_json_lines(folder / "differential.jsonl"):
        cases.append(synthetic_case(rows, scratch))
    return Pack(cases=cases, without_output=[name for name in expected if name not in files])


def figures(model: dict[str, Any]) -> dict[str, Figure]:
    alone = "LLaVA's tables have only the mean of the three F1 scores"
    figures_by_name = {
        f"{ours}/{name}": Figure(official=model[name][theirs], n=model[name]["n"], reason=alone)
        for name in SETS
        if name in model
        for ours, theirs in FIGURES.items()
    }
    published = model.get("published")
    figures_by_name["mean_f1"] = Figure(
        official=model["mean_f1"],
        n=model["n"],
        published=None if published is None else published / 100,
        reason="published in percent with one decimal",
    )
    figures_by_name["mean_accuracy"] = Figure(
        official=model["mean_accuracy"], n=model["n"], reason="not published"
    )
    return figures_by_name


def synthetic_case(rows: list[dict[str, Any]], scratch: Path) -> Case:
    """Made replies to as many made questions of one set."""
    questions = [
        {"question_id": row["id"], "image": f"{row['id']}.jpg", "text": "?", "label": row["label"]}
        for row in rows
    ]
    text = "".join(json.dumps(question) + "\n" for question in questions)
    (scratch / "coco_pope_adversarial.json").write_text(text, encoding="utf-8")
    replies = {str(row["id"]): row["prediction"] for row in rows}
    return Case(
        model="made replies",
        replies=write_json(scratch / "replies.json", replies),
        benchmark="pope:sets=adversarial",
        data=scratch,
        expected={
            "official": Expected(
                items={
                    str(row["id"]): [
                        Item(score=float(row["correct"]), answer=row["official_parsed"])
                    ]
                    for row in rows
                }
            )
        },
        proof="generated pairs",
        page="",
    )
