"""Metrics of what has been said so far: at the points of a polled model, and of a running total."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import metric
from snellen.metrics.streaming._estimates import mean_of, ratio_of
from snellen.metrics.streaming.queries import TotalOutcome, queries_of
from snellen.stats import Estimate


@metric(better="higher", unit="fraction")
def projected(columns: Columns) -> Estimate:
    """The accuracy that a polled model would get that had said the same: the mean over tasks of the
    mean over points.

        P = 1/T Σ_t 1/n_t Σ_p [what had been said by then is right]

    In [0, 1]; higher is better. `n` counts points. It is not a measure of time: what speaks blindly
    soon after it is asked does well. Points at 5 and 15 s, of which the second alone asks for
    what is said at 3:

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Utterance, Watch, columns_of
    >>> points = (Point(5, 0), Point(15, 1))
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),), points=points)
    >>> projected(columns_of((watch, SpeechLog((Utterance(3, 3),))))).value
    0.5
    """
    every = [(q.task, float(right), c) for q, c in queries_of(columns) for right in q.points]
    tasks, task = np.unique([name for name, _, _ in every], return_inverse=True)
    if len(tasks) < 2:
        return mean_of((right, cluster) for _, right, cluster in every)
    numbers, cluster = np.unique([cluster for _, _, cluster in every], return_inverse=True)
    cell, shape = cluster * len(tasks) + task, (len(numbers), len(tasks))
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    right = np.bincount(cell, weights=[is_right for _, is_right, _ in every], minlength=len(counts))

    def value(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        right, rows = np.split(totals, 2, axis=1)
        means: NDArray[np.float64] = (right / rows).mean(axis=1)
        return means

    sums = np.concatenate([right.reshape(shape), counts.reshape(shape)], axis=1)
    return stats.bootstrap_sums(sums, value, n=len(every), clusters=numbers)


# -- metrics of a running total


@metric(better="lower", unit="counts")
def count_mae(columns: Columns) -> Estimate:
    """How far the total that was last said is from the true one, over time.

        mean over queries of 1/T ∫_0^T |ĉ(t) - c(t)| dt

    ĉ is 0 until a total is said, c counts the slots that have begun, T is the last point. In
    counts, at least 0; lower is better. `n` counts queries that ask for a total. Events at 10 and
    20 s of 40, and only the first is told, 10 s late: 10 s and 20 s off by one,

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Utterance, Watch, columns_of
    >>> slots = (Slot(10, 20, 1), Slot(20, 40, 2))
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 2),), counts=True)
    >>> columns = columns_of((watch, SpeechLog((Utterance(20, 20, 1),))))
    >>> count_mae(columns).value, count_right_time(columns).value
    (0.75, 0.25)
    """
    return _of_totals(columns, lambda total: total.error, unit="counts")


@metric(better="higher", unit="skill")
def count_skill(columns: Columns) -> Estimate:
    """How much of the error of saying nothing is saved: 1 - count_mae / count_mae(silent).

    Of each query, then the mean. At most 1, without a lower end; 0 is saying nothing; higher is
    better. Events at 10 and 20 s of 40 make a silent error of 50/40, of which 30/40 is left:

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Utterance, Watch, columns_of
    >>> slots = (Slot(10, 20, 1), Slot(20, 40, 2))
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 2),), counts=True)
    >>> count_skill(columns_of((watch, SpeechLog((Utterance(20, 20, 1),))))).value
    0.4
    """
    return _of_totals(
        columns,
        lambda total: 1 - total.error / total.silent if total.silent else None,
        unit="skill",
    )


@metric(better="higher", unit="fraction")
def count_right_time(columns: Columns) -> Estimate:
    """The share of the time in which the total that was last said is the true one.

    In [0, 1]; higher is better. One who says nothing is right until the first event. Worked out
    under `count_mae`.

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Watch, columns_of
    >>> slots = (Slot(10, 40, 1),)
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 1),), counts=True)
    >>> count_right_time(columns_of((watch, SpeechLog()))).value
    0.25
    """
    return _of_totals(columns, lambda total: total.right)


@metric(better="higher", unit="fraction")
def final_count(columns: Columns) -> Estimate:
    """The share of queries whose total at the last point is the true one.

    In [0, 1]; higher is better. Queries whose session failed before are left out, of `n` too.

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Utterance, Watch, columns_of
    >>> slots = (Slot(10, 40, 1),)
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 1),), counts=True)
    >>> columns = columns_of((watch, SpeechLog((Utterance(39, 39, 1),))), (watch, SpeechLog()))
    >>> final_count(columns).value
    0.5
    """
    return _of_totals(columns, lambda total: None if total.final is None else float(total.final))


@metric(better="lower", unit="fraction")
def overcount(columns: Columns) -> Estimate:
    """The share of the time in which the total that was last said is above the true one.

    In [0, 1]; lower is better. One who says 1 at once, where that is true after 10 s of 40:

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Utterance, Watch, columns_of
    >>> slots = (Slot(10, 40, 1),)
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 1),), counts=True)
    >>> overcount(columns_of((watch, SpeechLog((Utterance(0, 0, 1),))))).value
    0.25
    """
    return _of_totals(columns, lambda total: total.over)


def _of_totals(
    columns: Columns, value: Callable[[TotalOutcome], float | None], unit: str = "fraction"
) -> Estimate:
    every = [(value(q.total), c) for q, c in queries_of(columns) if q.total is not None]
    known = [(total, cluster) for total, cluster in every if total is not None]
    if not known:
        return Estimate(value=None, unit=unit, n=0, reason="no query asks for a total")
    if unit == "fraction":
        return mean_of(known)
    return ratio_of([(total, 1.0, c) for total, c in known], n=len(known), unit=unit, nothing="")
