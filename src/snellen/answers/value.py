r"""The value that a reply settles on, and whether two values are the same."""

import math
import re
from typing import NamedTuple

from snellen.text.numbers import latex_value


class Value(NamedTuple):
    """A value as the reply writes it, without dollar signs and units, or None; the rule that found it or gave up."""

    answer: str | None
    rule: str
    candidates: tuple[str, ...] = ()


_SAID = re.compile(
    r"\b(?i:(?:answer|solution|result)(?:\s+(?:is|should be|would be|must be)\b|\s*[:=])|answer\s*\*\*\s*:)"
    r"[\s:*]*(?P<value>[^\n]*)"
)
_SENTENCE = re.compile(r"[.;!?](?:\s|$)|,\s|\s(?:because|since|as|so|which|when|where)\b")
_WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|bf|boldsymbol)\s*\{([^{}]*)\}")
_BEFORE_EQUALS = re.compile(r"^[A-Za-z\\][\w\\\s{}]{0,20}(?:=|\\approx|≈)\s*")
_UNIT = re.compile(
    r"(?<=[\d})])(?:\s+(?!and\b|or\b|to\b)[A-Za-z][A-Za-z ]*|\s*(?:mm|cm|dm|km|kg|m|g|h|s|min|units?|degrees?|%|\\%)"
    r"|\s*\^\s*\{?\\circ\}?|\s*°)(?:\s*\^\s*\{?[23]\}?|[²³])?$"
)
_MIXED = re.compile(r"(-?)([0-9]+)\s*\\frac\{([0-9]+)\}\{([0-9]+)\}")
_NUMBER = re.compile(r"(?<![\w.,/^])-?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:/[0-9]+)?(?![\w^]|[.,/:][0-9])")
_DECIMALS = re.compile(r"-?[0-9,]*\.([0-9]{2,})")


def boxed(text: str) -> list[str]:
    r"""What stands in each \boxed{…} whose braces close, in their order.

    >>> boxed(r"So \boxed{\frac{1}{2}}, not \boxed{3")
    ['\\frac{1}{2}']
    """
    found = []
    for mark in re.finditer(r"\\f?boxed\s*\{", text):
        depth = 1
        for brace in re.finditer(r"[{}]", text[mark.end() : mark.end() + 1_000]):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                found.append(text[mark.end() : mark.end() + brace.start()])
                break
    return found


def final_value(text: str) -> Value:
    r"""The value that a reply settles on; never a guess.

    In this order: \boxed{…}; what follows "the answer is" or "Answer:"; the whole reply, if it is a value; the only number in
    it. The first of these that is there decides; if it names two values, the reply is unparsed.

    >>> final_value("The answer is $12$ cm.").answer
    '12'
    >>> final_value("1 2 3").answer is None
    True
    """
    boxes = boxed(text)
    if boxes:
        return _only("boxed", [cleaned(box) for box in boxes])
    said = [cleaned(_SENTENCE.split(match["value"])[0]) for match in _SAID.finditer(text)]
    said = [value for value in said if number(value) is not None]
    if said:
        return _only("the answer is", said)
    whole = cleaned(text)
    if number(whole) is not None:
        return _only("whole reply", [whole])
    numbers = _NUMBER.findall(text)
    if numbers:
        return _only("only number", numbers)
    return Value(None, "no value")


def cleaned(text: str) -> str:
    """A value without dollar signs, emphasis, \\text{}, what stands before its equals sign, units, and a full stop."""
    text = _WRAPPED.sub(r"\1", text.strip())
    for mark in (r"\(", r"\)", r"\[", r"\]", "$", "**", r"\displaystyle", r"\left", r"\right", r"\!"):
        text = text.replace(mark, "")
    text = re.sub(r"\\[dt]frac", r"\\frac", re.sub(r"\\[,;: ]|~", " ", text))
    text = _BEFORE_EQUALS.sub("", text.strip().rstrip(".").strip())
    return _UNIT.sub("", text).strip()


def number(text: str) -> float | None:
    r"""The number that a cleaned value is, all of it; None for anything else, numbers side by side too.

    >>> number(r"2\frac{1}{2}"), number("1 2"), number("-3/4")
    (2.5, None, -0.75)
    """
    if re.search(r"[0-9.]\s+[0-9.]", text) or len(text) > 200:
        return None
    if mixed := _MIXED.fullmatch(text):
        whole, upper, lower = (int(part) for part in mixed.groups()[1:])
        return (-1 if mixed[1] else 1) * (whole + upper / lower) if lower else None
    value = latex_value(text, whole=True)
    return None if value is None or abs(value) > 1e300 else float(value)


def same_value(answer: str, target: str) -> bool:
    """Whether two cleaned values are the same text but for blanks and case, or the same number.

    Numbers are the same to one part in a million, or where the answer is the target rounded to the two or more decimals that
    the answer has.

    >>> same_value("1.33", "4/3"), same_value("1.3", "4/3"), same_value("(3, -4)", "(3,-4)")
    (True, False, True)
    """
    if re.sub(r"\s", "", answer).casefold() == re.sub(r"\s", "", target).casefold():
        return bool(answer.strip())
    said, right = number(answer), number(target)
    if said is None or right is None:
        return False
    decimals = _DECIMALS.fullmatch(answer)
    rounding = 0.5 * 10.0 ** -len(decimals[1]) if decimals else 0.0
    return math.isclose(said, right, rel_tol=1e-6, abs_tol=rounding * (1 + 1e-9))


def _only(rule: str, values: list[str]) -> Value:
    different: list[str] = []
    for value in values:
        if value and not any(same_value(value, other) for other in different):
            different.append(value)
    if len(different) == 1:
        return Value(different[0], rule, tuple(different))
    return Value(None, f"several: {rule}" if different else f"nothing: {rule}", tuple(different))
