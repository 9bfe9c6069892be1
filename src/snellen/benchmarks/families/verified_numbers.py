r"""Whether math-verify takes a short text for the same number as an answer.

Some authors compare answers with the Python package math-verify. `is_number` is written from the
rules of its version 0.9.0, for a right answer that is a number. Line numbers are those of
math_verify/parser.py in this version.

- A number begins at the start of the text, after a blank, or after "=", and may have the sign of a
  currency before it. So "[3]", "(3)", and "~3" have no number, but "3rd" and "3:00" have a 3.
- Of several numbers, the last counts: "12 / 4 = 3" is 3, and "72, 71" is 71. After the word
  "answer", the first counts.
- "1,234" and "1 234" are 1234, "5,5" is 5.5, and "1/2" is computed. A text in LaTeX or in a box is
  read by `answers.latex`, which takes units away.
- "50%" is 0.5. Whole percentages are also equal to their whole number: "72%" is 72.

Sets, intervals, equations with several unknowns, and texts with other symbols are no numbers here.
"""

import ast
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from snellen.answers.latex import boxed, cleaned, number
from snellen.lazy import lazy_pattern

LONGEST = 2_000
"""The maximum length of a text in characters. A longer text has no number."""
DECIMALS = 6
"""The number of decimals to which a decimal number is compared (grader.py, `float_rounding`)."""
PERCENT = lazy_pattern(r"(?:%|[Pp]ercent|[Pp]ct)$")

# L170-L204
_BEFORE = r"(?:^|\s|=)"
_SIGNS = r"+\-×/^()÷"
_TERM = rf"{_BEFORE}(?P<term>-?\(?-?\d[\d.\s]*+[{_SIGNS}][\d.\s{_SIGNS}]+\)?)(?:[.,:)$]|\s|$)"
_NUMBER = (
    rf"{_BEFORE}[$€£¥฿\u20a1-\u20bf]?(?<!\d)"
    r"(?:(?P<thousands>-?[1-9]\d{0,2}(?:[ ,]\d{3})+(?:\.\d+)?)"
    r"|(?P<digits>-?\d+[.,]\d+|\.\d+|-?\d+))"
    r"(?P<percent>\s*(?:%|[Pp]ercent|[Pp]ct))?"
)
_EITHER = rf"(?:{_TERM}|{_NUMBER})"
# L234-L290: displayed formulas, inline formulas, or a fraction alone
_FORMULA = (
    r"(?:(?<!\\)\$\$((?:[^$]|\$(?!\$))+?)(?<!\\)\$\$"
    r"|(?<!\\)\\\[((?:[^\\]|\\(?!\]))+?)(?<!\\)\\\]"
    r"|(?<![\\\d])\$((?:\\\$|[^\n$])+?)(?<!\\)\$"
    r"|(?<!\\)\\\(((?:[^\\\n]|\\(?!\)))+?)(?<!\\)\\\)"
    r"|(-?\\frac\{-?\d+(?:[.,]\d+)?\}\{-?\d+(?:[.,]\d+)?\}))"
    r"(?:\s*(?:\\?%|[Pp]ercent|[Pp]ct))?"
)
_LATEX = rf"(?P<formula>{_FORMULA})(?P<more>(?:\s*(?:,?and|,?or|,)\s*{_FORMULA}){{1,5}})?"
# L206-L230, L311-L330: what comes before an answer, from the most to the least certain
_PRIORITIES: Sequence[Sequence[str]] = (
    (rf"(?i:final answer.{{0,100}}?)\s+is:?\s*{_LATEX}",
     rf"(?i:final answer.{{0,100}}?)\s+is:?{_EITHER}"),
    (rf"(?i:answer):[\s\S]{{0,50}}?{_LATEX}",
     rf"(?i:answer):(?:.{{0,100}}=\s*|.{{0,50}}?){_EITHER}(?!\s*=)"),
    (rf"(?i:answer)[\s\S]{{0,50}}?{_LATEX}",
     rf"(?i:answer)(?:.{{0,100}}=\s*|.{{0,50}}?){_EITHER}(?!\s*=)"),
    (_LATEX, _TERM, _NUMBER),
)  # fmt: skip
_PATTERNS = [[lazy_pattern(pattern) for pattern in patterns] for patterns in _PRIORITIES]


class ReadNumber(NamedTuple):
    """A number in a text."""

    text: str
    """The number as it is written, without its percent sign."""
    number: float | None
    """The number. None: the text is not read, so that another one is tried. NaN: the text is read,
    but it is equal to no number."""
    percent: bool = False
    """Whether a percent sign follows."""

    @property
    def decimal(self) -> bool:
        """Whether sympy has a decimal number here, or makes one when it rounds."""
        return "." in self.text or not float(self.number or 0).is_integer()


def is_number(text: str, right: str) -> bool:
    """Whether math-verify takes a text for the same number as the right answer.

    >>> is_number("It costs $1,200.", "1200"), is_number("12/4", "3"), is_number("[3]", "3")
    (True, True, False)
    """
    values = [*_tried(text)]
    wanted = next((value for value in _tried(right) if value.number is not None), None)
    if not values or wanted is None or wanted.number is None:
        return False
    # The first text that was tried is compared as a text, too (L549-L550).
    return values[0].text.strip() == wanted.text or _equal(values[-1], wanted, wanted.number)


def _equal(value: ReadNumber, wanted: ReadNumber, right: float) -> bool:
    if value.number is None:
        return False
    if value.percent and value.number == right and not (value.decimal or wanted.decimal):
        return True
    number = value.number / 100 if value.percent else value.number
    if wanted.decimal and value._replace(number=number).decimal:
        return round(number, DECIMALS) == round(right, DECIMALS)
    return math.isclose(number, right, rel_tol=1e-12, abs_tol=1e-12)


def _tried(text: str) -> Iterator[ReadNumber]:
    """The values that are tried, up to the first that has a number."""
    if len(text) > LONGEST:
        return
    for box in reversed(boxed(text)):
        yield (value := _latex(box))
        if value.number is not None:
            return
    for patterns in _PATTERNS:
        matches = [match for pattern in patterns for match in pattern.finditer(text)]
        # From the end of the text to its start; of matches with the same end, the longest first.
        matches.sort(key=lambda match: (match.end(), -match.start()), reverse=True)
        for match in matches:
            groups = {name: part for name, part in match.groupdict().items() if part}
            yield (value := _value(groups))
            if value.number is not None:
                return


def _value(groups: dict[str, str]) -> ReadNumber:
    """The value of a match, from its groups."""
    if term := groups.get("term"):
        return ReadNumber(term, _computed(term))
    if digits := groups.get("thousands"):
        digits = digits.replace(",", "").replace(" ", "")
        return ReadNumber(digits, float(digits), "percent" in groups)
    if digits := groups.get("digits"):
        integer, _, decimals = digits.replace(",", ".").partition(".")
        written = (integer.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
        return ReadNumber(written, float(written), "percent" in groups)
    if more := groups.get("more"):
        return ReadNumber(groups["formula"] + more, math.nan)  # several formulas are a set
    return _latex(groups["formula"])


def _computed(term: str) -> float | None:
    """The value of a sum, a product, or a quotient; NaN if it has none, such as 5/0. None if it is
    not written as in Python, such as 2 × 3."""
    try:
        ast.parse(term.replace("\n", " ").replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    value = number(term)
    return math.nan if value is None else value


def _latex(formula: str) -> ReadNumber:
    r"""The value of a formula. Of an equation such as `x=5`, the right side counts."""
    percent = PERCENT.search(formula.strip("$ "))
    side = cleaned(formula).rpartition("=")[2].strip()
    return ReadNumber(side, number(side), percent is not None)
