"""Generate replies to made-up questions, with what the code of authors and toolkits gives for them.

usage: python scripts/draw_choice_rules.py LMMS_EVAL VLMEVALKIT BIG_VISION OMNISPATIAL HR_BENCH

The arguments are checkouts of EvolvingLMMs-Lab/lmms-eval@75571cf, open-compass/VLMEvalKit@e8e78f0,
google-research/big_vision@0127fb6, qizekun/OmniSpatial@208bac2, and DreamMr/HR-Bench@b17b199. Only
the functions that score are run, so that the packages need not be installed. Needs numpy and
pandas.
"""

import ast
import copy
import gzip
import json
import os
import re
import string
import sys
import types
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

FIXTURE = Path(__file__).parents[1] / "tests/parity/choice_rules.jsonl.gz"
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CHOICES = (
    ("a cat", "a dog", "a big dog", "a cow"), ("left", "right"), ("red", "blue", "green"),
    ("3", "13", "eleven", "7"), ("Yes", "No"), ("eggs", "larva", "adult frog", "A and B", "none"),
    ("the bus on the far side of the street", "the bus", "a red bus", "Because it rains"),
)  # fmt: skip
FORMS = (
    "{L}", "{l}", "({L})", "({l})", "{L}.", "{l}.", "{L})", " {L} ", "{L}\n", "\n{L}", "{L}: {c}",
    "{L}. {c}", "({L}) {c}", "{L}.{c}", "[{L}]", "(  {L} )", "(({L}", "{L}{M}", "{L}'s", '"{L}"',
    "**{L}**", "${L}$", "{{{L}}}", "\\boxed{{{L}}}", "The answer is {L}", "The answer is {L}.",
    "the answer is {l}", "The answer is ({L}).", "The answer is **{L}**, I think.", "Answer: {L}",
    "Answer: ({L})", "answer:{l}", "Answer : {L}", "ANSWER: {l}.", "Final Answer: {L}",
    "Final Answer: {L}\nAnswer: {M}", "Answer: {L}\nFinal Answer: {M}", "Answer: {L} or {M}",
    "Answer: {c}", "answer: {c}", "answer:{c}", "Option {L}", "option {l} fits best",
    "The correct option is {L}, since {M} is wrong.", "I choose {L}", "My choice is {L} here.",
    "{c}", "{c}.", "It is {c}.", "It is {C}", "{c} is wrong, {d} is right", "not {c} but {d}",
    "{L} or {M}", "({L}) or ({M})", "{L}) or {M})", "Between {L} and {M}.", "Not {M} but {L}",
    "{L}. This is so because {c} is what the picture shows, and not {d}, as one may think at first",
    "I looked at the whole picture for a long time, and all that I can say is that it is {c}",
    "A dog is there, so {L}", "Because of {c}, {L}.", "Cannot say, maybe {L}", "I see {c} ({L})",
    "答案是{L}", "选{L}。", "正答は{L}です", "", "   ", "I cannot tell.", "None of these", "Z",
    "The answer is Z.", "Cannot determine the answer", "I can't process this file.", "e", "1", "0)",
    "Sorry, I can't help with images of people yet. {L}", "Let me think. A. B. C. D.", "?", "{L}1",
    "First, {M}. Second, {L}. Answer: {L}\nend", "Answer: {L}{M}", "answer - {L}", "{l}{c}",
    "Answer: (Q) or ({L})", "Answer: (Q)", "(Q) {c}", "Q) {c}", "{{Q}} {c}", "$Q$ {c}", "Answer: Q",
)  # fmt: skip
OPEN = ("Yes", "No", "3", "12", "Downhill", "A lot", "forward.", "b")
OPEN_FORMS = (
    "{t}", "{t}.", " {t} ", "{u}", "{w}", "{t}..", "It is {t}", "{t}!", "{t}\n",
    "The answer is {t}", "{u}. ", "", "4", "no", "({t})",
)  # fmt: skip
COUNT_FORMS = (
    "{n}", "{w}", "{W}", "{U}", "{n}.", " {n}", "{n} ", "{n}\n", "{w}.", " {w} ", "There are {n}.",
    "There are {w}.", "{n} or {m}", "{w} or {v}", "{n}{m}", "1{n}", "{n}0", "{n}.0", "-{n}", "+{n}",
    "**{n}**", "about {n}", "{n} {w}", "{n},000", "{m}", "{v}", "", " ", "none", "None", "zero",
    "twenty", "Twenty", "twelve", "12", "21", "twenty-one", "a dozen", "x{n}y", "\\boxed{{{n}}}",
    "I cannot count them.", "#{n}", "({n})", "{n}/{m}", "{n}th", "No. {n}", "{n}\t", "\u0663",
    "{n} red and {m} green ones", "first {m}, then {n}", "{w}{v}", "{w} ", "{U}.", "= {n}", "{n}!",
    "Answer: {n}", "Answer: {w}", "the number is {n}", "0{n}", "{n}{n}", "{n}-{m}", "{W}.", "{m}.",
    "ten", "Ten", "10", "ONE", "one",
)  # fmt: skip


BRACE_TARGETS = ("7", "11.90", "Blue", "red, green", "14:35", "1,024", "B12", "a")
BRACE_FORMS = (
    "{{{t}}}",
    "It is {{{t}}}.",
    "{{ {t} }}",
    "{{{u}}}",
    "{{{w}}}",
    "{{{o}}} no, {{{t}}}",
    "{{{t}}} no, {{{o}}}",
    "{t}",
    "{{}}",
    "{{{t}",
    "{t}}}",
    "{{{{{t}}}}}",
    "{{x{t}y}}",
    "{{1{t}1}}",
    "\\boxed{{{t}}}",
    "\\boxed{{\\text{{{t}}}}}",
    "\\boxed{{\\frac{{{t}}}{{2}}}}",
    "",
    "  ",
    "{{{t}\n}}",
    "{{\n{t}}}",
    "{{{t}}}\n{{{o}}}",
    "The answer is {t}.",
    "{{final answer}}",
    "{{final answer: {t}}}",
    "{{{t} dollars}}",
    "{{${t}}}",
    "{{{o}}}",
    "[{t}]",
    "({t})",
    '{{"{t}"}}',
    "Step 1: {{{o}}}. Step 2: {{{t}}}. Done",
    "{{{t}}}{{}}",
    "{{{t}}} {{ }}",
    "{{{t}, {o}}}",
    "{{{o}{t}}}",
    "{{Answer}} {t}",
    " {{{t}}} ",
    "{{{t}.}}",
    "{{{t}0}}",
)


VERDICTS = (
    "Yes",
    "yes",
    "YES",
    "Yes.",
    "Yes, it does.",
    "yes - {t}",
    "Yesterday",
    "yes\nno",
    "No",
    "no.",
    "NO",
    "No, the answer is {t}.",
    "Not quite, yes",
    " Yes",
    "\nyes",
    "**Yes**",
    "'Yes'",
    "Y",
    "y",
    "Correct",
    "The answer is right: yes",
    "I say yes",
    "true",
    "1",
    "{t}",
    "Nope",
    "Sure, yes",
    "Yes and no",
    "No and yes",
    "Answer: yes",
    "yEs",
    "nO",
    "Ja",
    "\u662f",
    "Yes!",
    "(Yes)",
    "yes?",
    "Yes \u2014 {t}",
    "no\nyes",
    "The reply says {t}",
)


# -- replies


def lettered_rows() -> list[dict[str, Any]]:
    draws = Random("lettered replies")
    rows = []
    for index in range(720):
        choices = CHOICES[draws.randrange(len(CHOICES))]
        letters = string.ascii_uppercase[: len(choices)]
        letter, other = draws.sample(letters, 2)
        choice, different = (choices[letters.index(name)] for name in (letter, other))
        form = FORMS[index % len(FORMS)]
        text = form.format(
            L=letter, l=letter.lower(), M=other, c=choice, C=choice.upper(), d=different
        )
        answer = letter if draws.random() < 0.6 else draws.choice(letters)
        source = draws.choices(("ADE20K", "COCO", "Omni3D"), (1, 2, 4))[0]
        rows.append(
            {
                "kind": "letter", "id": str(index), "choices": choices, "answer": answer,
                "reply": text, "source": source, "cycle": str(draws.choice((0, 0, 1, 2, 2, 3))),
                "axis": draws.choice(("recognition", "recognition", "geometry", "localization")),
            }
        )  # fmt: skip
    return rows


def open_rows() -> list[dict[str, Any]]:
    pairs = [(target, form) for target in OPEN for form in OPEN_FORMS]
    return [
        {
            "kind": "open", "id": f"open {index}", "answer": target,
            "reply": form.format(t=target, u=target.upper(), w=target.lower()),
        }
        for index, (target, form) in enumerate(pairs)
    ]  # fmt: skip


def count_rows() -> list[dict[str, Any]]:
    draws = Random("count replies")
    rows = []
    for index, form in enumerate(COUNT_FORMS * 9):
        number = 2 + index // len(COUNT_FORMS)
        other = draws.choice([n for n in range(1, 10) if n != number])
        word, words = NUMBERS[number], NUMBERS[other]
        text = form.format(n=number, m=other, w=word, v=words, W=word.title(), U=word.upper())
        row = {"kind": "count", "id": f"count {index}", "answer": str(number), "reply": text}
        rows.append(row)
    return rows


def brace_rows() -> list[dict[str, Any]]:
    """Replies in the form that ZeroBench's prompt requests, twice with other wrong answers."""
    draws = Random("replies in braces")
    rows = []
    for target in BRACE_TARGETS * 2:
        for form in BRACE_FORMS:
            other = draws.choice([name for name in BRACE_TARGETS if name != target])
            text = form.format(t=target, u=target.upper(), w=target.lower(), o=other)
            row = {"kind": "braces", "id": f"braces {len(rows)}", "answer": target, "reply": text}
            rows.append(row)
    return rows


# -- the authors' code


class Failed:
    """Stands for what `parse_response` draws at random."""

    @staticmethod
    def choice(_: object) -> str:
        return "random"


def code(path: Path, **known: Any) -> SimpleNamespace:
    """The functions, classes, and constants of a file that need none of its imports but these."""
    wanted = (ast.FunctionDef, ast.ClassDef, ast.Assign)
    body = [node for node in ast.parse(path.read_text()).body if isinstance(node, wanted)]
    names: dict[str, Any] = {
        "re": re, "np": np, "pd": pd, "os": os, "string": string, "cp": copy, "json": json,
        "eval_logger": SimpleNamespace(info=lambda _: None), "defaultdict": defaultdict,
        "Any": Any, "Optional": object, "Dict": dict, "List": list,
        "dict": dict, "__name__": "authors", "ExtendedRegexFilter": object, "MapFilter": object,
        **known,
    }  # fmt: skip
    for node in body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list, node.returns = [], None
            for argument in node.args.args + node.args.kwonlyargs:
                argument.annotation = None
        try:
            exec(compile(ast.Module([node], []), str(path), "exec"), names)
        except (NameError, AttributeError, FileNotFoundError, TypeError):
            continue
    return SimpleNamespace(**{key: value for key, value in names.items() if key != "__builtins__"})


def method(path: Path, owner: str, name: str, **known: Any) -> Any:
    """A method of a class whose base classes and other methods are not needed."""
    (definition,) = (
        node for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and node.name == owner
    )  # fmt: skip
    (function,) = (
        node for node in definition.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    names = {"np": np, "pd": pd, "defaultdict": defaultdict, "string": string, "os": os, **known}
    exec(compile(ast.Module([function], []), str(path), "exec"), names)
    return names[name]


def letter_verdicts(rows: list[dict[str, Any]], lmms: Path, kit: Path, omni: Path) -> None:
    """Add what each rule gives for each reply: a letter, or whether the reply is right."""
    tasks = lmms / "lmms_eval/tasks"
    extract = code(tasks / "_task_utils/mcq_extract.py")
    for name in ("lmms_eval", "lmms_eval.tasks", "lmms_eval.tasks._task_utils"):
        sys.modules.setdefault(name, types.ModuleType(name))
    module = types.ModuleType("lmms_eval.tasks._task_utils.mcq_extract")
    module.__dict__["extract_mcq_answer"] = extract.extract_mcq_answer
    sys.modules[module.__name__] = module
    mmstar, real = code(tasks / "mmstar/utils.py"), code(tasks / "realworldqa/utils.py")
    ai2d, metrics = code(tasks / "ai2d/utils.py"), code(lmms / "lmms_eval/api/metrics.py")
    hr, cv = code(tasks / "hrbench/hrbench_evals.py"), code(tasks / "cv_bench/utils.py")
    puzzles = code(tasks / "VisualPuzzles/utils.py", random=Failed)
    matching = code(kit / "vlmeval/utils/matching_util.py", get_logger=None)
    kit_puzzles = code(kit / "vlmeval/dataset/utils/visualpuzzles.py")
    for row in rows:
        text, answer = row["reply"], row["answer"]
        stripped = text.strip()  # ConfigurableTask.process_results, lmms_eval/api/task.py#L1586
        if row["kind"] == "open":
            row["realworldqa"] = real.realworldqa_process_results({"answer": answer}, [stripped])[
                "exact_match"
            ]
            continue
        choices = dict(zip(string.ascii_uppercase, row["choices"], strict=False))
        doc = {
            "answer": answer, "category": "c", "l2_category": row["axis"], "index": 0,
            "idx": 0, "type": "2D", "task": "Count", "source": row["source"],
        }  # fmt: skip
        row["mmstar"] = mmstar.mmstar_process_results(doc, [stripped])["average"]["score"]
        row["realworldqa"] = real.realworldqa_process_results(doc, [stripped])["exact_match"]
        filtered = ai2d.MultiChoiceRegexFilter.apply(None, [[text]], [doc])[0].strip()
        row["ai2d"] = float(
            metrics.exact_match_hf_evaluate(
                predictions=[filtered], references=[answer], ignore_case=True,
                ignore_punctuation=True,
            )["exact_match"]
        )  # fmt: skip
        judge = hr.HRBenchEval("")
        row["hrbench"] = judge.can_infer(stripped, dict(choices)) or ""
        row["kit"] = matching.can_infer(text.strip(), dict(choices)) or ""
        row["cvbench"] = cv._extract_answer_letter(stripped)
        row["kit puzzles"] = kit_puzzles.extract_answer(text)
        if len(choices) >= 4:
            first = dict([*choices.items()][:4])
            row["puzzles"] = puzzles.parse_response(stripped, [*"ABCD"], first)
            row["puzzles without texts"] = puzzles.parse_response(stripped, [*"ABCD"], None)
        for kind in ("re", "direct"):
            row[f"omnispatial {kind}"] = omnispatial(omni, row, kind)


def omnispatial(omni: Path, row: dict[str, Any], kind: str) -> bool:
    picture = SimpleNamespace(convert=lambda _: None)
    authors = code(
        omni / "api_eval.py",
        SYS_PROMPTS={"": ""}, FORMAT_PROMPTS={kind: ""}, print=lambda *_: None,
        Image=SimpleNamespace(open=lambda _: picture), vqa_parsing=lambda *_, **__: row["reply"],
    )  # fmt: skip
    info = {
        "id": "1_1", "question": "", "options": row["choices"], "repeat": 0, "task_type": "",
        "answer": string.ascii_uppercase.index(row["answer"]), "sub_task_type": "",
    }  # fmt: skip
    args = SimpleNamespace(
        model_id="", prompt_type="", eval_type=kind, dataset_path="", blind=False
    )
    return bool(authors.process_info(info, args=args, client=None)[0])


def figures(rows: list[dict[str, Any]], lmms: Path, kit: Path) -> dict[str, float]:
    """What the toolkits' aggregations give for the replies."""
    tasks = lmms / "lmms_eval/tasks"
    code_of = {name: code(tasks / name / "utils.py") for name in ("mmstar", "cv_bench", "hrbench")}
    scores = [{"score": row["mmstar"], "l2_category": row["axis"]} for row in rows]
    right = [
        {"source": row["source"], "is_correct": row["cvbench"] == row["answer"]} for row in rows
    ]
    cycles = [
        {"cycle_category": row["cycle"], "gpt_score": float(row["hrbench"] == row["answer"])}
        for row in rows
    ]
    frame = pd.DataFrame(
        {
            "cycle_category": [row["cycle"] for row in rows], "category": "single", "split": "2D",
            "hit": [float(row["kit"] == row["answer"]) for row in rows],
            "source": [row["source"] for row in rows],
        }
    )  # fmt: skip
    report = code(kit / "vlmeval/dataset/utils/hrbench.py").report_acc_hrbench(frame)
    average = report[(report["cycle"] == "Average") & (report["type"] == "all")]
    accuracy = method(kit / "vlmeval/dataset/image_mcq.py", "CVBench", "report_accuracy")
    flat = accuracy(None, frame[frame["source"] != "Omni3D"])
    return {
        "mmstar average": code_of["mmstar"].mmstar_aggregate_results(scores),
        "cvbench": code_of["cv_bench"].cv_bench_default_aggregate_results(right),
        "cvbench plain": code_of["cv_bench"].cv_bench_aggregate_results(right),
        "hrbench": code_of["hrbench"].hrbench_aggregate_results(cycles, None),
        "kit hrbench": float(average["accuracy"].iloc[0]),
        "kit cvbench 2d": float(flat["Overall"].iloc[0]),
    }  # fmt: skip


def count_verdicts(rows: list[dict[str, Any]], lmms: Path, kit: Path, vision: Path) -> None:
    folder = vision / "big_vision/evaluators/proj/paligemma/transfers"
    official = code(folder / "tallyqa.py")
    task = code(lmms / "lmms_eval/tasks/countbench/utils.py")
    frames: list[pd.DataFrame] = []
    evaluate = method(
        kit / "vlmeval/dataset/image_vqa.py", "CountBenchQA", "evaluate",
        load=lambda _: frames[-1], get_intermediate_file_path=lambda *_: "", d2df=dict,
        dump=lambda *_: None,
    )  # fmt: skip
    for row in rows:
        answer = official._number_word_to_numeral(row["answer"])
        row["official"] = float(official._number_word_to_numeral(row["reply"]) == answer)
        frames.append(
            pd.DataFrame(
                {"index": [0], "prediction": [row["reply"]], "answer": [int(row["answer"])]}
            )
        )
        row["kit"] = evaluate(None, "")["accuracy"] / 100
        doc = {"number": int(row["answer"])}
        row["lmms"] = task.countbench_process_results(doc, [row["reply"].strip()])["acc"]


def brace_verdicts(rows: list[dict[str, Any]], lmms: Path, kit: Path) -> None:
    task = code(
        lmms / "lmms_eval/tasks/zerobench/utils.py",
        Decimal=Decimal,
        InvalidOperation=InvalidOperation,
    )
    frames: list[pd.DataFrame] = []
    path = kit / "vlmeval/dataset/image_vqa.py"
    evaluate = method(path, "ZEROBench", "evaluate", re=re, load=lambda _: frames[-1])
    for row in rows:
        frames.append(
            pd.DataFrame({"index": [0], "prediction": [row["reply"]], "answers": [row["answer"]]})
        )
        row["kit"] = float(evaluate(None, "")["accuracy"])
        doc = {"question_answer": row["answer"]}
        row["lmms"] = task.zerobench_process_results(doc, [row["reply"].strip()])[
            "zerobench_exact_match"
        ]["score"]


def judge_rows(hr_bench: Path) -> list[dict[str, Any]]:
    """Requests to HR-Bench's judge, as digests, and what a verdict counts."""
    authors = code(hr_bench / "hrbench/vlmeval/dataset/utils/hrbench.py", get_logger=lambda _: None)
    asks = "You are a helpful and precise assistant for checking the quality of the answer. Please "
    asks += "answer in only yes or no. {}"  # pipeline_eval, hrbench.py#L61
    rows = []
    for row, words in zip(lettered_rows(), VERDICTS * 6, strict=False):
        cells = dict(zip(string.ascii_uppercase, row["choices"], strict=False))
        line = {"question": "Which?", **cells, "answer": row["answer"], "prediction": row["reply"]}
        text = words.format(t=row["reply"])
        rows.append(
            {
                **{key: row[key] for key in ("id", "choices", "answer", "reply")},
                "kind": "judge", "verdict": text, "score": authors.parse_score(text)[0],
                "request": sha256(asks.format(authors.build_prompt(line)).encode()).hexdigest(),
            }
        )  # fmt: skip
    return rows


def main(lmms: str, kit: str, vision: str, omni: str, hr_bench: str) -> None:
    lettered, count, braces = [*lettered_rows(), *open_rows()], count_rows(), brace_rows()
    letter_verdicts(lettered, Path(lmms), Path(kit), Path(omni))
    count_verdicts(count, Path(lmms), Path(kit), Path(vision))
    brace_verdicts(braces, Path(lmms), Path(kit))
    of_letters = [row for row in lettered if row["kind"] == "letter"]
    last = {"kind": "figures", **figures(of_letters, Path(lmms), Path(kit))}
    rows = [*lettered, *count, *braces, *judge_rows(Path(hr_bench)), last]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    FIXTURE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
