"""Generate replies to made-up questions, with the letters that MedXpertQA's code parses.

usage: python scripts/draw_medical_replies.py FOLDER

FOLDER is eval/ of TsinghuaC3I/MedXpertQA@f21247d. Only `answer_cleansing` of its utils.py is run,
so that its packages need not be installed.
"""

import ast
import gzip
import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

FIXTURE = Path(__file__).parents[1] / "tests/parity/medical_replies.jsonl.gz"
TRIGGERS = {
    "official": "Therefore, among {start} through {end}, the answer is",
    "answer-only": "Among {start} through {end}, the answer is",
}
FORMS = (
    "{L}", "({L})", "{L}.", "**{L}**", "{l}", "{L}: {c}", "{t} {L}", "{t} ({L}) {c}.", "{t}: {l}",
    "{t} {L}. I said {t} {M}.", "{M}. {t} {L}", "{t}", "The answer is {L}.", "so answer is {L}",
    "{M} may be right, but the answer is {L}", "My answer is {c}", "{M} answer is {L} answer is ",
    "I understand {L}", "Among A through E, {L}", "A through D are wrong, so {L}", "A through J",
    "A patient has {c}, so {L}", "{L}{M}", "{L}-{M}", "{L}_1", "{L}'s", "None of A, B, C, or D.",
    "F", "{c}", "", "  ", "\n{L}\n", "No answer provided.", "{L} or {M}", "\\boxed{L}",
    "I cannot tell.", "Vitamin {L} helps", "{t}\n\n{L}", "é{L}", "{L}é", "{L}\u2009{M}", "is{L}",
)  # fmt: skip
CHOICES = ("Aspirin", "an X-ray of the hand", "Vitamin B", "hepatitis C", "None of these")


def draw_rows() -> list[dict[str, Any]]:
    draws = Random("medical replies")
    rows = []
    for index in range(1200):
        letter, other = draws.sample("ABCDE", 2)
        prompt = draws.choice([*TRIGGERS])
        words = TRIGGERS[draws.choice([prompt, *TRIGGERS])].format(start="A", end="E")
        choice = CHOICES["ABCDE".index(letter)]
        text = FORMS[index % len(FORMS)].format(
            L=letter, l=letter.lower(), M=other, c=choice, t=words
        )
        answer = letter if draws.random() < 0.6 else draws.choice("ABCDE")
        rows.append({"id": str(index), "prompt": prompt, "reply": text, "answer": answer})
    return rows


def authors_function(folder: Path) -> Any:
    """The authors' `answer_cleansing`, without the packages that the rest of its file needs."""
    path = folder / "utils.py"
    source = ast.parse(path.read_text(encoding="utf-8"))
    wanted = [
        node
        for node in source.body
        if isinstance(node, ast.FunctionDef) and node.name == "answer_cleansing"
    ]
    scope: dict[str, Any] = {"re": re}
    exec(compile(ast.Module(wanted, []), str(path), "exec"), scope)
    return scope["answer_cleansing"]


def main(folder: Path) -> None:
    parse = authors_function(folder)
    rows = draw_rows()
    for row in rows:
        sample = {"options": [*"ABCDE"], "label": [row["answer"]]}
        trigger, reply = TRIGGERS[row["prompt"]], row["reply"].strip()  # eval/main.py strips it
        row["letters"] = parse("zero_shot", trigger, reply, "medxpertqa", "mm", sample)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    FIXTURE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
