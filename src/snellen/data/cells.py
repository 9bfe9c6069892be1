"""Splits the bytes of a sheet's row into cells. Quoting follows the csv module in strict mode.

This module exists because neither csv nor polars returns the position of a cell in the file.
"""

from collections.abc import Callable
from typing import NamedTuple

LONE_RETURN = r"it has a carriage return (\r) outside quotes"


class NotSplit(ValueError):
    """Raised if a row cannot be split into cells. The message states the reason."""


class Span(NamedTuple):
    """The position of a cell's text in its row."""

    start: int
    """The offset of the first byte."""
    end: int
    """The offset after the last byte."""
    doubled: bool
    """Whether the text contains doubled quotes, each of which means one quote."""


def spans(raw: bytearray, delimiter: bytes, go_on: Callable[[], bool]) -> list[Span]:
    """The positions of the cells in a row.

    Removes the carriage return at the end of `raw`. While a quote is open, calls `go_on`, which
    appends lines to `raw` or returns False at the end of the file.

    Raises:
        NotSplit: A quote is never closed, a quoted cell continues after its closing quote, or there
            is a carriage return outside quotes.
    """
    cells = []
    at = 0
    while True:
        doubled = False
        if raw.startswith(b'"', at):
            start = end = at + 1
            while True:
                searched = len(raw)
                end = raw.find(b'"', end)
                if end < 0:
                    if not go_on():
                        raise NotSplit("a quote is never closed")
                    end = searched
                elif raw.startswith(b'"', end + 1):
                    doubled = True
                    end += 2
                else:
                    break
            behind = end + 1
            if raw.endswith(b"\r") and len(raw) == behind + 1:
                del raw[behind:]
        else:
            start = at
            end = raw.find(delimiter, at)
            if end < 0:
                if raw.endswith(b"\r"):
                    del raw[-1:]
                end = len(raw)
            if raw.find(b"\r", start, end) >= 0:
                raise NotSplit(LONE_RETURN)
            behind = end
        cells.append(Span(start, end, doubled))
        if behind == len(raw):
            return cells
        if not raw.startswith(delimiter, behind):
            raise NotSplit("a quoted cell continues after its closing quote")
        at = behind + 1


def unquoted(raw: bytes, delimiter: bytes) -> list[Span]:
    """The positions of the cells in a row without quotes."""
    cells = []
    at = 0
    while (end := raw.find(delimiter, at)) >= 0:
        cells.append(Span(at, end, False))
        at = end + 1
    cells.append(Span(at, len(raw), False))
    return cells
