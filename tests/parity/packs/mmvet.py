"""MM-Vet: published grades of LLaVA's replies, and the replies alone."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Pack, expected_of, of_json_lines, write_json

GRADES = re.compile(r"(?P<model>.+)_gpt-4-grade-(?P<runs>\d+)runs\.json")


def pack(folder: Path, scratch: Path) -> Pack:
    expected = expected_of(folder)
    write_questions(folder, scratch)
    names = set()
    cases = []
    for path in sorted((folder / "outputs").rglob("*.json*")):
        matched = GRADES.fullmatch(path.name)
        if matched is None:
            cases.append(
                Case(model=path.name, replies=path, benchmark="mm-vet", data=folder, expected={})
            )
            continue
        runs = int(matched["runs"])
        name = f"{matched['model']}/{runs}run"
        names.add(name)
        known = expected.get(name)
        cases.append(
            Case(
                model=name,
                page=f"{spelled(matched['model'])}, {runs} run{'s' * (runs > 1)} of GPT-4",
                replies=path,
                benchmark="mm-vet",
                data=scratch,
                expected={} if known is None else {"official": figures(known)},
            )
        )
    return Pack(cases=cases, without_output=[name for name in expected if name not in names])


def figures(known: Mapping[str, Any]) -> Expected:
    published = known.get("published")
    return Expected(
        figures={
            "score": Figure(
                official=known["mean"] / 100,
                n=known["n"],
                published=None if published is None else published / 100,
                reason="" if published else "the published number is the mean of three runs",
            )
        }
    )


def spelled(model: str) -> str:
    """llava-v1.5-7b as its authors write it."""
    return re.sub(r"b$", "B", model.replace("llava-v", "LLaVA-"))


def write_questions(folder: Path, scratch: Path) -> Path:
    """mm-vet.json as its authors have it, of LLaVA's copy of the questions: the answers are not
    there, and are made up. A grade does not depend on them."""
    content = {
        f"v1_{row['question_id']}": {
            "imagename": row["image"],
            "question": row["text"],
            "answer": "made up",
            "capability": [],
        }
        for row in of_json_lines(folder / "annotations" / "llava-mm-vet.jsonl")
    }
    return write_json(scratch / "mm-vet.json", content)
