"""Converts values to cells of spreadsheets and text files, and back."""

import json
import math
import re
from dataclasses import dataclass

from snellen.errors import DataError

LONGEST = 32_767
"""The maximum length of the text in a cell, in UTF-16 code units (Excel's limit). Most programs cut
off longer text."""
EXACT = 2**53
"""Numbers in spreadsheets are floats. Whole numbers below this limit are exact."""
# Includes the full-width signs, which a Japanese Excel also reads as the start of a formula.
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class NoText:
    """A cell that does not contain its original text."""

    why: str
    """What the cell contains instead of its original text, such as "a formula"."""


def harmless(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet program would read as a formula. Other text,
    including a plain number such as -5, is unchanged.

    A formula that already begins with apostrophes gets one more apostrophe, so that `original` can
    restore every cell.

    >>> harmless("=1+1"), harmless("- a cat"), harmless("-5"), harmless("'=1")
    ("'=1+1", "'- a cat", '-5', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def original(text: str) -> str:
    """Restore the text of a cell that `harmless` may have changed.

    >>> original("'=1+1"), original("''=1"), original("-5"), original("'quoted'")
    ('=1+1', "'=1", '-5', "'quoted'")
    """
    shorter = text[1:]
    return shorter if text.startswith("'") and harmless(shorter) == text else text


def cell(value: object, where: str) -> str | int | float | bool | None:
    """Convert a value to one cell. A list or dictionary becomes JSON.

    Raises:
        DataError: The value is an infinite number, NaN, or text with a lone surrogate.
    """
    match value:
        case None | bool() | int():
            return value
        case float():
            if math.isfinite(value):
                return value
            raise DataError(f"{where} is {value!r}, which cannot be written to a file as a number.")
        case str():
            return encodable(value, where)
        case list() | tuple() | dict():
            return encodable(json.dumps(value, ensure_ascii=False), where)
    raise TypeError(f"{where} is a {type(value).__name__}, which cannot be a cell")


def encodable(text: str, where: str) -> str:
    """Return the text unchanged, if UTF-8 can encode it.

    Raises:
        DataError: The text contains a lone surrogate (half a character).
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where} has half a character (a lone surrogate) at position {error.start}, which "
            "cannot be written to a file. Remove it."
        ) from error
    return text
