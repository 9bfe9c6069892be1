"""What every report shows, as plain text; each format lays it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from snellen.result import Result
from snellen.scoring import MetricReport

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters and marks that turn the direction of writing: models' and files' words may hold them."""


class Shown(NamedTuple):
    """A metric as it is shown: value and interval, n, and whatever must be said of it."""

    value: str
    interval: str
    n: str
    remark: str


def plain(text: str) -> str:
    """A text without anything that a terminal or a page would act on."""
    return CONTROL.sub("\ufffd", text)


def shown(metric: MetricReport) -> Shown:
    """Fractions as percentages with two decimals, everything else with its unit."""
    if metric.value is None:
        return Shown("-", "", f"{metric.n:,}", metric.reason or "")
    scale, unit = (100.0, " %") if metric.unit == "fraction" else (1.0, f" {metric.unit}")
    interval = ""
    if metric.ci95 is not None:
        interval = f"{metric.ci95[0] * scale:.2f} to {metric.ci95[1] * scale:.2f}"
    remark = metric.reason or ""
    if metric.bounds is not None:
        low, high = (bound * scale for bound in metric.bounds)
        remark = f"{low:.2f} to {high:.2f} if all had replied"
    return Shown(f"{metric.value * scale:.2f}{unit}", interval, f"{metric.n:,}", remark)


def headline_rows(result: Result) -> Iterator[tuple[str, str, Shown]]:
    """(scoring, metric, value) of all metrics of the whole set."""
    for name, scoring in result.report.scorings.items():
        for metric, found in scoring.metrics.items():
            if "/" not in metric:
                yield name, metric, shown(found)


def breakdown_rows(result: Result, tag: str) -> Iterator[tuple[str, dict[str, Shown]]]:
    """(category, {scoring: first metric}) of one tag."""
    for label in result.report.breakdown[tag]:
        row = {}
        for name, scoring in result.report.scorings.items():
            first = next(iter(scoring.metrics))
            if (found := scoring.metrics.get(f"{first}/{label}")) is not None:
                row[name] = shown(found)
        if row:
            yield label, row


def counts(states: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {state}" for state, n in states.items()) or "none"


def settings(result: Result) -> str:
    """The identity's fields that a reader looks for."""
    identity = result.report.identity
    parts = [f"{name}={value}" for name, value in identity.get("options", {}).items() if not isinstance(value, dict)]
    generation = identity.get("generation", {})
    parts += [f"{name}={value}" for name, value in generation.items() if value is not None]
    return ", ".join(parts)
