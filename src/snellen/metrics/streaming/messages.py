"""Metrics that count messages: needed, repeated, or unsolicited messages, and false alarms."""

from __future__ import annotations

from snellen.metrics._columns import Columns
from snellen.metrics._metric import metric
from snellen.metrics.streaming._estimates import NO_SLOTS, mean_of, ratio_of
from snellen.metrics.streaming.queries import QueryOutcome, queries_of, slots_of
from snellen.metrics.streaming.slots import answered_in_span_any
from snellen.stats import Estimate

UNSAID = "nothing was said"


@metric(better="higher", unit="fraction")
def precision(columns: Columns) -> Estimate:
    """The share of messages that are needed. For each slot, only one message counts as needed.

        Σ slots with a message in the window / Σ messages while the query is open

    In [0, 1]; higher is better. Repeated messages lower the precision, just as false alarms do. `n`
    counts messages. An example with one early message, one on time, and one repeated:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = SpeechLog((Utterance(9, 9), Utterance(12, 12), Utterance(20, 20)))
    >>> columns = columns_of((watch, heard))
    >>> round(precision(columns).value, 3), recall(columns).value, f1(columns).value
    (0.333, 1.0, 0.5)
    """
    rows = [
        (_slots_with_message(query), float(query.messages), c) for query, c in queries_of(columns)
    ]
    return ratio_of(rows, n=sum(query.messages for query, _ in queries_of(columns)), nothing=UNSAID)


recall = answered_in_span_any


@metric(better="higher", unit="fraction")
def f1(columns: Columns) -> Estimate:
    """The harmonic mean of `precision` and `recall`.

        2 · Σ slots with a message in the window / (Σ messages + Σ slots)

    In [0, 1]; higher is better. The value is 0 for a model that says nothing. `n` counts slots. The
    docstring of `precision` has another example.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> f1(columns_of((watch, SpeechLog()))).value
    0.0
    """
    rows = [
        (2 * _slots_with_message(query), float(query.messages + len(query.slots)), cluster)
        for query, cluster in queries_of(columns)
    ]
    return ratio_of(rows, n=len(slots_of(columns)), nothing=NO_SLOTS)


@metric(better="lower", unit="1/min")
def false_alarms_per_min(columns: Columns) -> Estimate:
    """The number of messages outside all windows, per minute of time outside all windows.

        Σ messages in no window / Σ minutes outside windows while the query is open

    At least 0; lower is better. The content of a message does not matter: a wrong message inside a
    window is not a false alarm, but lowers `precision`. `n` counts queries. An example with two
    messages in the first minute, before a window of two minutes:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=180, slots=(Slot(60, 180),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(5, 5), Utterance(9, 9)))))
    >>> false_alarms_per_min(columns).value
    2.0
    """
    rows = [(float(query.false_alarms), query.minutes, c) for query, c in queries_of(columns)]
    return ratio_of(rows, n=len(rows), unit="1/min", nothing="windows are open all the time")


@metric(better="lower", unit="messages")
def repeats(columns: Columns) -> Estimate:
    """The mean number of extra messages per slot. All messages in a window except the first are
    extra.

    At least 0; lower is better. `n` counts slots. An example with three messages in one window:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> repeats(columns_of((watch, SpeechLog((Utterance(12, 12),) * 3)))).value
    2.0
    """
    rows = [(float(max(0, slot.inside - 1)), 1.0, cluster) for slot, cluster in slots_of(columns)]
    return ratio_of(rows, n=len(rows), unit="messages", nothing=NO_SLOTS)


@metric(better="lower", unit="1/h")
def unsolicited_per_hour(columns: Columns) -> Estimate:
    """The number of messages sent while the query is not open, per hour during which the query is
    not open.

    At least 0; lower is better. `n` counts queries. There is no value if every query was open from
    the start of the video until the model stopped watching. An example with one message in the half
    hour before the query is asked:

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=1800, end=1840, slots=(Slot(1810, 1840),))
    >>> unsolicited_per_hour(columns_of((watch, SpeechLog((Utterance(60, 61),))))).value
    2.0
    """
    rows = [(float(query.unsolicited), query.hours, c) for query, c in queries_of(columns)]
    return ratio_of(rows, n=len(rows), unit="1/h", nothing="a query is open all the time")


@metric(better="lower", unit="fraction")
def ambiguous(columns: Columns) -> Estimate:
    """The share of messages that could answer several queries, so that the query had to be guessed.

    In [0, 1]; lower is better, since the other metrics then depend less on guesses. `n` counts
    messages.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> ambiguous(columns_of((watch, SpeechLog((Utterance(12, 12, by="guessed"),))))).value
    1.0
    """
    rows = [(float(query.guessed), float(query.messages), c) for query, c in queries_of(columns)]
    return ratio_of(rows, n=sum(query.messages for query, _ in queries_of(columns)), nothing=UNSAID)


@metric(better="lower", unit="fraction")
def acknowledgements(columns: Columns) -> Estimate:
    """The share of queries that the model acknowledges.

    An acknowledgement is a message that only says that the model will answer later.
    Acknowledgements also count in the other metrics, usually as false alarms. In [0, 1]; lower is
    better. `n` counts queries.

    >>> from snellen.metrics.streaming import Slot, SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = SpeechLog((Utterance(0, 1, acknowledges=True),))
    >>> acknowledgements(columns_of((watch, heard), (watch, SpeechLog()))).value
    0.5
    """
    return mean_of((float(query.acknowledged), cluster) for query, cluster in queries_of(columns))


def _slots_with_message(query: QueryOutcome) -> float:
    return float(sum(slot.inside > 0 for slot in query.slots))
