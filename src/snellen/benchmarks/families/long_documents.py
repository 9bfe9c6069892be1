"""MMLongBench-Doc's rules for extracted answers: its authors', VLMEvalKit's, and lmms-eval's.

mayubo2333/MMLongBench-Doc@d73f0dc0be7e0a2ff6a403d5fe65fcd96461f384:eval/eval_score.py#L6-L157
open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/mmlongbenchdoc.py
    #L114-L373
EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/mmlongbench_doc/
    utils.py#L29-L195
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose, isinf

from snellen.benchmarks.families.edit_distance import plain_similarity, similarity
from snellen.text.literals import literal

EXACT = re.compile(
    r"\b\d+(-\d+|\s\d+)?\b|\b\d{4}[-\s]\d{2}[-\s]\d{2}\b|\b\d{4}[-\s]\d{2}\b"
    r"|[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}"
)
NUMBER = re.compile(r"[-+]?\d*\.?\d+")
FORMATS = {"integer": "int", "string": "str"}
UNANSWERABLE = "Not answerable"
NO_LITERAL = object()
"""The value of a text that is no literal of Python."""


class NotScored(ValueError):
    """The authors' code raises an exception at this pair."""


def cut(text: str) -> str | None:
    """The extracted answer in the extractor's reply. None if it has no "Extracted answer:" before
    the format.

    >>> cut("Extracted answer: 25 \\nAnswer format: Integer"), cut("25")
    ('25', None)
    """
    _, *parts = text.split("Answer format:")[0].split("Extracted answer:")
    return parts[0].strip() if parts else None


# -- the authors' rules


def official(answer: str, right: str, kind: str) -> float:
    """The score of an extracted answer.

    Raises:
        NotScored: the authors' code stops at this pair.
    """
    return _score(answer, right, kind, texts=("Str", "None"))


def vlmevalkit(answer: str, right: str, kind: str) -> float:
    """The same in VLMEvalKit, where the format None has the rule for lists, and a pair at which the
    code stops scores 0."""
    try:
        return _score(answer, right, kind, texts=("Str",))
    except NotScored:
        return 0.0


def _score(answer: str, right: str, kind: str, texts: tuple[str, ...]) -> float:
    if kind == "Int":
        return float(_equal_integers(answer, right))
    if kind == "Float":
        return float(_equal_floats(answer, right))
    if kind in texts:
        pair = _cleaned(answer), _cleaned(right)
        return float(pair[0] == pair[1]) if _is_exact(pair[1]) else _kept(similarity(*pair))
    answers, rights = _items(answer), _items(right)
    if len(answers) != len(rights):
        return 0.0
    if not rights:
        raise NotScored("two empty lists")
    answers, rights = (sorted(map(_cleaned, items)) for items in (answers, rights))
    if _number(rights[0]) is not None or _is_exact(rights[0]):
        return float("-".join(answers) == "-".join(rights))
    return min(_kept(similarity(*pair)) for pair in zip(answers, rights, strict=True))


def _equal_integers(answer: str, right: str) -> bool:
    try:
        return int(right) == int(float(answer))
    except (ValueError, OverflowError):
        return right == ""


def _equal_floats(answer: str, right: str) -> bool:
    value, reference = _number(_cleaned(answer)), _number(_cleaned(right))
    if reference is None and _number(right.strip().rstrip("%").strip()) is None:
        raise NotScored(f"the reference {right!r:.40} is no number")
    return value is not None and reference is not None and _close(value, reference)


def _close(value: float, reference: float) -> bool:
    """Whether a value is within 1 % of a reference or of its hundredth or hundredfold, or equals
    one of these after rounding."""
    for wanted in (reference / 100, reference, reference * 100):
        digits = max(min(_decimals(value), _decimals(wanted)), 2)
        if isclose(wanted, value, rel_tol=0.01) or round(value, digits) == round(wanted, digits):
            return True
    return False


def _decimals(value: float) -> int:
    _, point, decimals = str(value).partition(".")
    return len(decimals) if point else 3


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _kept(score: float) -> float:
    return score if score > 0.5 else 0.0


def _cleaned(text: str) -> str:
    """Lowercase without parentheses, a quote at each end, "$" before, and "%" after. The lines that
    are meant to remove "miles" and "million" have no effect in the authors' code."""
    text = text.lower().strip()
    end = text.rfind(")") + 1  # after it, no parenthesis is closed, and a search would take long
    text = (re.sub(r"\s*\([^)]*\)", "", text[:end]) + text[end:]).strip()
    text = re.sub(r"^['\"]|['\"]$", "", text).strip()
    return text.lstrip("$").strip().rstrip("%").strip()


def _is_exact(
    text: str, sites: Sequence[str] = ("https://",), files: tuple[str, ...] = (".py", "ipynb")
) -> bool:
    """Whether a cleaned reference looks like a number, date, address, or file."""
    return bool(
        any(part in text for part in (*sites, "a.m.", "p.m."))
        or text.endswith(files)
        or text.startswith("page")
        or EXACT.fullmatch(text)
    )


def _items(text: str) -> list[str]:
    """The items of a list, or the text as the only item. The authors' code evaluates a list as
    Python code. Here, only literals are read."""
    if not text.startswith("["):
        return [text]
    value = _literal(text)
    if value is NO_LITERAL:
        raise NotScored(f"{text:.40} is not a list")
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _literal(text: str) -> object:
    try:
        return literal(text)
    except ValueError:
        return NO_LITERAL


# -- lmms-eval's rules


def lmms_eval(answer: str, right: str, kind: str) -> float:
    name = (kind or "Str").strip().lower()
    name = FORMATS.get(name, name)
    if name in ("int", "float"):
        value, reference = _first_number(answer), _first_number(right)
        if value is None or reference is None:
            return 0.0
        if name == "float" or isinf(value) or isinf(reference):
            return float(_close(value, reference))
        return float(int(value) == int(reference))
    if name == "none":
        return float(lmms_cleaned(answer) == UNANSWERABLE.lower())
    if name != "list":
        pair = lmms_cleaned(answer), lmms_cleaned(right)
        return _lmms_kept(*pair) if not _lmms_is_exact(pair[1]) else float(pair[0] == pair[1])
    answers, rights = (sorted(map(lmms_cleaned, _lmms_items(text))) for text in (answer, right))
    if len(answers) != len(rights):
        return 0.0
    if not rights or _first_number(rights[0]) is not None or _lmms_is_exact(rights[0]):
        return float(answers == rights)
    return min(_lmms_kept(*pair) for pair in zip(answers, rights, strict=True))


def _lmms_kept(answer: str, right: str) -> float:
    return _kept(plain_similarity(answer, right))


def _lmms_is_exact(text: str) -> bool:
    return _is_exact(text, ("https://", "http://"), (".py", ".ipynb"))


def lmms_cleaned(text: str) -> str:
    text = _cleaned(text)
    for unit in (" miles", " mile", " million"):
        if text.endswith(unit):
            text = text.removesuffix(unit).strip()
    return " ".join(text.split())


def _first_number(text: str) -> float | None:
    match = NUMBER.search(text.replace(",", ""))
    return float(match[0]) if match else None


def _lmms_items(text: str) -> list[str]:
    value = _literal(text)
    if isinstance(value, list):
        return [str(item) for item in value]
    if value is None:
        return []
    return [text if value is NO_LITERAL else str(value)]
