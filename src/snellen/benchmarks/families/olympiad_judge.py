"""OlympiadBench's comparison of a reply with the right answer, written anew from its rules.

OpenBMB/OlympiadBench@ba5b26a7e2849940b598a9159c1190daa2b9175f:inference/code/math_judger.py. Line
numbers in comments refer to this file. `latex_worker.py` compares formulas with sympy.
"""

import atexit
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock, Timer

from snellen.benchmarks.families.mathematics import is_float
from snellen.errors import UsageError, install

LIMIT_S = 30.0
"""The most seconds for one pair of formulas, as in VLMEvalKit. The authors' code has no limit."""
USUAL = 1e-8
"""The largest difference of equal numbers, unless the data set has another."""
SIGNS = (
    *(("\\left", ""), ("\\right", ""), ("\u2236", ":"), ("，", ","), ("$", "")),
    *(("\\approx", "="), ("\\simeq", "="), ("\\sim", "="), ("^\\prime", "'")),
    *(("^{\\prime}", "'"), ("^\\circ", ""), ("%", "")),
)
EDGES = "\n$,.:;^_=+`!@#$%^&*~，。"
BOX = "\\boxed{"
LONGEST_CONTENTS = 1_000_000
"""The greatest number of characters in all boxes of a reply. Those in nested boxes count again."""
LONGEST_FORMULA = 2_000
_BRACE = re.compile("[{}]")
_FONT = re.compile(r"\\(?:mathrm|mathbf)\{~?([^}]*)\}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]+")
_PLAIN = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?")
_LETTERS = re.compile(r"[A-Za-z\s]+")


def is_right(reply: str, target: str, precisions: Sequence[float], *, kit: bool = False) -> bool:
    """Whether the answers in a reply can be paired with the right answers (`judge`, #L67-L117).
    `precisions` has a number for each answer, or one for all."""
    try:
        first, second = cleaned(reply), cleaned(target)
    except ValueError:
        return False
    if first == second:
        return True
    # If both are only Chinese characters, nothing is left, and any reply is right.
    answers, rights = (separate(_CHINESE.sub("", text)) for text in (first, second))
    limits = [*precisions] * (len(answers) if len(precisions) == 1 else 1)
    if len(answers) != len(rights):
        return False
    index = -1
    while answers:
        # The index moves on although an answer was removed: answers are compared in this order.
        index = (index + 1) % len(answers)
        if index >= len(limits):
            return False  # The authors' script stops here.
        answer, limit = answers[index], limits[index]
        right = next((right for right in rights if is_same(answer, right, limit, kit)), None)
        if right is None:
            return False
        # Each removes the first equal entry, which need not be the one at this index.
        answers.remove(answer)
        rights.remove(right)
        limits.remove(limit)
    return True


def cleaned(text: str) -> str:
    """The text of the answers, without signs that do not change a formula (#L367-L395).

    Raises:
        ValueError: a box is not closed.
    """
    text = boxed(text)
    if "\\in " in text:
        text = text.split("\\in ")[1]
    for sign, other in SIGNS:
        text = text.replace(sign, other)
    return _FONT.sub(r"\1", text.strip(EDGES))


def boxed(text: str) -> str:
    """The contents of all boxes, also of boxes in boxes, each with a comma after it. Without boxes,
    the formulas between dollar signs on the last line. Without formulas, the text (#L332-L365).

    Raises:
        ValueError: a box is not closed, or boxes are nested so deeply that their contents have more
            than `LONGEST_CONTENTS` characters.
    """
    contents: list[str] = []
    total = 0
    start = text.find(BOX)
    while start >= 0:
        start, depth = start + len(BOX), 1
        for brace in _BRACE.finditer(text, start):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                contents.append(text[start : brace.start()])
                total += len(contents[-1])
                break
        else:
            raise ValueError("a box is not closed")
        if total > LONGEST_CONTENTS:
            raise ValueError("the boxes are nested too deeply")
        start = text.find(BOX, start)
    if not contents:
        contents = re.findall(r"\$(.*?)\$", text.strip().split("\n")[-1])
    return "".join(f"{content}," for content in contents) or text


def separate(text: str) -> list[str]:
    r"""The parts between commas outside of brackets. A part with \pm becomes two (#L36-L64)."""
    parts, start, depth = [], 0, 0
    for position, sign in enumerate(text):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    if start < len(text):
        parts.append(text[start:].strip())
    return [
        part.replace("\\pm", sign)
        for part in parts
        for sign in (("+", "-") if "\\pm" in part else ("",))
    ]


def is_same(answer: str, right: str, precision: float, kit: bool) -> bool:
    """Whether two answers are equal as texts, numbers, or formulas (`is_equal`, #L125-L166)."""
    if answer == right and answer:
        return True
    if is_float(answer) and is_float(right) and same_number(answer, right, precision):
        return True
    if _PLAIN.fullmatch(right) and (_PLAIN.fullmatch(answer) or _LETTERS.fullmatch(answer)):
        return False  # As formulas, these numbers differ too, and letters are symbols.
    return same_formula(answer, right, precision, kit)


def same_number(answer: str, right: str, precision: float) -> bool:
    """Whether the right number is the reply's, or its hundredth or hundredfold (#L170-L194)."""
    number = float(answer)
    return any(
        abs(value - float(right)) <= precision * 1.01
        for value in (number / 100, number, number * 100)
    )


# -- formulas


class Uncompared(Exception):
    """Two formulas could not be compared within the limits of time and memory. Whether they are
    equal is not known, so the answer has no score."""


class SympyProcess:
    """A process that compares formulas with sympy. It is started for the first pair, and again
    after a pair that took too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def same(self, **arguments: object) -> bool:
        """Whether two formulas are equal.

        Raises:
            Uncompared: the comparison takes too long or needs too much memory.
            UsageError: sympy or its parser is not installed.
        """
        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._start()
            assert process.stdin is not None and process.stdout is not None
            timer = Timer(LIMIT_S, process.kill)
            timer.start()
            try:
                process.stdin.write(json.dumps(arguments) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            finally:
                timer.cancel()
            if not line:  # It was killed because of the time, or by the system for its memory.
                self.close()
                raise Uncompared
            return bool(json.loads(line))

    def check_installation(self) -> None:
        """Compare two formulas.

        Raises:
            UsageError: sympy or its parser is not installed.
        """
        self.same(first="x", second="x", precision=1e-8, kit=False)

    def _start(self) -> subprocess.Popen[str]:
        path = Path(__file__).with_name("latex_worker.py")
        process = subprocess.Popen(
            # -P: the folder's files hide no other modules. The folders are where sympy may be.
            [sys.executable, "-P", str(path), *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert process.stdout is not None
        self._process = process
        reason = json.loads(process.stdout.readline() or '"the process ended"')
        if reason is not None:
            self.close()
            raise UsageError(
                f"OlympiadBench's answers are compared with sympy, which cannot be used: {reason} "
                f"Run `{install('latex')}`."
            )
        return process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


SYMPY = SympyProcess()
atexit.register(SYMPY.close)


@lru_cache(maxsize=10_000)
def same_formula(answer: str, right: str, precision: float, kit: bool) -> bool:
    """Whether two formulas are equal. A formula with more than `LONGEST_FORMULA` characters is not
    compared and equals no other, because sympy would take until the time limit."""
    if max(len(answer), len(right)) > LONGEST_FORMULA:
        return False
    return SYMPY.same(first=answer, second=right, precision=precision, kit=kit)
