"""Reads and writes cells of spreadsheets."""

import json
import math
import re
from dataclasses import dataclass

from snellen.errors import DataError

LONGEST = 32_767
"""The longest text of a cell, Excel's limit, in UTF-16 units. Most programs cut longer text."""
EXACT = 2**53
"""Numbers in spreadsheets are floats. Below this limit, a whole number is exact."""
# Also the wide signs, which a Japanese Excel takes for the same.
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class NoText:
    """A cell whose text is lost."""

    why: str
    """What the cell contains instead: "a formula"."""


def harmless(text: str) -> str:
    """A cell of a text file, with an apostrophe before text that a spreadsheet program would read
    as a formula. A plain number such as -5 is unchanged.

    Text that has apostrophes before such a sign gets another one, so that every cell can be
    restored.

    >>> harmless("=1+1"), harmless("- a cat"), harmless("-5"), harmless("'=1")
    ("'=1+1", "'- a cat", '-5', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def original(text: str) -> str:
    """The original of a cell that `harmless` changed.

    >>> original("'=1+1"), original("''=1"), original("-5"), original("'quoted'")
    ('=1+1', "'=1", '-5', "'quoted'")
    """
    shorter = text[1:]
    return shorter if text.startswith("'") and harmless(shorter) == text else text


def cell(value: object, where: str) -> str | int | float | bool | None:
    """A value as one cell; a list or an object becomes JSON.

    Raises:
        DataError: it is not a finite number, or text with half a character.
    """
    match value:
        case None | bool() | int():
            return value
        case float():
            if math.isfinite(value):
                return value
            raise DataError(f"{where} is {value!r}, which is not a number of a file.")
        case str():
            return encodable(value, where)
        case list() | tuple() | dict():
            return encodable(json.dumps(value, ensure_ascii=False), where)
    raise TypeError(f"{where} is a {type(value).__name__}, which is not a cell")


def encodable(text: str, where: str) -> str:
    """The text, if UTF-8 can encode it.

    Raises:
        DataError: it has half a character (a lone surrogate).
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where} has half a character at {error.start}: no file can hold it."
        ) from error
    return text
