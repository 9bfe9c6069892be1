"""Splits a row of a sheet into cells, as bytes, with the quoting of the csv module in strict mode.

Neither csv nor polars gives the position of a cell in the file.
"""

from collections.abc import Callable
from typing import NamedTuple

LONE_RETURN = r"it has a carriage return (\r) outside of quotes"


class NotSplit(ValueError):
    """A row cannot be split into cells. The message says why."""


class Span(NamedTuple):
    """The position of a cell's text in its row."""

    start: int
    """The first byte."""
    end: int
    """The byte after the last one."""
    doubled: bool
    """Whether two quotes in it stand for one."""


def spans(raw: bytearray, delimiter: bytes, go_on: Callable[[], bool]) -> list[Span]:
    """The positions of the cells in a row.

    Removes the row's line end. While a quote is open, `go_on` appends the next line, or returns
    False at the end of the file.

    Raises:
        NotSplit: a quote is never closed, a quoted cell goes on after its quote, or there is a
            carriage return outside of quotes.
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
            raise NotSplit("a quoted cell goes on after its closing quote")
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
