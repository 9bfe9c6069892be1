"""Draws, as text, the results of a ladder: questions of the same kind at several levels of
difficulty. Bars show the share of right answers at each level. The threshold is below the bars."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

BARS = "_▁▂▃▄▅▆▇█"
"""The bars for shares of 0, 1/8, ..., 8/8. A share is rounded to the nearest eighth."""


def ladder(
    shares: Mapping[str, float],
    threshold: float | None = None,
    ci95: tuple[float, float] | None = None,
) -> list[str]:
    """Lines of text: the levels, a bar for the share of right answers at each level, and the
    threshold.

    `shares` is in the order of the levels. A level's name contains the level's number (`013
    pixels`). The threshold (`┼`) and its interval (`├─┤`) are drawn between the levels according to
    their values. A value beyond the levels is drawn at the edge. If there is no threshold, the last
    line is missing. If there are no levels, there are no lines.

    >>> for line in ladder({"04 pixels": 0.1, "08 pixels": 0.5, "16 pixels": 1.0}, 6.0, (5.0, 8.0)):
    ...     print(line)
       4   8  16
       ▁   ▄   █
        ├┼─┤
    """
    if not shares:
        return []
    numbers = {name: numeral(name) for name in shares}
    width = 1 + max(3, *(len(number) for number in numbers.values()))
    lines = [
        "".join(f"{number:>{width}}" for number in numbers.values()),
        "".join(f"{BARS[int(share * 8 + 0.5)]:>{width}}" for share in shares.values()),
    ]
    if threshold is None:
        return lines
    levels = [float(number) for number in numbers.values()]
    mark = [" "] * (width * len(levels))
    if ci95 is not None:
        first, last = sorted(_column(levels, end, width) for end in ci95)
        mark[first : last + 1] = "─" * (last + 1 - first)
        mark[first], mark[last] = "├", "┤"
    mark[_column(levels, threshold, width)] = "┼"
    return [*lines, "".join(mark).rstrip()]


def numeral(name: str) -> str:
    """The number in a level's name, without leading zeros: `13` of `013 pixels`."""
    return re.sub(r"^0+(?=[0-9])", "", number(name))


def number(name: str) -> str:
    """The number in a level's name, unchanged: `013`."""
    match = re.search("[0-9]+([.][0-9]+)?", name)
    if match is None:
        raise ValueError(f"the level name {name!r} contains no number")
    return match[0]


def position(levels: Sequence[float], value: float) -> float:
    """The position of a value among equally spaced levels, from 0. For example, 1.5 is halfway
    between the second and the third level. A value beyond the levels is at the edge.

    >>> position([4, 8, 16], 12), position([4, 8, 16], 99)
    (1.5, 2.0)
    """
    sign = 1 if levels[-1] >= levels[0] else -1
    ordered = [sign * level for level in levels]
    above = bisect_right(ordered, sign * value)
    if above in (0, len(levels)):
        return 0.0 if above == 0 else len(levels) - 1.0
    low, high = ordered[above - 1], ordered[above]
    return above - 1 + (sign * value - low) / (high - low)


def _column(levels: Sequence[float], value: float, width: int) -> int:
    """The index of the character at which a value is drawn, if every level takes `width` characters
    of the line."""
    return width - 1 + round(position(levels, value) * width)
