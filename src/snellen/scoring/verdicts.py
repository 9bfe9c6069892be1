"""Applies judges' verdicts to replies and metrics.

A *slot* is one repeat of one judge. Verdict j of every reply belongs to slot j. A metric is
computed for each slot, and the mean over slots is reported. A single F1, for example, never mixes
the verdicts of two judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, variance
from typing import NamedTuple

from snellen.core.sample import Sample
from snellen.core.scoring import (
    Judge,
    Parts,
    Reading,
    ReadingState,
    Score,
    Scoring,
    total_score,
)
from snellen.scoring.document import MetricReport
from snellen.stats import normal_quantile

Z = normal_quantile(0.975)
SILENT = "no verdict"
UNREADABLE = "unreadable verdict"
NO_VERDICT = MetricReport(
    value=None, unit="", n=0, stderr=None, ci95=None, reason="a judge has no verdict here"
)


class Finding(NamedTuple):
    """The reading and the score that one scoring gives one reply."""

    reading: Reading
    """The reading."""
    state: ReadingState
    """The state of the reading."""
    score: float | None
    """The score; None if the reply is left out of the means."""
    slots: tuple[Finding, ...] = ()
    """The finding that results from each judge's verdict, if judges were asked."""
    parts: Mapping[str, float] | None = None
    """The score of each part, by the name of the part."""


def finding(reading: Reading, state: ReadingState, score: Score) -> Finding:
    """Build a finding from a reading and a score. If the score has parts, the finding includes
    them."""
    parts = score.values if isinstance(score, Parts) else None
    return Finding(reading, state, total_score(score), parts=parts)


def judged(
    scoring: Scoring, judge: Judge, verdicts: Sequence[str | None], sample: Sample
) -> Finding:
    """Build a finding from the texts of judges' verdicts (None for a judge without a verdict). The
    finding has the first reading that could be parsed, and the mean of all scores. If no verdict
    can be parsed, the reply counts as not judged."""
    slots = tuple(_slot(scoring, judge, words, sample) for words in verdicts)
    known = [slot for slot in slots if slot.score is not None]
    if not known:
        unread = any(words is not None for words in verdicts)
        return _not_judged(UNREADABLE if unread else SILENT)._replace(slots=slots)
    first = known[0]
    score = mean(slot.score or 0.0 for slot in known)
    return Finding(first.reading, first.state, score, slots, _mean_parts(known))


def _mean_parts(slots: Sequence[Finding]) -> Mapping[str, float] | None:
    """The mean score of each part over the verdicts that contain this part."""
    values: dict[str, list[float]] = {}
    for slot in slots:
        for name, value in (slot.parts or {}).items():
            values.setdefault(name, []).append(value)
    return {name: mean(of) for name, of in values.items()} or None


def _slot(scoring: Scoring, judge: Judge, words: str | None, sample: Sample) -> Finding:
    if words is None:
        return _not_judged(SILENT)
    reading = judge.parse(words, sample)
    score = None if reading.answer is None else scoring.score(reading, sample)
    if score is None:
        return _not_judged(UNREADABLE)
    return finding(reading, "guessed" if reading.guessed else "answered", score)


def _not_judged(why: str) -> Finding:
    return Finding(Reading(answer=None, rule=why), "not-judged", None)


def agreement(slots: Sequence[Sequence[Finding]]) -> tuple[int, int]:
    """The number of replies with at least two verdicts, and the number of these replies for which
    all verdicts give the same score."""
    scores = [[slot.score for slot in row if slot.score is not None] for row in slots]
    several = [row for row in scores if len(row) > 1]
    return len(several), sum(len(set(row)) == 1 for row in several)


def averaged(slots: Sequence[Mapping[str, MetricReport]]) -> dict[str, MetricReport]:
    """Average the metrics of several slots.

        v = Σ v_j / k        stderr² = (Σ stderr_j / k)² + s² / k

    s² is the variance of the k values. The term s² / k is needed because a stricter judge changes
    the scores of all replies together, and the variance between replies does not show such a
    change. The average has no value if the metric has no value in some slot. The average for a
    category also has no value if some slot has no verdict in this category.
    """
    names = dict.fromkeys(name for slot in slots for name in slot)
    return {name: _averaged([slot.get(name, NO_VERDICT) for slot in slots]) for name in names}


def _averaged(parts: Sequence[MetricReport]) -> MetricReport:
    k, unit = len(parts), next((part.unit for part in parts if part.unit), "")
    n = min(part.n for part in parts)
    values = [part.value for part in parts if part.value is not None]
    if len(values) < k:
        reason = next(part.reason for part in parts if part.value is None)
        return MetricReport(value=None, unit=unit, n=n, stderr=None, ci95=None, reason=reason)
    value = mean(values)
    spread = variance(values) / k if k > 1 else 0.0
    errors = [part.stderr or 0.0 for part in parts]
    stderr = (mean(errors) ** 2 + spread) ** 0.5
    bounds = [part.bounds for part in parts if part.bounds is not None]
    return MetricReport(
        value=value,
        unit=unit,
        n=n,
        stderr=stderr or None,
        ci95=_interval(parts, value, mean(errors), spread),
        reason=next((part.reason for part in parts if part.reason and part.ci95 is None), None),
        bounds=(mean(low for low, _ in bounds), mean(high for _, high in bounds))
        if len(bounds) == k
        else None,
        better=parts[0].better,
    )


def _interval(
    parts: Sequence[MetricReport], value: float, error: float, spread: float
) -> tuple[float, float] | None:
    """The mean of the slots' intervals, widened by the same factor by which the spread between
    slots increases the standard error. None if some slot has no interval."""
    intervals = [part.ci95 for part in parts if part.ci95 is not None]
    if len(intervals) < len(parts):
        return None
    low, high = (mean(end - part for end, part in ends) for ends in _arms(parts))
    if error:
        factor = (1 + spread / error**2) ** 0.5
        low, high = factor * low, factor * high
    else:
        reach = Z * spread**0.5
        low, high = low - reach, high + reach
    ends = value + low, value + high
    if parts[0].unit == "fraction" and 0 <= value <= 1:
        return max(ends[0], 0.0), min(ends[1], 1.0)
    return ends


def _arms(parts: Sequence[MetricReport]) -> list[list[tuple[float, float]]]:
    """Return the lower ends of the intervals, followed by the upper ends. Each end is paired with
    the metric's value."""
    known = [(part.ci95, part.value) for part in parts if part.ci95 is not None]
    return [[(ends[end], value or 0.0) for ends, value in known] for end in (0, 1)]
