"""Compare answers about tables as the evaluators of WikiTableQuestions and FinTabNetQA do.

TableVQA-Bench has both, and the line numbers below refer to its file: naver-ai/
tablevqabench@87d38e7907e268ea18c7d9c318e95e3a43009cea:src/evaluate_tablevqa_dataset.py#L120-L500.
"""

import math
import re
import unicodedata
from typing import NamedTuple

Date = tuple[int, int, int]
"""Year, month, and day. Unknown parts are -1."""
CLOSE = 1e-6
_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
# Both patterns match reversed texts, so that long replies take linear time. "[...]" is kept at the
# start of a text, unless it has only digits.
_TAGS = re.compile(r"(?:[\u2022\u2666\u2020\u2021*#+]|\][^\]]*\[(?!\Z)|\]\d+\[)*")
_DETAILS = re.compile(r"(?:\)[^)]*\( )*")


class TableValue(NamedTuple):
    """An answer as text, and its amount or date if it is a number or a date."""

    text: str
    """The normalized text."""
    content: int | float | Date | None
    """The amount of a number, or a date; None for any other text."""

    def matches(self, other: "TableValue") -> bool:
        """Whether the texts are equal, the amounts are close, or the dates are equal."""
        if self.text == other.text:
            return True
        if isinstance(self.content, int | float) and isinstance(other.content, int | float):
            try:
                return abs(self.content - other.content) < CLOSE
            except OverflowError:  # an integer that is too large for a float
                return False
        return self.content is not None and self.content == other.content


def normalize(text: str) -> str:
    """Normalize a text: no accents, plain quotation marks and dashes, lowercase, and no footnote
    marks, details in parentheses, quotation marks, or full stop at the end.

    >>> normalize("Oslo (Norway)[2]")
    'oslo'
    """
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
    text, before = plain.translate(_PLAIN), None
    while text != before:
        before = text
        text = _without_end(_TAGS, text.strip())
        text = _without_end(_DETAILS, text.strip()).strip()
        if len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2:
            text = text[1:-1]
    return " ".join(text.removesuffix(".").lower().split())


def _without_end(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text[::-1])
    return text[: len(text) - match.end()] if match else text


def same_denotation(target: str, predicted: str) -> bool:
    """Whether two lists of answers, with "|" between the answers, have equal sizes, and each target
    matches an answer. Equal answers in a list count once.

    >>> same_denotation("3|Oslo", "oslo (Norway)|3.0")
    True
    """
    targets, answers = _values(target), _values(predicted)
    return len(targets) == len(answers) and all(
        any(value.matches(answer) for answer in answers) for value in targets
    )


def _values(text: str) -> list[TableValue]:
    values: dict[str | int | float | Date, TableValue] = {}
    for item in text.split("|"):
        item = item.replace(r"\n", "\n").replace(r"\p", "|").replace(r"\\", "\\")
        value = TableValue(normalize(item), _content(item))
        # Of numbers with equal amounts, the first remains: #L298-L299 and #L448.
        values.setdefault(value.text if value.content is None else value.content, value)
    return [*values.values()]


def _content(item: str) -> int | float | Date | None:
    amount = _amount(item)
    if amount is not None:
        return amount
    date = _date(item)
    # Only the year is known, so the date counts as a number: #L423-L424.
    return date[0] if date is not None and date[1] == date[2] == -1 else date


def _amount(item: str) -> int | float | None:
    """The number that Python's `int` or `float` reads. "1_000" is a number, and "1,000" is not.

    The authors' script stops at "nan" and "inf" (#L327). Here, they are texts.
    """
    try:
        return int(item)
    except ValueError:
        pass
    try:
        amount = float(item)
    except ValueError:
        return None
    if not math.isfinite(amount):
        return None
    # `int` cuts, so 2.9999999 becomes 2: #L281-L282.
    return int(amount) if abs(amount - round(amount)) < CLOSE else amount


def _date(item: str) -> Date | None:
    parts = item.lower().split("-")
    if len(parts) != 3:
        return None
    unknown = (("xx", "xxxx"), ("xx",), ("xx",))
    try:
        year, month, day = (
            -1 if part in words else int(part) for part, words in zip(parts, unknown, strict=True)
        )
    except ValueError:
        return None
    is_date = (month == -1 or 1 <= month <= 12) and (day == -1 or 1 <= day <= 31)
    return (year, month, day) if is_date and (year, month, day) != (-1, -1, -1) else None


# -- amounts with units

_UNITS = (
    *("dollar", "gallons", "square feet", "shares", "mbtu", "mbpd", "mbbls", "mmbtu"),
    *("unit", "gwh", "year", "mmcf", "mile", "mboe"),
)
_UNIT = re.compile(rf"\b(?:{'|'.join(_UNITS)})s?\b")
_POWERS = {"thousand": "e3", "million": "e6", "billion": "e9"}
# The words with a space before them come first, so "two thousand thousand" becomes "twoe3e3", but
# "thousand thousand" becomes "thousande3": #L170-L192.
_SCALES = (
    *((re.compile(rf" \b{word}\b"), power) for word, power in _POWERS.items()),
    *((re.compile(rf"\b{word}\b"), power) for word, power in _POWERS.items()),
    (re.compile(" ?%"), "e-2"),
)


def same_amount(answer: str, target: str) -> bool:
    """Whether two texts have the same amount, with or without their scales.

    >>> same_amount("$3 million", "3"), same_amount("3 thousand", "3 million")
    (True, True)
    """
    return any(left == right for left in _amounts(answer) for right in _amounts(target))


def same_amount_and_unit(answer: str, target: str) -> bool:
    """Whether two texts have the same amount with the same scale.

    >>> same_amount_and_unit("$3 million", "3"), same_amount_and_unit("3 thousand", "3,000")
    (False, True)
    """
    return _amounts(answer)[0] == _amounts(target)[0]


def _amounts(text: str) -> tuple[float | str, float | str]:
    """The amount of a text with its scale and without it: "3 million" gives 3e6 and 3. If either is
    not a number, both stay texts."""
    scaled = bare = _UNIT.sub("", re.sub(r"[$(),]", "", normalize(text)))
    for scale, power in _SCALES:
        scaled, bare = scale.sub(power, scaled), scale.sub("", bare)
    try:
        return float(scaled), float(bare)
    except ValueError:
        return scaled, bare
