"""Metrics of slots: whether a message is in the window, when it begins, and for how long it is
right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric, metric
from snellen.metrics.streaming._estimates import NO_SLOTS, mean_of, ratio_of
from snellen.metrics.streaming.queries import (
    WIDER,
    QueryOutcome,
    SlotOutcome,
    queries_of,
    slots_of,
)
from snellen.stats import Estimate

NONE_IN_SPAN = "no message lies in a window"


@metric(better="higher", unit="fraction")
def answered_in_span(columns: Columns) -> Estimate:
    """The share of slots whose first message is in the window, rather than early, late, or missing.

        hits / slots

    In [0, 1]; higher is better. The slots of all queries have the same weight. `n` counts slots. A
    model that always speaks a fixed time after the question has some hits without watching, so
    report `early` and `precision` as well. The interval is Wilson's, with an effective n that
    accounts for clusters. An example in which one of two messages is on time:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> in_time, too_soon = SpeechLog((Utterance(12, 13),)), SpeechLog((Utterance(9, 13),))
    >>> answered_in_span(columns_of((watch, in_time), (watch, too_soon))).value
    0.5
    """
    return _share(columns, lambda slot: slot.outcome == "hit")


@metric(better="higher", unit="fraction")
def answered_in_span_any(columns: Columns) -> Estimate:
    """The share of slots with any message in the window, even if it is not the first: `recall`.

    In [0, 1]; higher is better. `n` counts slots. An example with an early message and then one on
    time:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(9, 9), Utterance(12, 12)))))
    >>> answered_in_span_any(columns).value, answered_in_span(columns).value
    (1.0, 0.0)
    """
    return _share(columns, lambda slot: slot.inside > 0)


def answered_in_span_within(seconds: float) -> Metric:
    """`answered_in_span` with windows that are widened on both sides by 1, 2, or 3 seconds.

    In [0, 1]; higher is better. The metric is meant for comparison with benchmarks that accept
    messages up to this many seconds before and after a window. `seconds` must be in `WIDER`. An
    example with a message that begins 2 s before the window:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(8, 9),))))
    >>> [answered_in_span_within(k)(columns).value for k in WIDER]
    [0.0, 1.0, 1.0]
    """
    position = WIDER.index(seconds)
    return Metric(
        lambda columns: _share(columns, lambda slot: slot.wider[position]),
        better="higher",
        unit="fraction",
        name="answered_in_span_within",
    )


@metric(better="lower", unit="fraction")
def early(columns: Columns) -> Estimate:
    """The share of slots whose first message begins before the window.

    In [0, 1]; lower is better. The sum of `early`, `late`, `silent`, and `answered_in_span` is 1:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = [SpeechLog((Utterance(t, t + 2),)) for t in (9, 10, 38, 39)]
    >>> columns = columns_of(*((watch, one) for one in (*heard, SpeechLog())))
    >>> [metric(columns).value for metric in (early, answered_in_span, late, silent)]
    [0.2, 0.4, 0.2, 0.2]
    """
    return _share(columns, lambda slot: slot.outcome == "early")


@metric(better="lower", unit="fraction")
def late(columns: Columns) -> Estimate:
    """The share of slots whose first message begins in the window or later, and ends after the
    window.

    In [0, 1]; lower is better. The docstring of `early` has another example.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> late(columns_of((watch, SpeechLog((Utterance(39, 41),))))).value
    1.0
    """
    return _share(columns, lambda slot: slot.outcome == "late")


@metric(better="lower", unit="fraction")
def silent(columns: Columns) -> Estimate:
    """The share of slots for which there is no message.

    In [0, 1]; lower is better. If slots have numbers, a message with the number of another slot
    does not count:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> silent(columns_of((watch, SpeechLog((Utterance(3, 3, 1),))))).value
    0.5
    """
    return _share(columns, lambda slot: slot.outcome == "silent")


@metric(better="higher", unit="fraction")
def span_auc(columns: Columns) -> Estimate:
    """The mean share of a window during which the most recent message is right.

        mean over slots of 1/|W| ∫_W s(t) dt,    s(t) = 1 while the latest message is right

    In [0, 1]; higher is better. A message counts from its end until the end of the next message, so
    a wrong message counts until it is corrected. An early message that is right counts from w0, so
    report `early` as well. In a slot without a number, any message is right, so the metric measures
    only timing. An example in which the right message ends after a quarter of the window, and a
    wrong one after three quarters:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 20, 1),))
    >>> span_auc(columns_of((watch, SpeechLog((Utterance(5, 5, 1), Utterance(15, 15, 2)))))).value
    0.5
    """
    return _share(columns, lambda slot: slot.in_force)


@metric(better=None, unit="fraction")
def slots_dropped(columns: Columns) -> Estimate:
    """The share of slots that are left out because the session ended before their window began.

    In [0, 1]. The value is 0 if all videos are watched to the end. `n` counts all slots.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> slots_dropped(columns_of((watch, SpeechLog(until=10)))).value
    0.5
    """
    return _left_out(columns, lambda query: query.dropped)


@metric(better="lower", unit="fraction")
def slots_failed(columns: Columns) -> Estimate:
    """The share of slots that are left out because the session failed before their window ended.

    In [0, 1]; lower is better, since no other metric includes these slots. `n` counts all slots.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> slots_failed(columns_of((watch, SpeechLog(until=12, failed=True)))).value
    0.5
    """
    return _left_out(columns, lambda query: query.failed)


# -- metrics of delays


@metric(better="lower", unit="s")
def delay_median(columns: Columns) -> Estimate:
    """The median delay, onset - w0, of the first message in each window, in seconds.

    At least 0; lower is better. Only slots with a message in the window are included and counted in
    `n`, so always report `silent` as well. The interval is a bootstrap over clusters. An example
    with delays of 1, 2, and 6 s:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = [SpeechLog((Utterance(t, t),)) for t in (11, 12, 16)]
    >>> columns = columns_of(*((watch, one) for one in (*heard, SpeechLog())))
    >>> delay_median(columns).value, delay_mean(columns).value, delay_median(columns).n
    (2.0, 3.0, 3)
    """
    delays = [
        (slot.delay, cluster) for slot, cluster in slots_of(columns) if slot.delay is not None
    ]
    if not delays:
        return Estimate(value=None, unit="s", n=0, reason=NONE_IN_SPAN)
    delay, cluster = (np.array(column) for column in zip(*delays, strict=True))
    return stats.bootstrap(lambda rows: float(np.median(delay[rows])), cluster, unit="s")


@metric(better="lower", unit="s")
def delay_mean(columns: Columns) -> Estimate:
    """The mean delay, onset - w0, of the first message in each window, in seconds.

    At least 0; lower is better. This metric includes the same slots as `delay_median`, whose
    docstring has another example.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> delay_mean(columns_of((watch, SpeechLog((Utterance(17, 18),))))).value
    7.0
    """
    rows = [(slot.delay, 1.0, c) for slot, c in slots_of(columns) if slot.delay is not None]
    return ratio_of(rows, n=len(rows), unit="s", nothing=NONE_IN_SPAN)


@metric(better="lower", unit="s")
def delay_censored(columns: Columns) -> Estimate:
    """The mean delay over all slots, in seconds. The delay of a missed slot is its window's length.

        mean over slots of min(d, w1 - w0),    d = w1 - w0 without a message in the window

    At least 0; lower is better. An example with a delay of 6 s in one window of 30 s and no message
    in another:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(16, 16),))), (watch, SpeechLog()))
    >>> delay_censored(columns).value
    18.0
    """
    rows = [
        (slot.width if slot.delay is None else slot.delay, 1.0, cluster)
        for slot, cluster in slots_of(columns)
    ]
    return ratio_of(rows, n=len(rows), unit="s", nothing=NO_SLOTS)


def _share(columns: Columns, value: Callable[[SlotOutcome], float]) -> Estimate:
    return mean_of((float(value(slot)), cluster) for slot, cluster in slots_of(columns))


def _left_out(columns: Columns, number: Callable[[QueryOutcome], int]) -> Estimate:
    rows = []
    for query, cluster in queries_of(columns):
        every = len(query.slots) + query.dropped + query.failed
        rows += [(float(position < number(query)), cluster) for position in range(every)]
    return mean_of(rows)
