r"""Functions for values in LaTeX: find boxes, remove decoration and units, and parse numbers."""

import math

from snellen.answers._search import lazy
from snellen.lazy import lazy_pattern
from snellen.text.numbers import latex_value

LONGEST = 200
"""The maximum length of a value in characters."""

_BRACES = lazy_pattern(r"\\f?boxed\s{0,9}\{|\\[{}]|[{}]")
_WRAPPED = lazy_pattern(r"\\(?:text|textbf|mathrm|mathbf|mbox|bf|boldsymbol)\s*\{([^{}]*)\}")
_BEFORE_EQUALS = lazy_pattern(r"^[A-Za-z\\][\w\\\s{}]{0,20}(?:=|\\approx|≈)\s*")
_UNIT = lazy_pattern(
    r"(?<=[\d})])(?:\s*\{[a-z]{2,}\}|\s+(?!and\b|or\b|to\b)[A-Za-z][A-Za-z ]*"
    r"|\s*(?:mm|cm|dm|km|kg|m|g|h|s|min|units?|degrees?|%|\\%)|\s*\^\s*\{?\\circ\}?|\s*°)"
    r"(?:\s*\^\s*\{?[23]\}?|[²³])?$"
)
_MARKUP = lazy_pattern(r"\\[()\[\]!]|\$|\*\*|\\displaystyle|\\left|\\right")
_SPACE = lazy_pattern(r"\\[,;: ]|~")
_DFRAC = lazy_pattern(r"\\[dt]frac")
_BARE_SQRT = lazy_pattern(r"\\sqrt\s*([0-9a-z])")
_BARE_FRAC = lazy_pattern(r"\\frac\s*([0-9])\s*([0-9])")
_MIXED = lazy_pattern(r"(-?)([0-9]+)\s*\\frac\{([0-9]+)\}\{([0-9]+)\}")
_NO_NUMBER = lazy_pattern(r"\s*[a-df-zA-Z]")
"""Matches text that begins with a letter other than e. Such text is not a number, because e
(Euler's number) is the only letter with which a number can begin."""
_TWO_NUMBERS = lazy_pattern(r"[0-9.]\s+[0-9.]")
_DECIMALS = lazy_pattern(r"-?[0-9,]*\.([0-9]{2,})")


def boxed(text: str) -> list[str]:
    r"""The content of each \boxed{…} with a closing brace, in order.

    >>> boxed(r"So \boxed{\frac{1}{2}}, not \boxed{3")
    ['\\frac{1}{2}']
    """
    if "boxed" not in text:
        return []
    boxes = []
    opened: list[int | None] = []
    for brace in _BRACES.finditer(text):
        if brace[0] == "}":
            start = opened.pop() if opened else None
            if start is not None and brace.start() - start <= LONGEST:
                boxes.append((start, text[start : brace.start()]))
        elif brace[0][-1] == "{" and brace[0] != r"\{":
            opened.append(None if brace[0] == "{" else brace.end())
    return [box for _, box in sorted(boxes)]


def cleaned(text: str) -> str:
    """Remove dollar signs, emphasis, \\text{}, units, and text before an equals sign from a
    value."""
    if "\\" in text:
        text = _WRAPPED.sub(r"\1", text.strip())
        text = _MARKUP.sub("", text)
        text = _DFRAC.sub(r"\\frac", _SPACE.sub(" ", text))
        text = _BARE_SQRT.sub(r"\\sqrt{\1}", text)
        text = _BARE_FRAC.sub(r"\\frac{\1}{\2}", text)
    else:
        text = text.replace("**", "").replace("$", "").replace("~", " ")
    text = text.strip().rstrip(".").strip()
    if "=" in text or "≈" in text or r"\approx" in text:
        text = _BEFORE_EQUALS.sub("", text)
    return _UNIT.sub("", text).strip()


def number(text: str) -> float | None:
    r"""Parse a cleaned value as a number; None for anything else, including two numbers.

    >>> number(r"2\frac{1}{2}"), number("1 2"), number("-3/4")
    (2.5, None, -0.75)
    """
    if len(text) > LONGEST or _NO_NUMBER.match(text) or _TWO_NUMBERS.search(text):
        return None
    if mixed := _MIXED.fullmatch(text):
        integer, upper, lower = (int(part) for part in mixed.groups()[1:])
        return (-1 if mixed[1] else 1) * (integer + upper / lower) if lower else None
    value = latex_value(text)
    return None if value is None or abs(value) > 1e300 else float(value)


class LatexValue:
    """A cleaned value, ready to be compared with other values. The value is parsed as a number at
    most once."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The cleaned value."""
        self.key = "".join(text.split()).casefold()
        """The text without spaces, for comparisons that ignore case."""

    @lazy
    def number(self) -> float | None:
        """The value as a number; None if it is not a number."""
        return number(self.text)

    def same_as(self, target: "LatexValue") -> bool:
        """Whether this answer has the same text or number as a target; see `same_value`."""
        if self.key == target.key:
            return bool(self.key)
        if self.number is None or target.number is None:
            return False
        decimals = _DECIMALS.fullmatch(self.text)
        rounding = 0.5 * 10.0 ** -len(decimals[1]) if decimals else 0.0
        return math.isclose(self.number, target.number, rel_tol=1e-6, abs_tol=rounding * (1 + 1e-9))


def same_value(answer: str, target: str) -> bool:
    """Whether two cleaned values are the same text (except for spaces and case) or the same number.

    Two numbers are the same if they differ by at most one part in a million, or if the answer has
    at least two decimal places and is the target rounded to that number of places.

    >>> same_value("1.33", "4/3"), same_value("1.3", "4/3"), same_value("(3, -4)", "(3,-4)")
    (True, False, True)
    """
    return LatexValue(answer).same_as(LatexValue(target))
