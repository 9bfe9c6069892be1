"""Make tests/parity/choice_letters.jsonl: 600 replies, and the letters that others' code reads in
them.

usage: python scripts/draw_choice_letters.py CLONES

CLONES has clones of three repositories: VLMEvalKit at e8e78f05f308, lmms-eval at 75571cfe0fa3, and
MuirBench at 840b85fe960a. The functions are taken out of their files, so that none of the packages
that the files import are needed. The letters are those of rules that no golden pack has.
"""

import ast
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "tests/parity/choice_letters.jsonl"
CHOICES = ("none of the above", "Yes", "red car", "left", "The object is not in the image.")
UTILS = "VLMEvalKit/vlmeval/dataset/utils"
TASKS = "lmms-eval/lmms_eval/tasks"
PIECES = (
    *"ABCDEabcde.:()[]{}$,!*- \n",
    *("A", "B", "C", "D", "A", "B", "C", "D", "(A)", "(b)", "C.", "B)", "D:", " D ", "E"),
    *("The answer is", "The best answer is", "The best option is", "Best answer:", "Best option:"),
    *("answer:", "the final answer is:", "the answer is option", "the correct answer is", "option"),
    *(
        "\\boxed{",
        "}",
        "\\}",
        "\\text{",
        "\\rm{",
        "<answer>",
        "</answer>",
        "<|endoftext|>",
        "letter",
    ),
    *(
        "答案是",
        "选",
        "none of the above",
        "red car",
        "left",
        "Yes",
        "Because",
        "I think",
        "so it is",
    ),
    *("one two three four five six seven", "or", "and", "not", "xyz", "1"),
)


def taken(path: Path, *names: str) -> dict[str, Any]:
    """The functions, classes, and constants of these names in a file, with the modules they use."""
    module = ast.parse("from __future__ import annotations")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = [getattr(target, "id", "") for target in getattr(node, "targets", ())]
        if {getattr(node, "name", ""), *targets} & {*names}:
            module.body.append(node)
    import numpy as np

    namespace: dict[str, Any] = {"re": re, "np": np, "random": random.Random(0)}
    namespace |= {"Optional": Any, "List": list, "ExtendedRegexFilter": object}
    exec(compile(module, str(path), "exec"), namespace)
    return namespace


def readers(clones: Path) -> dict[str, Callable[[str], str | None]]:
    """The functions that read a letter in a reply, by the name of their column."""
    capital = taken(clones / UTILS / "multiple_choice.py", "extract_characters_regex")
    visulogic = taken(
        clones / UTILS / "visulogic.py",
        *("Option_list", "extract_last_boxed_content", "extract_lang_content", "extract_answer"),
    )
    shared = taken(
        clones / TASKS / "_task_utils/mcq_extract.py",
        *("_DEFAULT_CHOICES", "_ANSWER_PHRASES", "_FORMAT_PRIORITY", "extract_mcq_answer"),
    )
    muirbench = taken(clones / TASKS / "muirbench/utils.py", "MultiChoiceRegexFilter")
    authors = taken(clones / "MuirBench/eval/utils/postprocess.py", "parse_multi_choice_response")
    authors["random"].choice = lambda choices: None

    def mme_realworld(reply: str) -> str:
        # image_mcq.py#L1081-L1084
        match = re.search(r"<answer>(.*?)</answer>", reply, re.DOTALL)
        text = match[1].strip().upper() if match else reply
        return str(capital["extract_characters_regex"](text))

    def filtered(reply: str) -> str:
        # muir_aggregation compares what the filter leaves with the letter.
        rows = muirbench["MultiChoiceRegexFilter"].apply(None, [[reply]], [None])
        text = rows[0].lower().strip().upper()
        return text if text in [*"ABCDE"] else ""

    by_letter = dict(zip("ABCDE", CHOICES, strict=True))
    return {
        "mme_realworld_vlmevalkit": mme_realworld,
        "visulogic_vlmevalkit": lambda reply: visulogic["extract_answer"](reply)[0].strip("Z"),
        "muirbench_official": lambda reply: authors["parse_multi_choice_response"](
            reply, [*"ABCDE"], by_letter
        ),
        "muirbench_lmms": filtered,
        "erqa_lmms": lambda reply: shared["extract_mcq_answer"](reply, [*"ABCD"]),
    }


FORMS = (
    *(
        "{0}",
        "{0}.",
        "({0})",
        "{0}. red car",
        "{0}\n{1}",
        "({0}) {0}\nfor",
        " {0} \n",
        "It is ({0}).",
    ),
    *(
        "It is {0}.",
        "Answer: {0}",
        "answer: {0}. So",
        "The answer is {0}",
        "the answer is option: {0}",
    ),
    *(
        "\\boxed{{{0}}}",
        "\\boxed{{\\text{{{0}}}}} or \\boxed{{{1}}}",
        "$\\boxed{{${0}$}}$",
        "{0}<|endoftext|>",
    ),
    *("<answer>{0}</answer>", "{0} or {1}", "({0}) or ({1})", "\\boxed{{{0} \\boxed{{{1}}}}}"),
    *(
        "\\boxed{{LETTER}} Answer: {0}",
        "The final answer is: {1}. The answer is {0}",
        "{0}: no, {1}",
    ),
)


def replies(n: int) -> list[str]:
    """Replies in usual forms, and sequences of pieces."""
    draws = random.Random(24)
    unique: dict[str, None] = {"": None, " \n": None}
    while len(unique) < n:
        pieces = [draws.choice(PIECES) for _ in range(draws.randint(1, 9))]
        unique[draws.choice(("", " ")).join(pieces)] = None
        reply = draws.choice(FORMS).format(draws.choice("ABCDE"), draws.choice("ABCDEab"))
        unique[reply + draws.choice(("", "", " ", *PIECES))] = None
    return [*unique][:n]


def main() -> None:
    columns = readers(Path(sys.argv[1]))
    rows = [[reply, *(read(reply) or "" for read in columns.values())] for reply in replies(600)]
    lines = (json.dumps(row, ensure_ascii=False) for row in (["reply", *columns], *rows))
    PATH.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
