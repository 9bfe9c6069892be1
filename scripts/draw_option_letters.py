"""Generate replies to made-up questions, with what others' code gives for CRPE and MMT-Bench.

usage: python scripts/draw_option_letters.py ALL_SEEING VLMEVALKIT MMT_BENCH

The arguments are checkouts of OpenGVLab/all-seeing@5cb8cea, open-compass/VLMEvalKit@e8e78f0, and
OpenGVLab/MMT-Bench@84012c9. CRPE's script runs once for each reply, and once for all replies.
"""

import gzip
import json
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

FIXTURE = Path(__file__).parents[1] / "tests/parity/option_letters.jsonl.gz"
COUNT = 800
CATEGORIES = ("subject", "predicate", "object")
FORMS = (
    "{L}", "{L}", "{L}", "{l}", "{M}", " {L} ", "{L}.", "({L})", "{L}. {c}", "{L}{M}", "{c}", "{C}",
    "the {c}", "It is {d}.", "{L} or {M}", "", "x", "12", "{c}. {L}", "The answer is {L}.", "Cat",
    "Failed to obtain answer via API.", "Cannot determine the answer", "Z", "I can't process this "
    "file.", "**{L}**: {c}", "A dog and {d}", "Answer: [{L}]", "{{{L}}}", "Not {M}, but {L}",
    "{c} or {d}", "No idea, sorry.", "{L},{L}", "Z or {L}", "e", "{M}. {c}",
)  # fmt: skip
CHOICES = (("on", "under", "in", "by"), ("cup", "mat", "cat", "dog"), ("1", "2", "3", "4"))


def rows() -> Iterator[dict[str, Any]]:
    draws = Random("letters of options")
    for index in range(COUNT):
        choices = draws.choice(CHOICES)
        letter, other = draws.sample("ABCD", 2)
        choice, different = (choices["ABCD".index(name)] for name in (letter, other))
        answer = letter if draws.random() < 0.7 else other
        text = choices["ABCD".index(answer)]
        yield {
            "id": index,
            "category": CATEGORIES[index // 4 % 3],
            "choices": choices,
            "answer": answer,
            # As in VLMEvalKit's TSV files, with one blank or two before the choice, or without it.
            "cell": draws.choice((answer, f"{answer}. {text}", f"{answer}.  {text}")),
            "reply": FORMS[index % len(FORMS)].format(
                L=letter, l=letter.lower(), M=other, c=choice, C=choice.upper(), d=different
            ),
        }


def crpe_accuracies(evaluate: Callable[..., None], chosen: list[dict[str, Any]]) -> dict[str, str]:
    """The accuracy of each category that the authors' script prints."""
    questions = {
        row["id"]: {"category": row["category"], "correct_option": row["answer"]} for row in chosen
    }
    # model_vqa_loader.py#L124 strips the replies.
    answers = [{"question_id": row["id"], "text": row["reply"].strip()} for row in chosen]
    output = StringIO()
    with redirect_stdout(output):
        try:
            evaluate(questions, answers)
        except KeyError:  # no reply of a category is a letter, and the last line cannot be printed
            return {}
    return dict(re.findall(r"Category: (\w+), .*?Acc: ([\d.]+)", output.getvalue()))


def crpe_verdict(evaluate: Callable[..., None], row: dict[str, Any]) -> float:
    """Whether a reply is right: with three right replies, its question is."""
    right = [{**row, "id": f"{row['id']} {number}", "reply": row["answer"]} for number in range(3)]
    return float(crpe_accuracies(evaluate, [row, *right])[row["category"]]) / 100


def letters_of(folder: Path) -> Callable[..., Any]:
    """MMT-Bench's `can_infer`, without the rest of its package."""
    package = folder / "VLMEvalKit-main/vlmeval"
    for name in ("authors", "authors.utils", "authors.smp"):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = []  # type: ignore[attr-defined]
    path = package / "utils/matching_util.py"
    names = {"__name__": "authors.utils.matching_util", "__package__": "authors.utils"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names["can_infer"]  # type: ignore[return-value]


def main(all_seeing: str, kit: str, mmt_bench: str) -> None:
    script = Path(all_seeing) / "all-seeing-v2/llava/eval/eval_crpe.py"
    evaluate = runpy.run_path(str(script))["eval_crpe"]
    path = Path(kit) / "vlmeval/dataset/utils/crpe.py"
    is_correct = runpy.run_path(str(path))["is_correct"]
    can_infer = letters_of(Path(mmt_bench))
    lines = []
    for row in rows():
        reply = row["reply"]
        line = {**row, "crpe": crpe_verdict(evaluate, row)}
        # VLMEvalKit stops at an empty reply.
        line["crpe kit"] = float(is_correct(row["cell"], reply)) if reply else None
        choices = dict(zip("ABCD", row["choices"], strict=True))
        line["mmt"] = can_infer(reply.strip(), choices) or None
        lines.append(line)
    lines.append({"accuracies": crpe_accuracies(evaluate, lines)})
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    FIXTURE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
