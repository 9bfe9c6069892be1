"""Write what the code of OlympiadBench and VLMEvalKit makes of generated replies and questions.

usage: python scripts/olympiad_verdicts.py OLYMPIADBENCH VLMEVALKIT

The arguments are checkouts of OpenBMB/OlympiadBench@ba5b26a and open-compass/VLMEvalKit@e8e78f0.
Needs sympy 1.14 and antlr4-python3-runtime 4.11. With sympy 1.12, which the authors have, the
verdicts of their code are the same. The result, tests/parity/olympiad_verdicts.json.gz, has
verdicts on pairs of a reply and an answer, and digests of prompts. Pairs that take longer than five
seconds are left out.
"""

import ast
import gzip
import hashlib
import importlib
import json
import logging
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

OUT = Path(__file__).parents[1] / "tests/parity/olympiad_verdicts.json.gz"
COUNT = 1000
SECONDS = 5
# Right answers with their equals and with wrong answers, as the data set writes them.
ANSWERS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("9", "9.0", "\\frac{18}{2}", "x=9", "3^2", "9,", "900", "900\\%", "0.09"), ("8", "1 2 3")),
    (("0.5", "\\frac{1}{2}", "2^{-1}", "50\\%", "1/2"), ("\\frac{1}{3}", "0.51", "")),
    (("a\\sqrt{2}", "\\sqrt{2} a", "S=a\\sqrt{2}", "\\frac{2a}{\\sqrt{2}}"), ("a\\sqrt{3}", "b")),
    (("\\frac{\\pi}{2}", "\\pi/2", "1.5707963267948966", "0.5\\pi"), ("\\pi", "2\\pi", "1.5")),
    (("2,3", "3,2", "(2),(3)", "2，3"), ("2", "2,3,4", "2,4", "2,2")),
    (("1,2,3", "3,2,1"), ("1,2,4", "1,2")),
    (("\\pm 1", "1,-1", "+1,-1", "\\pm 1.0"), ("1", "\\pm 2", "1,1")),
    (("2n+1", "a_{n}=2 n+1", "n+n+1", "1+2n"), ("2n-1", "2n", "n^2", "2m+1")),
    (("x^2+y^2=1", "x^{2}=1-y^{2}", "1-x^2-y^2=0", "2x^2+2y^2=2"),
     ("x^2-y^2=1", "x^2+y^2=2", "x=1", "x^2+y^2", "x=x", "1=2", "x=y=1", "0=0")),
    (("[1,2]", "[1,\\frac{4}{2}]", "x \\in [1,2]", "\\left[1,2\\right]"),
     ("(1,2]", "[1,2)", "[1,3]", "[1,2]\\cup[3,4]", "[a,b]", "[,]", "[1]", "()")),
    (("(-\\infty,1]\\cup[10,+\\infty)", "(-\\infty, 1]\\cup [10, +\\infty)"),
     ("(-\\infty,1]\\cup[11,+\\infty)", "(-\\infty,1]", "(-\\infty,1]\\cup(10,+\\infty)")),
    (("(2,1),(3,1)", "(3,1),(2,1)", "(\\frac{4}{2},1),(3,1)"), ("(2,1)", "(1,2),(3,1)")),
    (("(a+b,c)", "(b+a,c)"), ("(a,c)", "(a-b,c)", "(1,c)")),
    (("0.64N", "\\frac{16}{25}N", "0.64\\mathrm{~N}", "\\mathbf{0.64}N"), ("0.64", "0.64M")),
    (("10^{5}", "100000", "10^5"), ("10^{2000}", "2^{x}", "10^{10^{10}}", "10^4")),
    (("30^\\circ", "30", "30^{\\circ}", "30 ^\\circ"), ("31", "60^\\circ")),
    (("能", "不能", "是"), ("can", "1", "能1")),
    (("f^\\prime(x)", "f^{\\prime}(x)", "f'(x)"), ("f(x)", "g")),
    (("\\sin x", "\\sin(x)", "2\\sin\\frac{x}{2}\\cos\\frac{x}{2}"), ("\\cos x", "\\sin 2x")),
    (("x<1", "1>x"), ("x>1", "x \\leq 1", "1")),
    (("\\sqrt[3]{8}", "2", "2.000000001"), ("\\sqrt{8}", "2.1", "nan", "inf", "1_000")),
    (("1:2", "1\u22362", "\\frac{1}{2}"), ("2:1", "1:3")),
    (("y\\approx 3.14", "3.14", "y=3.14", "\\sim 3.14"), ("3.15", "y\\simeq 3.1")),
    (("\\log_{2} 8", "3", "\\lg 1000"), ("\\ln 8", "\\log 8", "\\text{three}")),
    (("x^{2}-1", "(x-1)(x+1)", "y=x^2-1"), ("x^2", "(x-1)^2", "\\frac{1}{0}", "}", "\\frac")),
)  # fmt: skip
ERRORS = (None, "", "1e-1", "0.05", "1e-2,1e-1", ",1e-1", "1")
KINDS = ("Numerical", "Expression", "Equation", "Interval", "Tuple", "Numerical,Numerical")
FORMS = (
    "{a}", "${a}$", "\\boxed{{{a}}}", "$\\boxed{{{a}}}$", "{final}{a}", "{final}\\boxed{{{a}}}.",
    "{final}$\\boxed{{{a}}}$. Since\n${b}$", "First {final}\\boxed{{{b}}}.\n{final}\\boxed{{{a}}}",
    "{final}{b}\nBut {final}{a}", "Long\nlines. So ${b}$.\nThe answer is ${a}$.", "\\boxed{{{a}",
    "{final}\\boxed{{{a}}}(m)", "{final}\\boxed{{\\boxed{{{a}}}}}", "It is ${a}$ or ${b}$",
    "\\boxed{{{a}}} and \\boxed{{{b}}}", "**{a}**", "{a}\n", "{final}\n\\boxed{{{a}}}", "{a}。",
    "so the final answer is {a}", "答案：{a}", "\\boxed{{}} {a}",
)  # fmt: skip
WITHHELD = ("", "<No response>", "<Inappropriate content in response>", "code: 1 message: no")


class TooLong(Exception):
    """A pair takes too long."""


def too_long(*_: Any) -> None:
    raise TooLong


def pairs() -> Iterator[dict[str, Any]]:
    """Replies with right answers, in no end."""
    draws = Random("olympiad")
    while True:
        equal, unequal = draws.choice(ANSWERS)
        right = equal[0] if draws.random() < 0.7 else draws.choice(equal)
        answer = draws.choice(equal if draws.random() < 0.6 else unequal)
        zh = draws.random() < 0.3
        final = "所以最终答案是" if zh else "So the final answer is "
        form = draws.choice(FORMS[:6] if draws.random() < 0.5 else FORMS)
        reply = form.format(a=answer, b=draws.choice(equal + unequal), final=final)
        yield {
            "language": "zh" if zh else "en",
            "reply": draws.choice(WITHHELD) if draws.random() < 0.03 else reply,
            "right": draws.choice(("${}$", "{}")).format(right),
            "error": draws.choice(ERRORS) if draws.random() < 0.5 else None,
            "kind": draws.choice(KINDS),
        }


# -- the authors' code


def silently(run: Callable[[], Any]) -> Any:
    """What a function returns, or None if it stops with an error."""
    with redirect_stdout(StringIO()):
        try:
            return run()
        except Exception:
            return None


def official(folder: Path) -> Callable[[dict[str, Any]], Any]:
    """Judge pairs as the authors' scripts do, which write a file of results and count in it."""
    sys.path[:0] = [str(folder / "inference/code"), str(folder / "inference")]
    sys.modules["tqdm"] = SimpleNamespace(tqdm=lambda items: items)  # type: ignore[assignment]
    judge = importlib.import_module("judge")
    counting = importlib.import_module("calculate_accuracy")
    judger = judge.MathJudger()
    judge.MathJudger = lambda: judger

    def verdict(pair: dict[str, Any]) -> float | None:
        """1 or 0, or None if the reply is left out."""
        name = f"OE_MM_maths_{pair['language']}_COMP.json"
        row = {
            "id": 1,
            "answer_type": pair["kind"],
            "error": pair["error"],
            "final_answer": [pair["right"]],
            "model_output": {"m": {"raw_output": pair["reply"]}},
        }
        with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
            generated = Path("generated", name.removesuffix(".json"), "m")
            generated.mkdir(parents=True)
            (generated / "0.json").write_text(json.dumps([row]), encoding="utf-8")
            judge.judge_result()
            Path(name).write_text('[{"id": 1}]')
            output = StringIO()
            with redirect_stdout(output):
                try:
                    counting.calculate_merged_accuracy(".", False)
                except ZeroDivisionError:  # no reply is left
                    return None
        return float(output.getvalue().rpartition("accuracy: ")[2]) / 100

    return verdict


def vlmevalkit(folder: Path) -> Callable[[dict[str, Any]], Any]:
    """Judge pairs as the loop in OlympiadBench.evaluate does."""
    sys.modules["timeout_decorator"] = MagicMock(timeout=lambda _: lambda function: function)
    sys.path.insert(0, str(folder / "vlmeval/dataset/utils"))
    module = importlib.import_module("olympiadbench")
    judger = module.MathJudger()
    path = folder / "vlmeval/dataset/image_vqa.py"
    (loop,) = (
        node
        for owner in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(owner, ast.ClassDef) and owner.name == "OlympiadBench"
        for node in ast.walk(owner)
        if isinstance(node, ast.For) and ast.unparse(node.iter) == "tqdm(data.iterrows())"
    )
    code = compile(ast.Module([loop], []), str(path), "exec")

    def verdict(pair: dict[str, Any]) -> float:
        line = {
            "prediction": pair["reply"],
            "source": f"OE_MM_maths_{pair['language']}_COMP",
            "answer_type": pair["kind"],
            "error": pair["error"] or "nan",
            "final_answer": str([pair["right"]]),
        }
        scores: list[bool] = []
        names = {
            "tqdm": lambda items: items,
            "data": SimpleNamespace(iterrows=lambda: [(0, line)]),
            "extract_answer": module.extract_answer,
            "judger": judger,
            "scorez": scores,
        }
        exec(code, names)
        return float(scores[0])

    return verdict


def verdicts(folders: list[Path]) -> list[dict[str, Any]]:
    judges = {"official": official(folders[0]), "vlmevalkit": vlmevalkit(folders[1])}
    logging.disable()
    signal.signal(signal.SIGALRM, too_long)
    rows: list[dict[str, Any]] = []
    unique = set()
    for pair in pairs():
        if (key := json.dumps(pair)) in unique:
            continue
        unique.add(key)
        begin = time.monotonic()
        signal.alarm(SECONDS)
        for name, judge in judges.items():
            # Both scripts stop if a row has several errors but more answers: wrong here.
            result = silently(lambda judge=judge, pair=pair: (judge(pair),))
            pair[name] = 0.0 if result is None else result[0]
        signal.alarm(0)
        if time.monotonic() - begin < SECONDS:  # else an `except` of theirs caught TooLong
            rows.append(pair)
        if len(rows) == COUNT:
            break
    return rows


# -- prompts


def questions() -> list[dict[str, Any]]:
    kinds = (*KINDS, "Numerical,Interval", "Expression-x", "Need_human_evaluate")
    names = ("maths_en_COMP", "maths_zh_CEE", "physics_en_COMP", "physics_zh_CEE")
    rows = []
    for name, kind, several, unit in product(names, kinds, (False, True), (None, "m")):
        if "," in kind and not several:
            continue
        rows.append(
            {
                "set": f"OE_MM_{name}",
                "question": "Look at <img_1>: {x}\n<img_2> <img_1>\n What is $y$?",
                "context": (None, "", "A plate <img_2>.\n")[len(rows) % 3],
                "is_multiple_answer": several,
                "unit": unit,
                "answer_type": kind,
            }
        )
    return rows


def prompts(folder: Path) -> list[list[Any]]:
    """The digests of the messages, in which the text [img_N.jpg] stands for a picture."""
    sys.modules["openai"] = MagicMock()
    module = importlib.import_module("evaluators.gpt_4v")
    module.YOUR_API_KEY = module.YOUR_BASE_URL = ""
    rows = []
    for question in questions():
        sent: list[Any] = []
        evaluator = module.GPT_4V_Evaluator("m")
        evaluator.get_answer = lambda messages, sent=sent: sent.append(messages) or ""
        with tempfile.TemporaryDirectory() as scratch, redirect_stdout(StringIO()):
            base = Path(scratch)
            for name in ("data", "images", "results"):
                (base / name).mkdir()
            for number in (1, 2):
                (base / f"images/img_{number}.jpg").write_bytes(b"%d" % number)
            path = base / f"data/{question['set']}.json"
            evaluator.eval_dataset(str(path), [dict(question)], str(base / "results"))
        rows.append([question, digest(sent[0])])
    return rows


def digest(messages: list[dict[str, Any]]) -> str:
    """The digest of messages as [[role, texts and URLs of pictures], ...]."""
    flat = [
        [
            message["role"],
            [message["content"]]
            if isinstance(message["content"], str)
            else [
                part["text"] if part["type"] == "text" else part["image_url"]["url"]
                for part in message["content"]
            ],
        ]
        for message in messages
    ]
    return hashlib.sha256(json.dumps(flat).encode()).hexdigest()


def main() -> None:
    folders = [Path(argument) for argument in sys.argv[1:]]
    if len(folders) != 2:
        sys.exit(__doc__)
    content = {"verdicts": verdicts(folders), "prompts": prompts(folders[0])}
    raw = json.dumps(content, ensure_ascii=False).encode()
    OUT.write_bytes(gzip.compress(raw, mtime=0))


if __name__ == "__main__":
    main()
