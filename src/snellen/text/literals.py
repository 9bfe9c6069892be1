"""Reads Python literals in untrusted texts, such as lists in cells and in replies."""

from __future__ import annotations

import ast
import warnings


def literal(text: str) -> object:
    """Return the value of a Python literal. No code is run.

    Raises:
        ValueError: the text is not a literal, its brackets are nested too deeply, or it contains
            an integer of more than 4,300 decimal digits.

    >>> literal("['a', 2]")
    ['a', 2]
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # about backslashes
            value = ast.literal_eval(text)
        repr(value)  # stops at 0xFFF... with so many digits that Python refuses to write the number
        return value
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"{text[:80]!r} is not a Python literal") from error
