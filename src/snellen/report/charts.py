"""Computes the positions of dots, intervals, and curves in the pictures of HTML reports. The
templates draw them.

This module does not use matplotlib, which is optional and cannot draw in the rows of a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snellen.report.ladder import numeral, position
from snellen.scoring import MetricReport

WIDTH = 180
"""The width in pixels of a picture of an interval."""
EDGE = 6
"""The margin in pixels at both ends of the picture, which keeps dots from being cut off."""
STEPS = (1, 2, 5, 10)
MOST_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """A horizontal axis that extends from the first tick to the last."""

    ticks: tuple[float, ...]
    """The values of the ticks."""
    scale: float
    """The factor by which values are multiplied for the labels, such as 100 for percent."""
    unit: str
    """The unit of the labels."""

    def at(self, value: float) -> float:
        """The horizontal position of a value in the picture, in pixels. A value beyond the axis is
        drawn at the nearer end of the axis."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (min(max(value, low), high) - low) / (high - low)
        return round(EDGE + share * (WIDTH - 2 * EDGE), 1)

    @property
    def ends(self) -> tuple[str, str]:
        """The labels at both ends, with the unit: `0 %`, `50 %`."""
        return self.label(self.ticks[0]), self.label(self.ticks[-1])

    def label(self, value: float) -> str:
        """The label of a value on the axis."""
        return f"{value * self.scale:z,.10g}{self.unit}"


@dataclass(frozen=True)
class Mark:
    """The positions of a row's dot and interval on an axis, in pixels."""

    dot: float
    """The position of the value."""
    low: float | None
    """The position of the interval's lower end; None if there is no interval."""
    high: float | None
    """The position of the interval's upper end; None if there is no interval."""
    blind: float | None = None
    """The position of a blind baseline's value; None if there is none."""


def axis(metrics: Iterable[MetricReport | None], *values: float | None) -> Axis | None:
    """An axis on which all metrics, their intervals, and the other `values` fit. None if the
    metrics have different units, or if no metric has a value."""
    there = [metric for metric in metrics if metric is not None and metric.value is not None]
    if not there or len({metric.unit for metric in there}) > 1:
        return None
    fraction = there[0].unit == "fraction"
    ends = [value for metric in there for value in (metric.value, *(metric.ci95 or ()))]
    known = [value for value in (*ends, *values) if value is not None]
    low, high = min(known), max(known)
    # A single value is drawn in the middle of the axis, a single fraction on an axis from 0 to 1.
    if low == high:
        reach = abs(low) / 10 or 1.0
        low, high = (0.0, 1.0) if fraction and 0 <= low <= 1 else (low - reach, high + reach)
    ticks = even(low, high)
    unit = " %" if fraction else f" {there[0].unit}".rstrip()
    return Axis(ticks, 100 if fraction else 1, unit)


def even(low: float, high: float) -> tuple[float, ...]:
    """Evenly spaced round numbers. The first tick is at most `low`, and the last tick is at least
    `high`.

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


def mark(on: Axis, metric: MetricReport | None, blind: float | None = None) -> Mark | None:
    """The positions of a metric and of a blind baseline on the axis; None if the metric has no
    value."""
    if metric is None or metric.value is None:
        return None
    low, high = (None, None) if metric.ci95 is None else map(on.at, metric.ci95)
    return Mark(on.at(metric.value), low, high, None if blind is None else on.at(blind))


@dataclass(frozen=True)
class Level:
    """A point of a curve: one level of a ladder, which asks the same kind of question at several
    levels of difficulty."""

    name: str
    """The label of the point, which is the level's number; empty if there is no room for the
    label."""
    x: float
    """The horizontal position of the dot."""
    y: float
    """The vertical position of the dot."""
    low: float | None
    """The vertical position of the interval's lower end; None if there is no interval."""
    high: float | None
    """The vertical position of the interval's upper end; None if there is no interval."""


@dataclass(frozen=True)
class Curve:
    """A curve that shows the share of right answers at each level of a ladder."""

    levels: Sequence[Level]
    """The points of the curve."""
    line: str
    """The path through the points, in SVG's notation."""
    threshold: float | None
    """The horizontal position of the threshold, the level at which the model stops answering
    right; None if the threshold has no value."""
    band: tuple[float, float] | None
    """The horizontal positions of the ends of the threshold's interval; None if there is no
    interval."""


LEFT, RIGHT, TOP, BOTTOM = 44.0, 468.0, 12.0, 196.0
DIGIT = 7.0
"""The maximum width of a digit in a label, in pixels."""


def curve(levels: dict[str, MetricReport], end: MetricReport | None) -> Curve:
    """Make the curve that shows the share of right answers at each level. `levels` contains the
    metrics in the order of the levels, and `end` is the metric whose value is the threshold."""
    numerals = [numeral(name) for name in levels]
    numbers = [float(number) for number in numerals]
    wide = max(map(len, numerals)) * DIGIT + 6
    labels_every = math.ceil(wide * len(levels) / (RIGHT - LEFT))

    def across(index: float) -> float:
        return round(LEFT + 16 + index * (RIGHT - LEFT - 32) / max(len(levels) - 1, 1), 1)

    def up(share: float) -> float:
        return round(BOTTOM - share * (BOTTOM - TOP), 1)

    drawn = []
    for index, (number, metric) in enumerate(zip(numerals, levels.values(), strict=True)):
        if metric.value is None:
            continue
        low, high = (None, None) if metric.ci95 is None else map(up, metric.ci95)
        label = "" if index % labels_every else number
        drawn.append(Level(label, across(index), up(metric.value), low, high))
    threshold = band = None
    if end is not None and end.value is not None:
        threshold = across(position(numbers, end.value))
        if end.ci95 is not None:
            first, last = sorted(across(position(numbers, value)) for value in end.ci95)
            band = first, last
    return Curve(drawn, " ".join(f"{level.x},{level.y}" for level in drawn), threshold, band)
