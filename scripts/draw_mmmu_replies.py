"""Generate replies to made-up MMMU questions, with the answers that the authors' script parses.

usage: python scripts/draw_mmmu_replies.py FOLDER

FOLDER is mmmu/ of MMMU-Benchmark/MMMU@bb0b95a. Its main_parse_and_eval.py runs once over all
subjects, so that all letters that it draws come from one random sequence. The rows are in the order
of its output files.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from snellen.benchmarks.families.mmmu import DOMAIN_OF

ROWS = Path(__file__).parents[1] / "tests/data/mmmu_replies.jsonl"
COUNT = 1000
WORDS = ("ash", "bay", "cod", "dew", "elm", "fig", "gem", "hay", "ice")
READABLE = (
    "({letter})",
    "{letter}",
    "The answer is {letter}.",
    "I would say that the answer must be {choice}",
    "({letter}) or rather ({other})",
    "Between {letter} and {other} ",
)
UNREADABLE = ("", "I cannot tell.", "**{letter}**", "{letter}) {choice}", "{choice}", "{letter}\n")
OPEN = ("The result is 12.5", "about 12.50 meters", "12", "x = 12.5", "I cannot tell.")


def draw_rows() -> list[dict[str, Any]]:
    draws = Random("mmmu replies")
    subjects = sorted(DOMAIN_OF)
    rows = []
    for number in range(COUNT):
        name = f"validation_{draws.choice(subjects)}_{number}"
        if draws.random() < 0.1:
            row = {"id": name, "choices": [], "answer": "12.5", "response": draws.choice(OPEN)}
            rows.append(row)
            continue
        choices = draws.sample(WORDS, draws.randint(2, len(WORDS)))
        letters = "ABCDEFGHI"[: len(choices)]
        letter, other = draws.sample(letters, 2)
        form = draws.choice(READABLE if draws.random() < 0.5 else UNREADABLE)
        text = form.format(letter=letter, other=other, choice=choices[letters.index(letter)])
        answer = draws.choice(letters)
        rows.append({"id": name, "choices": choices, "answer": answer, "response": text})
    return rows


def authors_row(row: dict[str, Any]) -> dict[str, Any]:
    letters = "ABCDEFGHI"[: len(row["choices"])]
    index2ans = dict(zip(letters, row["choices"], strict=True))
    known = {key: row[key] for key in ("id", "answer", "response")}
    known["question_type"] = "multiple-choice" if letters else "short-answer"
    return {**known, "all_choices": [*letters], "index2ans": index2ans}


def main(authors: str) -> None:
    by_subject: dict[str, list[dict[str, Any]]] = {}
    for row in draw_rows():
        by_subject.setdefault("_".join(row["id"].split("_")[1:-1]), []).append(row)
    with tempfile.TemporaryDirectory() as folder:
        for subject, rows in by_subject.items():
            (Path(folder) / subject).mkdir()
            output = Path(folder) / subject / "output.json"
            output.write_text(json.dumps([authors_row(row) for row in rows]))
        script = Path(authors) / "main_parse_and_eval.py"
        subprocess.run([sys.executable, script, "--path", folder, "--subject", "ALL"], check=True)
        lines = []
        for subject in sorted(by_subject):
            parsed = json.loads((Path(folder) / subject / "parsed_output.json").read_text())
            for row, verdict in zip(by_subject[subject], parsed, strict=True):
                if row["choices"]:
                    row["parsed"] = verdict["parsed_pred"]
                lines.append(json.dumps({**row, "right": verdict["judge"] == "Correct"}))
    ROWS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
