"""Where the dots, intervals and curves of a report's pictures stand; the templates draw them.

By hand, since matplotlib is optional, and its pictures do not fit into the rows of a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snellen.report.ladder import numeral, place
from snellen.scoring import MetricReport

WIDTH = 180
"""Of an interval's picture beside its row, in pixels."""
EDGE = 6
"""So far from both ends of it the outermost values stand, so that no dot is cut."""
STEPS = (1, 2, 5, 10)
MOST_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """Values from the first tick to the last, drawn from left to right; `scale` turns them into
    what the labels say (100 for percent)."""

    ticks: tuple[float, ...]
    scale: float
    unit: str

    def at(self, value: float) -> float:
        """How far a value is from the left, in pixels; what is beyond stands at the edge."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (min(max(value, low), high) - low) / (high - low)
        return round(EDGE + share * (WIDTH - 2 * EDGE), 1)

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers at both ends, with their unit: `0 %`, `50 %`"""
        return self.label(self.ticks[0]), self.label(self.ticks[-1])

    def label(self, value: float) -> str:
        """A value on the axis in words."""
        return f"{value * self.scale:z,.10g}{self.unit}"


@dataclass(frozen=True)
class Mark:
    """One row's dot, both ends of its interval where it has one, and what a blind model gets."""

    dot: float
    low: float | None
    high: float | None
    blind: float | None = None


def axis(metrics: Iterable[MetricReport | None], *values: float | None) -> Axis | None:
    """An axis on which all of the metrics, their intervals and the other values lie; None where
    they have several units, or no value at all."""
    there = [one for one in metrics if one is not None and one.value is not None]
    if not there or len({one.unit for one in there}) > 1:
        return None
    fraction = there[0].unit == "fraction"
    ends = [value for one in there for value in (one.value, *(one.ci95 or ()))]
    known = [value for value in (*ends, *values) if value is not None]
    low, high = min(known), max(known)
    if low == high:  # a single point stands in the middle, a share between none and all
        reach = abs(low) / 10 or 1.0
        low, high = (0.0, 1.0) if fraction and 0 <= low <= 1 else (low - reach, high + reach)
    ticks = even(low, high)
    unit = " %" if fraction else f" {there[0].unit}".rstrip()
    return Axis(ticks, 100 if fraction else 1, unit)


def even(low: float, high: float) -> tuple[float, ...]:
    """Round numbers at even distances, the first at most `low` and the last at least `high`.

    >>> even(0.31, 0.58)
    (0.3, 0.4, 0.5, 0.6)
    """
    magnitude = 10.0 ** math.floor(math.log10((high - low) / (MOST_TICKS - 1)))
    for step in STEPS:
        size = step * magnitude
        first, last = math.floor(low / size + 1e-9), math.ceil(high / size - 1e-9)
        if last - first < MOST_TICKS:
            break
    return tuple(float(f"{n * size:.10g}") for n in range(first, last + 1))


def mark(on: Axis, found: MetricReport | None, blind: float | None = None) -> Mark | None:
    """Where a metric stands on the axis, and beside it a blind model; None where it has no
    value."""
    if found is None or found.value is None:
        return None
    low, high = (None, None) if found.ci95 is None else map(on.at, found.ci95)
    return Mark(on.at(found.value), low, high, None if blind is None else on.at(blind))


@dataclass(frozen=True)
class Level:
    """A level of a ladder: its number where there is room for it, and where its dot and interval
    stand."""

    name: str
    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curve:
    """How well each level of a ladder was read; `threshold` is where reading ends, and `band` its
    interval, both across."""

    levels: Sequence[Level]
    line: str
    threshold: float | None
    band: tuple[float, float] | None


LEFT, RIGHT, TOP, BOTTOM = 44.0, 468.0, 12.0, 196.0
DIGIT = 7.0
"""How wide a digit of a label may be."""


def curve(levels: dict[str, MetricReport], end: MetricReport | None) -> Curve:
    """The curve of shares by level, `levels` in their order."""
    numerals = [numeral(name) for name in levels]
    numbers = [float(number) for number in numerals]
    wide = max(map(len, numerals)) * DIGIT + 6
    each = math.ceil(wide * len(levels) / (RIGHT - LEFT))

    def across(index: float) -> float:
        return round(LEFT + 16 + index * (RIGHT - LEFT - 32) / max(len(levels) - 1, 1), 1)

    def up(share: float) -> float:
        return round(BOTTOM - share * (BOTTOM - TOP), 1)

    drawn = []
    for index, (number, found) in enumerate(zip(numerals, levels.values(), strict=True)):
        if found.value is None:
            continue
        low, high = (None, None) if found.ci95 is None else map(up, found.ci95)
        said = "" if index % each else number
        drawn.append(Level(said, across(index), up(found.value), low, high))
    threshold = band = None
    if end is not None and end.value is not None:
        threshold = across(place(numbers, end.value))
        if end.ci95 is not None:
            first, last = sorted(across(place(numbers, value)) for value in end.ci95)
            band = first, last
    return Curve(drawn, " ".join(f"{level.x},{level.y}" for level in drawn), threshold, band)
