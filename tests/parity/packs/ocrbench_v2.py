"""OCRBench v2: generated replies to all types of questions, with the scores of the authors' script
and of the copies in three toolkits."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.ocrbench_v2_rules import ABILITY_OF, RULES, count, question
from snellen.benchmarks.families.text_overlap import missing_packages
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

NO_OUTPUTS = "no model's outputs are in the packs; the replies are generated"
TOOLS = {"vlmevalkit": "vlmevalkit", "lmms-eval": "lmms", "evalscope": "evalscope"}
ROUNDED = 0.5e-3
"""The authors print three decimals."""
Row = Mapping[str, Any]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    if not rows:
        return Pack(cases=[])
    kept = [row for row in rows if not isinstance(row["score"], str) and not row["ignore"]]
    known = expected_of(folder)
    notes = [f"{len(rows) - len(kept)} rows that the authors' script stops at or leaves out"]
    if lacking := missing_packages():
        types = {row["type"] for row in kept if is_text(row)}
        kept = [row for row in kept if row["type"] not in types]
        notes.append(f"rows that need {' and '.join(lacking)} are not compared")
    cases = [case("official", kept, "score", scratch, figures(known, kept), notes)]
    for scoring, prefix in TOOLS.items():
        column = f"{prefix}_metric"
        with_score = [row for row in rows if not isinstance(row.get(column, ""), str)]
        cases.append(case(scoring, with_score, column, scratch, {}, ()))
    return Pack(cases=cases)


def is_text(row: Row) -> bool:
    """Whether BLEU and METEOR score a row."""
    return any(name in row["type"] for name in ("OCR", "fine-grained", "translation")) or (
        "简答" in row["question"]
    )


def case(
    scoring: str,
    rows: Sequence[Row],
    column: str,
    scratch: Path,
    known: Mapping[str, Figure],
    notes: Sequence[str],
) -> Case:
    folder = scratch / scoring
    picture = {"image_path": "picture.png"}
    fields = ("id", "type", "question", "answers", "eval", "bbox", "content")
    questions = [{name: row[name] for name in fields if name in row} | picture for row in rows]
    write_json(folder / "OCRBench_v2.json", questions)
    replies = [{"id": str(row["id"]), "prediction": text_of(row)} for row in rows]
    return Case(
        model="made replies",
        replies=write_json(folder / "replies.json", replies),
        benchmark="ocrbench-v2",
        data=folder,
        expected={
            scoring: Expected(
                figures=known,
                items={str(row["id"]): [Item(score=float(row[column]))] for row in rows},
            )
        },
        proof="generated pairs",
        missing="wrong",
        notes=tuple(notes),
        page="made replies" if scoring == "official" else "",
    )


def text_of(row: Row) -> str | None:
    """The reply as text. The authors read numbers as text in the rules that they apply to whole
    replies, and count them as wrong elsewhere."""
    reply = row["predict"]
    if isinstance(reply, str):
        return reply
    reads_numbers = RULES[row["type"]] in (question, count)
    is_number = isinstance(reply, int | float) and not isinstance(reply, bool) and reply == reply
    return str(reply) if reads_numbers and is_number else None


def figures(known: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Figure]:
    """The means by type, and what get_score.py prints in three decimals."""
    by_type = {
        f"score/{kind}": Figure(
            official=value, n=sum(row["type"] == kind for row in rows), reason=NO_OUTPUTS
        )
        for kind, value in known.get("mean_by_type", {}).items()
        if any(row["type"] == kind for row in rows)
    }
    if missing_packages():
        return by_type
    printed, language = {}, "en"
    for line in known.get("get_score_output", ()):
        if line.startswith(("English Scores", "Chinese Scores")):
            language = "en" if line.startswith("English") else "cn"
        elif match := re.fullmatch(r"(\w+): ([\d.]+) \(Count: (\d+)\)", line):
            ability = f"{match[1].replace('_', ' ')} ({language})"
            n = sum(ABILITY_OF[row["type"]] == ability for row in rows)
            if n == int(match[3]):
                printed[f"score/{ability}"] = rounded(float(match[2]), n)
        elif match := re.fullmatch(r"(English|Chinese) Overall Score: ([\d.]+)", line):
            printed[match[1].lower()] = rounded(float(match[2]), None)
    return {**printed, **by_type}


def rounded(value: float, n: int | None) -> Figure:
    bounds = value - ROUNDED, value + ROUNDED
    return Figure(official=value, n=n, bounds=bounds, reason=NO_OUTPUTS)
