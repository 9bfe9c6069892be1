"""What the verdicts of judges make of a reply, and of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import variance
from typing import TYPE_CHECKING, NamedTuple

from snellen.benchmark import Judge, Reading, ReadingState, Scoring
from snellen.metrics import Columns
from snellen.sample import Sample
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Found(NamedTuple):
    """What a scoring finds in a reply, and what that is worth (None: it is in no mean); `given` is
    what each of several verdicts gave."""

    reading: Reading
    state: ReadingState
    score: float | None
    given: tuple[float, ...] = ()


def judged(scoring: Scoring, judge: Judge, said: Sequence[str], sample: Sample) -> Found:
    """The reading of the first verdict that can be read, with the mean of what all of them give;
    not judged where none can be."""
    readings = [judge.parse(words, sample) for words in said]
    readable = [reading for reading in readings if reading.answer is not None]
    given = [scoring.score(reading, sample) for reading in readable]
    scores = tuple(score for score in given if score is not None)
    if not scores:
        rule = "unreadable verdict" if said else "no verdict"
        return Found(Reading(answer=None, rule=rule), "not-judged", None)
    first = readable[0]
    state: ReadingState = "guessed" if first.guessed else "answered"
    return Found(first, state, sum(scores) / len(scores), scores)


def by_verdict(
    columns: Columns, given: Sequence[tuple[float, ...]], rows: NDArray[np.bool_]
) -> list[Columns]:
    """The rows as they would be with each one's first verdict alone, its second alone, and so on; a
    row with fewer keeps its score. Empty where no row has two."""
    import numpy as np

    most = max(map(len, given), default=0)
    if most < 2 or columns.score is None:
        return []
    found = []
    for number in range(most):
        scores = columns.score.copy()
        for row, values in enumerate(given):
            if number < len(values):
                scores[row] = values[number]
        found.append(replace(columns, score=np.asarray(scores)).where(rows))
    return found


def agreement(given: Sequence[tuple[float, ...]]) -> tuple[int, int]:
    """How many replies have two verdicts or more, and on how many of these all give the same."""
    several = [values for values in given if len(values) > 1]
    return len(several), sum(len(set(values)) == 1 for values in several)


def widened(estimate: Estimate, values: Sequence[float | None]) -> Estimate:
    """An estimate whose interval has room for the spread of its `values` by single verdicts.

        stderr' = √(stderr² + s² / k)

    s² is the variance of the k values: judges that differ in how strict they are move all replies
    together, which the replies' own scatter does not show. The interval's arms grow in proportion.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2 or not estimate.stderr or estimate.ci95 is None or estimate.value is None:
        return estimate
    spread = variance(known) / len(known)
    factor = (1 + spread / estimate.stderr**2) ** 0.5
    low, high = (estimate.value + factor * (end - estimate.value) for end in estimate.ci95)
    if estimate.unit == "fraction":
        low, high = max(low, 0.0), min(high, 1.0)
    return replace(estimate, stderr=factor * estimate.stderr, ci95=(low, high))
