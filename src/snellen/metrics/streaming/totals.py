"""Metrics of what a model has said by each poll point (see `Point`), and of running totals."""

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
    """The accuracy of the replies that the model's messages imply at each poll point.

        P = 1/T Σ_t 1/n_t Σ_p [what has been said by point p is right]

    The results are averaged over the n_t points of each task, and then over the T tasks. In [0, 1];
    higher is better. `n` counts points. The metric does not measure timing: a model that answers
    soon after the question, without watching, also does well. An example with a message at 3 s and
    points at 5 s (when nothing should have been said) and 15 s (when something should):

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


# -- metrics of running totals


@metric(better="lower", unit="counts")
def count_mae(columns: Columns) -> Estimate:
    """The mean absolute difference between the most recently stated total and the true total.

        mean over queries of 1/T ∫_0^T |ĉ(t) - c(t)| dt

    ĉ is the most recently stated total, or 0 before any total is stated. c is the number of slots
    that have begun, and T is the time of the last point. At least 0; lower is better. `n` counts
    the queries that ask for a total. An example of 40 s with events at 10 and 20 s: the model says
    1 at 20 s and then nothing, so it is off by one for 10 s and then for 20 s:

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
    """The reduction of the error compared with saying nothing: 1 - count_mae / count_mae(silent).

    The reduction is computed for each query and then averaged. At most 1, with no lower limit;
    higher is better. A value of 0 is as good as saying nothing. In the example of `count_mae`, the
    error of saying nothing is 50/40, and the error of the model is 30/40:

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
    """The share of the time during which the most recently stated total is right.

    In [0, 1]; higher is better. A model that says nothing is right until the first event. The
    docstring of `count_mae` has another example.

    >>> from snellen.metrics.streaming import Point, Slot, SpeechLog, Watch, columns_of
    >>> slots = (Slot(10, 40, 1),)
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 1),), counts=True)
    >>> count_right_time(columns_of((watch, SpeechLog()))).value
    0.25
    """
    return _of_totals(columns, lambda total: total.right)


@metric(better="higher", unit="fraction")
def final_count(columns: Columns) -> Estimate:
    """The share of queries for which the most recently stated total at the last point is right.

    In [0, 1]; higher is better. Queries whose session failed before the last point are left out and
    are not counted in `n`.

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
    """The share of the time during which the most recently stated total is above the true total.

    In [0, 1]; lower is better. An example of 40 s in which the model says 1 at 0 s, although the
    first event is at 10 s:

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
