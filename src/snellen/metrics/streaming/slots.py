"""Metrics of slots: whether a message is in the window, how soon, and for how long it is right."""

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
    """The share of slots whose first message lies in the window: not early, late or missing.

        hits / slots

    In [0, 1]; higher is better. Slots of all queries count alike, and `n` counts them. What speaks
    blindly a while after it is asked has a share too: quote `early` and `precision` beside it. The
    interval is Wilson's with the clusters' effective n. One of two speaks in time:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> in_time, too_soon = SpeechLog((Utterance(12, 13),)), SpeechLog((Utterance(9, 13),))
    >>> answered_in_span(columns_of((watch, in_time), (watch, too_soon))).value
    0.5
    """
    return _share(columns, lambda slot: slot.outcome == "hit")


@metric(better="higher", unit="fraction")
def answered_in_span_any(columns: Columns) -> Estimate:
    """The share of slots with a message in the window, whatever was said before it: `recall`.

    In [0, 1]; higher is better. `n` counts slots. One who speaks too soon, and then in time:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(9, 9), Utterance(12, 12)))))
    >>> answered_in_span_any(columns).value, answered_in_span(columns).value
    (1.0, 0.0)
    """
    return _share(columns, lambda slot: slot.inside > 0)


def answered_in_span_within(seconds: float) -> Metric:
    """`answered_in_span` with windows that are wider on both sides, by one of `WIDER`.

    In [0, 1]; higher is better, and never lower than without. For comparison with benchmarks that
    allow so many seconds before and after. One that begins 2 s before its window:

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

    In [0, 1]; lower is better. With `late`, `silent` and `answered_in_span` it sums to 1:

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
    """The share of slots whose first message begins in the window or later and is done after it.

    In [0, 1]; lower is better. Worked out under `early`.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> late(columns_of((watch, SpeechLog((Utterance(39, 41),))))).value
    1.0
    """
    return _share(columns, lambda slot: slot.outcome == "late")


@metric(better="lower", unit="fraction")
def silent(columns: Columns) -> Estimate:
    """The share of slots that no message speaks for. In [0, 1]; lower is better.

    Worked out under `early`. With numbers, a message for another slot is none for this:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> silent(columns_of((watch, SpeechLog((Utterance(3, 3, 1),))))).value
    0.5
    """
    return _share(columns, lambda slot: slot.outcome == "silent")


@metric(better="higher", unit="fraction")
def span_auc(columns: Columns) -> Estimate:
    """How much of the windows the latest message is right in.

        mean over slots of 1/|W| ∫_W s(t) dt,    s(t) = 1 while the latest message is right

    In [0, 1]; higher is better. A message is in force from when it is done until the next one is. A
    wrong one holds until it is corrected; an early right one counts from w0, so quote `early`
    beside it. Of slots without a number any message is right: this is of time alone. Said after
    a quarter of the window, corrected away after three:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 20, 1),))
    >>> span_auc(columns_of((watch, SpeechLog((Utterance(5, 5, 1), Utterance(15, 15, 2)))))).value
    0.5
    """
    return _share(columns, lambda slot: slot.in_force)


@metric(better=None, unit="fraction")
def slots_dropped(columns: Columns) -> Estimate:
    """The share of slots left out because their window would begin when the video has ended.

    In [0, 1]; 0 where videos are whole. `n` counts all slots.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> slots_dropped(columns_of((watch, SpeechLog(until=10)))).value
    0.5
    """
    return _left_out(columns, lambda query: query.dropped)


@metric(better="lower", unit="fraction")
def slots_failed(columns: Columns) -> Estimate:
    """The share of slots left out because the session had failed before their window ended.

    In [0, 1]; lower is better: what it hides is in no other metric. `n` counts all slots.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Watch, columns_of
    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> slots_failed(columns_of((watch, SpeechLog(until=12, failed=True)))).value
    0.5
    """
    return _left_out(columns, lambda query: query.failed)


# -- metrics of delays


@metric(better="lower", unit="s")
def delay_median(columns: Columns) -> Estimate:
    """The median delay of the first message in the window, onset - w0, in seconds.

    At least 0; lower is better. Of slots with a message in the window alone, which `n` counts:
    never quote it without `silent`. The interval draws clusters again. Delays of 1, 2 and 6 s:

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
    """The mean delay of the first message in the window, onset - w0, in seconds.

    At least 0; lower is better. Of the slots of `delay_median`, which works one out.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> delay_mean(columns_of((watch, SpeechLog((Utterance(17, 18),))))).value
    7.0
    """
    rows = [(slot.delay, 1.0, c) for slot, c in slots_of(columns) if slot.delay is not None]
    return ratio_of(rows, n=len(rows), unit="s", nothing=NONE_IN_SPAN)


@metric(better="lower", unit="s")
def delay_censored(columns: Columns) -> Estimate:
    """The mean delay over all slots, with that of a missed one as long as its window, in seconds.

        mean over slots of min(d, w1 - w0),    d = w1 - w0 without a message in the window

    At least 0; lower is better. A delay of 6 s, and nothing said in a window of 30 s:

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
