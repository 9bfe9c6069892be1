"""MMLongBench-Doc: made replies of the extractor, with the scores of the authors and toolkits."""

import re
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

LINE = re.compile(
    r"(?:(?P<head>Evidence Sources|Document Type): )?(?P<name>.*?)(?: \| Accuracy)?: "
    r"(?P<value>[-+.\de]+) \| Question Number: (?P<n>\d+)"
)
SOURCES = {
    "Pure-text (Plain-text)": "text",
    "Generalized-text (Layout)": "layout",
    "Table": "table",
    "Chart": "chart",
    "Figure": "figure",
}
METRICS = {
    **{"Overall Acc": "accuracy", "overall_acc": "accuracy", "Overall F1-score": "f1"},
    **{"overall_f1": "f1", "acc": "accuracy", "image": "accuracy/figure"},
    "Single-page": "accuracy/single-page",
    "Cross-page": "accuracy/cross-page",
    "Unanswerable": "accuracy/unanswerable",
    "unanswerable": "accuracy/no page",  # in VLMEvalKit
}
NO_OUTPUTS = "no model's outputs are in the packs; the extractor's replies are generated"
Rows = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    rows, known = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    if not rows:
        return Pack(cases=[])
    questions = [
        {
            "doc_id": "a.pdf",
            "question": "?",
            **{
                name: row[name]
                for name in (
                    *("doc_type", "answer", "answer_format"),
                    *("evidence_pages", "evidence_sources"),
                )
            },
        }
        for row in rows
    ]
    write_json(scratch / "data/samples.json", questions)
    write_json(scratch / "tmp/a_1.png", "nobody opens it")
    official = [
        {**question, "response": "?", "extracted_res": row["extractor_reply"]}
        for question, row in zip(questions, rows, strict=True)
    ]
    kit = [
        {"index": number, "prediction": "?", "res": row["extractor_reply"]}
        for number, row in enumerate(rows)
    ]
    texts = [row["extractor_reply"] if row["pred"] is None else row["pred"] for row in rows]
    direct = [{"id": str(number), "response": text} for number, text in enumerate(texts)]
    return Pack(
        cases=[
            case("official", scratch, official, authors(rows, known)),
            case("vlmevalkit", scratch, kit, vlmevalkit(rows, known)),
            case("lmms-eval", scratch, direct, lmms_eval(rows, known)),
        ]
    )


def case(scoring: str, folder: Path, replies: object, expected: Expected) -> Case:
    return Case(
        model="made replies",
        replies=write_json(folder / f"{scoring}.json", replies),
        benchmark="mmlongbench-doc",
        data=folder,
        expected={scoring: expected},
        proof="generated pairs",
    )


def authors(rows: Rows, known: Mapping[str, Any]) -> Expected:
    figures = {}
    for line in known.get("official_report", ()):
        if match := LINE.fullmatch(line):
            name = match["name"]
            metric = METRICS.get(name) or f"accuracy/{SOURCES.get(name, name)}"
            figures[metric] = Figure(
                official=float(match["value"]), n=int(match["n"]), reason=NO_OUTPUTS
            )
    return Expected(
        figures=figures,
        items={
            str(number): [
                # An exception is stored as a failed extraction with the score 0.
                Item(score=0.0, answer="Failed to extract")
                if isinstance(row["official_score"], str)
                else Item(score=row["official_score"], answer=row["pred"])
            ]
            for number, row in enumerate(rows)
        },
    )


def vlmevalkit(rows: Rows, known: Mapping[str, Any]) -> Expected:
    return Expected(
        figures={
            metric: Figure(
                official=line["avg_score"],
                n=line["num"],
                reason=NO_OUTPUTS,
                label=f"{metric} (vlmevalkit)",
            )
            for line in known.get("vlmevalkit", ())
            for metric in [METRICS.get(line["category"], f"accuracy/{line['category']}")]
            if line["num"]
        },
        items={
            str(number): [Item(score=row["vlmevalkit_score"], answer=row["vlmevalkit_pred"])]
            for number, row in enumerate(rows)
            if not isinstance(row["vlmevalkit_score"], str)
        },
    )


def lmms_eval(rows: Rows, known: Mapping[str, Any]) -> Expected:
    return Expected(
        figures={
            METRICS.get(name, name): Figure(
                official=value, n=len(rows), reason=NO_OUTPUTS, label=f"{name} (lmms-eval)"
            )
            for name, value in known.get("lmms_eval", {}).items()
        },
        items={
            str(number): [Item(score=row["lmms_score_on_reply_text"])]
            for number, row in enumerate(rows)
        },
    )
