"""Generate replies, with the letters that the code of MMSI-Bench, lmms-eval, and VLMEvalKit finds.

usage: python scripts/draw_spatial_letters.py MMSI_BENCH LMMS_EVAL VLMEVALKIT

The arguments are folders with InternRobotics/MMSI-Bench@5de2f3d, EvolvingLMMs-Lab/
lmms-eval@75571cf, and open-compass/VLMEvalKit@e8e78f0. Only single functions of their files run.
"""

import ast
import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

ROWS = Path(__file__).parents[1] / "tests/parity/spatial_letters.jsonl.gz"
COUNT = 720
LETTERS = "ABCDEFGJabcdz"
PARTS = (
    *("{x}", "({x})", "{x}.", "{x}: the left one", "**{x}**", "_{x}_", "{x})", "{x} ) right"),
    *("``{x}``", "`{x}`", "`` ``{x}", "{{{x}}}", "\\boxed{{{x}}}", "``{x} or {y}``", "`({x})`"),
    *("The answer is {x}", "the answer is ({x}).", "Answer: {x}", "final  answer={x}", "answer{x}"),
    *("Final answer：{x}", "答案是{x}", "所以选{x}。", "我选择 {x}", "结论（{x}）", "因此：{x}、"),
    *("选项 {x}：左", "Option {x}: left", "- option {x}: on the left", "> **option {x}:"),
    *("<answer>{x}</answer>", "<answer> ({x})</answer>", "<answer>{x}. left", "({x}) </think>"),
    *("< answer x=1 >{x}) foo < / answer >", "so [{x}]</ answer >", "so {x}</think>", "</think>"),
    *(
        "<think>I see {x}",
        "<think>",
        "A cat is near {x}",
        "{x} cat",
        "between {x} and {y}",
        "{x}/{y}",
    ),
    *(
        "no idea.",
        "Because of the dog,",
        "{x}\u200b",
        "{x}- right",
        "（{x}）",
        "【{x}】",
        "{x}》",
        "{x}1",
    ),
    *("I'd say {x}!", "choice{x}", "The first", "1. {x}", "long text " * 90, ""),
)
GAPS = ("\n", "\n\n", " ", ", ", "", "\r\n", "\t")


def replies() -> Iterator[str]:
    draws = Random("letters in space")
    for _ in range(COUNT):
        text = ""
        for _ in range(draws.choice((1, 1, 1, 2, 2, 3, 4, 9))):
            x, y = draws.choice(LETTERS), draws.choice(LETTERS)
            text += draws.choice(PARTS).format(x=x, y=y) + draws.choice(GAPS)
        yield text


def functions(path: Path, *constants: str) -> dict[str, Any]:
    """The functions and static methods of a file that need only `re` and these constants."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    kept: list[ast.stmt] = []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list, node.returns = [], None
            for argument in node.args.args:
                argument.annotation = None
            kept.append(node)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in constants:
            kept.insert(0, node)
    names: dict[str, Any] = {"re": re}
    exec(compile(ast.Module([*kept], []), path, "exec"), names)
    return names


def scored_letter(score: Callable[[str, str], float | None], text: str) -> str | None:
    """The letter that lmms-eval finds: the one with which it scores the reply as right."""
    return next((letter for letter in "ABCDEF" if score(text, letter)), None)


def main(authors: str, lmms: str, kit: str) -> None:
    rule = "extract_single_choice_with_word_boundary"
    official = functions(Path(authors) / "vlmeval/dataset/mmsi_bench.py")[rule]
    tasks = Path(lmms) / "lmms_eval/tasks"
    score = functions(tasks / "mmsi_bench/utils.py")[rule]
    first = functions(tasks / "blink/utils.py")["_extract_answer_letter"]
    path = Path(kit) / "vlmeval/dataset/utils/spatial_bench/matching_func.py"
    settled = functions(path, "ZW_RE", "TAGGED_ANSWER_BLOCK")["can_match_option"]
    rows = [
        {
            "reply": text,
            "mmsi": official(text),
            "mmsi lmms-eval": scored_letter(score, text),
            "first": first(text) or None,
            "settled": settled(text) or None,
        }
        for text in replies()
    ]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    ROWS.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
