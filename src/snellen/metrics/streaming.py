"""Metrics of watching: what was said about a running video, and when.

A query is a question that stands open from `asked` to `end`; to it belong slots, the stretches of
time in which something is to be said, and the messages that a model said. Times are seconds of the
video, not of a clock on the wall. A metric reads, of each row, `columns.target` (a `Watch` as JSON)
and `columns.answer` (a `SpeechLog` as JSON).

A message lies in a window iff onset >= w0 and done <= w1: one begun before the evidence cannot rest
on it, one unfinished at the deadline is of no use. A slot with a number is spoken for by messages
with that number alone, any other by every message. The first of them decides the slot's outcome:

    hit      it lies in the window
    early    it begins before w0
    late     it begins later, and is not done by w1
    silent   there is none

Only messages that begin while the query is open count here; others are `unsolicited`.

A row without an answer is what its score says: with 1 everything was said at its time, with 0
nothing was, and of its points all are wrong. So replies that cannot be read or were withheld count
as wrong, and what is unknown has bounds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from snellen import stats
from snellen.metrics._columns import Category, Columns
from snellen.metrics._metric import Metric, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDER = (1.0, 2.0, 3.0)
"""Seconds by which windows are also widened on both sides. A session is to be fed as long after its
query's end: until then messages may still lie in a widened window."""
MINUTE, HOUR = 60.0, 3600.0


class Slot(msgspec.Struct, frozen=True):
    """The window [w0, w1] in which something is to be said; `number` is what, None: anything."""

    w0: float
    w1: float
    number: int | None = None


class Point(msgspec.Struct, frozen=True):
    """A time at which a polled model is asked, and what is right then: a count, or 1 or 0 for
    whether it is time to have said `number`."""

    time: float
    right: int
    number: int | None = None


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """A query and what is right: `slots` in the order of time, longer than nothing, and where there
    are several each with a number of its own, so that no message speaks for two.

    `counts`: the numbers are a running total, and the last of `points` is where it ends.
    """

    task: str
    asked: float
    end: float
    slots: tuple[Slot, ...]
    points: tuple[Point, ...] = ()
    counts: bool = False


By = Literal["named", "only", "form", "guessed"]
"""How it is known which query a message answers: it says so, no other is open, it has the form that
one alone asks for, or (`guessed`) that was the last one asked of several."""


class Utterance(msgspec.Struct, frozen=True):
    """When a message began and was done, and the number it says, if any. `acknowledges`: it is an
    answer to nothing but the query's being asked."""

    onset: float
    done: float
    number: int | None = None
    by: By = "only"
    acknowledges: bool = False


class SpeechLog(msgspec.Struct, frozen=True):
    """What was said, in the order of onsets.

    `until` is how far the video was watched, None: to the query's end and no further. Where that is
    its own end, windows end there too, and one that would begin later is dropped; where the session
    `failed` then, the slots that were not over are failed: they and what was said since the first
    of them began are outside every mean.
    """

    messages: tuple[Utterance, ...] = ()
    until: float | None = None
    failed: bool = False


def to_json(what: Watch | SpeechLog) -> str:
    """As it stands in a target or an answer."""
    return msgspec.json.encode(what).decode()


def columns_of(*queries: tuple[Watch, SpeechLog | None]) -> Columns:
    """The columns of queries, each about a video of its own; None is what could not be read.

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns_of((watch, SpeechLog())).target[0][:25]
    '{"task":"CRR","asked":0,"'
    """
    import numpy as np

    n = len(queries)
    answer, target, none = (np.empty(n, dtype=object) for _ in range(3))
    answer[:] = [None if heard is None else to_json(heard) for _, heard in queries]
    target[:] = [to_json(watch) for watch, _ in queries]
    scores = [share_of_hits(*row) for row in zip(target, answer, strict=True)]
    return Columns(
        score=np.array([score or 0.0 for score in scores]),
        answer=answer,
        target=target,
        references=none,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={},
        cluster=np.arange(n, dtype=np.int32),
    )


# -- one query


class _Slot(NamedTuple):
    """What became of a slot."""

    outcome: Literal["hit", "early", "late", "silent"]
    wider: tuple[bool, ...]
    """Whether it is a hit with its window widened by each of `WIDER`."""
    inside: int
    """How many messages lie in the window."""
    delay: float | None
    width: float
    in_force: float
    """The share of the window in which the latest message is right."""


class _Total(NamedTuple):
    """How a running total was told; shares of the time up to the last point."""

    error: float
    silent: float
    """The error of saying nothing."""
    right: float
    over: float
    final: bool | None
    """Whether the last total is right; None where the session failed before."""


class _Query(NamedTuple):
    task: str
    slots: tuple[_Slot, ...]
    dropped: int
    failed: int
    messages: int
    false_alarms: int
    minutes: float
    """While it was open, outside all windows."""
    guessed: int
    acknowledged: bool
    unsolicited: int
    hours: float
    """While it was not open."""
    points: tuple[bool, ...]
    """Whether what had been said by then is right, for each point."""
    total: _Total | None


def share_of_hits(target: str, answer: str | None) -> float | None:
    """The share of a query's slots that are hits: its score.

    0 where all were dropped: it weighs nothing in metrics of slots, and `slots_dropped` counts only
    rows that have a score. None where the session failed before any was over.
    """
    query = _query(target, answer, perfect=False)
    if not query.slots:
        return None if query.failed else 0.0
    return sum(slot.outcome == "hit" for slot in query.slots) / len(query.slots)


def projection(watch: Watch, heard: SpeechLog) -> tuple[int, ...]:
    """What a polled model would reply at each point that had said the same: the last total, or 1
    where it has spoken for the point's slot at or before it, else 0."""
    said = [one for one in heard.messages if watch.asked <= one.onset <= watch.end]
    return tuple(_said_by(watch, said, point) for point in watch.points)


@lru_cache(maxsize=4096)  # some twenty metrics read each row, of the whole set and of its parts
def _query(target: str, answer: str | None, perfect: bool) -> _Query:
    watch = msgspec.json.decode(target, type=Watch)
    if answer is None:
        told = (Utterance(slot.w0, slot.w0, slot.number) for slot in watch.slots)
        heard = SpeechLog(tuple(told) if perfect else ())
    else:
        heard = msgspec.json.decode(answer, type=SpeechLog)
    until = watch.end if heard.until is None else heard.until
    end = min(watch.end, until)
    reach = end + WIDER[-1]
    after = [one for one in heard.messages if watch.asked <= one.onset <= reach]
    said = [one for one in after if one.onset <= end]
    windows = [Slot(s.w0, min(s.w1, until), s.number) for s in watch.slots if s.w0 < until]
    watched, judged = windows, said
    if heard.failed:
        watched = [slot for slot in watch.slots if slot.w1 <= until]
        # Whether a message in a window that was not over was needed, nobody knows.
        known = min([slot.w0 for slot in watch.slots if slot.w1 > until], default=math.inf)
        judged = [
            one
            for one in said
            if one.onset < known
            or any(_names(one, slot) and _within(one, slot) for slot in watched)
        ]
    left_out = len(watch.slots) - len(watched)
    seen = max([until, *(one.onset for one in heard.messages)])
    points = tuple(
        # What is perfect by windows may come too late for a point, and a silent one be right.
        perfect if answer is None else _said_by(watch, said, point) == point.right
        for point in watch.points
        if point.time <= until or not heard.failed
    )
    return _Query(
        task=watch.task,
        slots=tuple(_slot(slot, said, after, end) for slot in watched),
        dropped=0 if heard.failed else left_out,
        failed=left_out if heard.failed else 0,
        messages=len(judged),
        false_alarms=sum(not any(_within(one, slot) for slot in windows) for one in judged),
        minutes=_outside(windows, watch.asked, end) / MINUTE,
        guessed=sum(one.by == "guessed" for one in judged),
        acknowledged=any(one.acknowledges for one in said),
        unsolicited=len(heard.messages) - len(said),
        hours=(min(watch.asked, until) + max(0.0, seen - watch.end)) / HOUR,
        points=points,
        total=_told_total(watch, said, until, heard.failed) if watch.counts else None,
    )


def _slot(slot: Slot, said: Sequence[Utterance], after: Sequence[Utterance], end: float) -> _Slot:
    """`said` are the messages of the query while it is open, `after` those soon after its `end`
    too."""
    own = [one for one in said if _names(one, slot)]
    inside = [one for one in own if _within(one, slot)]
    wider = []
    for by in WIDER:
        first = next((one for one in after if _names(one, slot) and one.onset <= end + by), None)
        wider.append(first is not None and _within(first, slot, by))
    return _Slot(
        outcome=_outcome(own[0] if own else None, slot),
        wider=tuple(wider),
        inside=len(inside),
        delay=inside[0].onset - slot.w0 if inside else None,
        width=slot.w1 - slot.w0,
        in_force=_in_force(slot, said),
    )


def _names(message: Utterance, slot: Slot) -> bool:
    return slot.number is None or message.number == slot.number


def _within(message: Utterance, slot: Slot, by: float = 0.0) -> bool:
    return message.onset >= slot.w0 - by and message.done <= slot.w1 + by


def _outcome(first: Utterance | None, slot: Slot) -> Literal["hit", "early", "late", "silent"]:
    if first is None:
        return "silent"
    if first.onset < slot.w0:
        return "early"
    return "late" if first.done > slot.w1 else "hit"


def _in_force(slot: Slot, said: Sequence[Utterance]) -> float:
    """The share of a window in which the latest message that is done is right. Of a slot without a
    number any is, and of others one without a number changes nothing."""
    relevant = [one for one in said if slot.number is None or one.number is not None]
    done = sorted(relevant, key=lambda one: one.done)
    times = [slot.w0, *(min(max(one.done, slot.w0), slot.w1) for one in done), slot.w1]
    right = [False, *(_names(one, slot) for one in done)]
    lasts = [end - start for start, end in pairwise(times)]
    seconds = sum(last for last, is_right in zip(lasts, right, strict=True) if is_right)
    return seconds / (slot.w1 - slot.w0)


def _outside(slots: Sequence[Slot], start: float, end: float) -> float:
    """The seconds from start to end that lie in no window."""
    seconds, place = 0.0, start
    for slot in sorted(slots, key=lambda slot: slot.w0):
        seconds += max(0.0, min(slot.w0, end) - place)
        place = max(place, min(slot.w1, end))
    return seconds + max(0.0, end - place)


def _told_total(
    watch: Watch, said: Sequence[Utterance], until: float, failed: bool
) -> _Total | None:
    last = max(point.time for point in watch.points)
    stop = min(last, until)
    if stop <= 0:
        return None
    totals = _totals(said)
    done = [time for time, _ in totals]
    begun = sorted(slot.w0 for slot in watch.slots)
    cuts = sorted({0.0, stop, *(time for time in (*done, *begun) if 0 < time < stop)})
    error = silent = right = over = 0.0
    for start, end in pairwise(cuts):
        counted, true = _total(totals, done, start), bisect_right(begun, start)
        error += abs(counted - true) * (end - start)
        silent += true * (end - start)
        right += (counted == true) * (end - start)
        over += (counted > true) * (end - start)
    final = _total(totals, done, stop) == bisect_right(begun, stop)
    return _Total(
        error=error / stop,
        silent=silent / stop,
        right=right / stop,
        over=over / stop,
        final=None if failed and until < last else final,
    )


def _totals(said: Sequence[Utterance]) -> list[tuple[float, int]]:
    """Each total that was said, and when it was done, by that time."""
    numbered = [(one.done, one.number) for one in said if one.number is not None]
    return sorted(numbered, key=lambda one: one[0])


def _total(totals: Sequence[tuple[float, int]], done: Sequence[float], time: float) -> int:
    """The last total said at or before a time; 0 before any."""
    place = bisect_right(done, time)
    return totals[place - 1][1] if place else 0


def _said_by(watch: Watch, said: Sequence[Utterance], point: Point) -> int:
    if watch.counts:
        totals = _totals(said)
        return _total(totals, [time for time, _ in totals], point.time)
    slot = Slot(0.0, 0.0, point.number)
    return int(any(one.done <= point.time and _names(one, slot) for one in said))


# -- metrics of slots


@metric(better="higher", unit="fraction")
def answered_in_span(columns: Columns) -> Estimate:
    """The share of slots whose first message lies in the window: not early, late or missing.

        hits / slots

    In [0, 1]; higher is better. Slots of all queries count alike, and `n` counts them. What speaks
    blindly a while after it is asked has a share too: quote `early` and `precision` beside it. The
    interval is Wilson's with the clusters' effective n. One of two speaks in time:

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

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(8, 9),))))
    >>> [answered_in_span_within(k)(columns).value for k in WIDER]
    [0.0, 1.0, 1.0]
    """
    place = WIDER.index(seconds)
    return Metric(
        lambda columns: _share(columns, lambda slot: slot.wider[place]),
        better="higher",
        unit="fraction",
        name="answered_in_span_within",
    )


@metric(better="lower", unit="fraction")
def early(columns: Columns) -> Estimate:
    """The share of slots whose first message begins before the window.

    In [0, 1]; lower is better. With `late`, `silent` and `answered_in_span` it sums to 1:

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

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> late(columns_of((watch, SpeechLog((Utterance(39, 41),))))).value
    1.0
    """
    return _share(columns, lambda slot: slot.outcome == "late")


@metric(better="lower", unit="fraction")
def silent(columns: Columns) -> Estimate:
    """The share of slots that no message speaks for. In [0, 1]; lower is better.

    Worked out under `early`. With numbers, a message for another slot is none for this:

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

    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 20, 1),))
    >>> span_auc(columns_of((watch, SpeechLog((Utterance(5, 5, 1), Utterance(15, 15, 2)))))).value
    0.5
    """
    return _share(columns, lambda slot: slot.in_force)


@metric(better=None, unit="fraction")
def slots_dropped(columns: Columns) -> Estimate:
    """The share of slots left out because their window would begin when the video has ended.

    In [0, 1]; 0 where videos are whole. `n` counts all slots.

    >>> watch = Watch(task="SSR", asked=0, end=20, slots=(Slot(0, 9, 1), Slot(10, 20, 2)))
    >>> slots_dropped(columns_of((watch, SpeechLog(until=10)))).value
    0.5
    """
    return _left_out(columns, lambda query: query.dropped)


@metric(better="lower", unit="fraction")
def slots_failed(columns: Columns) -> Estimate:
    """The share of slots left out because the session had failed before their window ended.

    In [0, 1]; lower is better: what it hides is in no other metric. `n` counts all slots.

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

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = [SpeechLog((Utterance(t, t),)) for t in (11, 12, 16)]
    >>> columns = columns_of(*((watch, one) for one in (*heard, SpeechLog())))
    >>> delay_median(columns).value, delay_mean(columns).value, delay_median(columns).n
    (2.0, 3.0, 3)
    """
    import numpy as np

    found = [(slot.delay, cluster) for slot, cluster in _slots(columns) if slot.delay is not None]
    if not found:
        return Estimate(value=None, unit="s", n=0, reason=NONE_IN_SPAN)
    delay, cluster = (np.array(column) for column in zip(*found, strict=True))
    return stats.bootstrap(lambda rows: float(np.median(delay[rows])), cluster, unit="s")


@metric(better="lower", unit="s")
def delay_mean(columns: Columns) -> Estimate:
    """The mean delay of the first message in the window, onset - w0, in seconds.

    At least 0; lower is better. Of the slots of `delay_median`, which works one out.

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> delay_mean(columns_of((watch, SpeechLog((Utterance(17, 18),))))).value
    7.0
    """
    rows = [(slot.delay, 1.0, c) for slot, c in _slots(columns) if slot.delay is not None]
    return _ratio(rows, n=len(rows), unit="s", nothing=NONE_IN_SPAN)


@metric(better="lower", unit="s")
def delay_censored(columns: Columns) -> Estimate:
    """The mean delay over all slots, with that of a missed one as long as its window, in seconds.

        mean over slots of min(d, w1 - w0),    d = w1 - w0 without a message in the window

    At least 0; lower is better. A delay of 6 s, and nothing said in a window of 30 s:

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(16, 16),))), (watch, SpeechLog()))
    >>> delay_censored(columns).value
    18.0
    """
    rows = [
        (slot.width if slot.delay is None else slot.delay, 1.0, cluster)
        for slot, cluster in _slots(columns)
    ]
    return _ratio(rows, n=len(rows), unit="s", nothing=NO_SLOTS)


# -- metrics of messages


@metric(better="higher", unit="fraction")
def precision(columns: Columns) -> Estimate:
    """The share of messages that are needed: slots with a message in the window, by messages.

        Σ slots with one / Σ messages while the query is open

    In [0, 1]; higher is better. Repeated messages count against it as false ones do. `n` counts
    messages. One in time, one too soon, one repeated:

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = SpeechLog((Utterance(9, 9), Utterance(12, 12), Utterance(20, 20)))
    >>> columns = columns_of((watch, heard))
    >>> round(precision(columns).value, 3), recall(columns).value, f1(columns).value
    (0.333, 1.0, 0.5)
    """
    rows = [(_found(query), float(query.messages), c) for query, c in _queries(columns)]
    return _ratio(rows, n=sum(query.messages for query, _ in _queries(columns)), nothing=UNSAID)


recall = answered_in_span_any


@metric(better="higher", unit="fraction")
def f1(columns: Columns) -> Estimate:
    """The harmonic mean of `precision` and `recall`: 2 · slots with one / (messages + slots).

    In [0, 1]; higher is better; 0 for one who says nothing. `n` counts slots. Worked out under
    `precision`.

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> f1(columns_of((watch, SpeechLog()))).value
    0.0
    """
    rows = [
        (2 * _found(query), float(query.messages + len(query.slots)), cluster)
        for query, cluster in _queries(columns)
    ]
    return _ratio(rows, n=len(_slots(columns)), nothing=NO_SLOTS)


@metric(better="lower", unit="1/min")
def false_alarms_per_min(columns: Columns) -> Estimate:
    """How often something is said when nothing is to be said: per minute outside all windows.

        Σ messages that lie in no window / Σ minutes that the query is open outside windows

    At least 0; lower is better. What the message says does not matter here: a wrong one inside a
    window costs `precision`. `n` counts queries. Two in the first of three minutes, the last two of
    which are the window:

    >>> watch = Watch(task="CRR", asked=0, end=180, slots=(Slot(60, 180),))
    >>> columns = columns_of((watch, SpeechLog((Utterance(5, 5), Utterance(9, 9)))))
    >>> false_alarms_per_min(columns).value
    2.0
    """
    rows = [(float(query.false_alarms), query.minutes, c) for query, c in _queries(columns)]
    return _ratio(rows, n=len(rows), unit="1/min", nothing="windows are open all the time")


@metric(better="lower", unit="messages")
def repeats(columns: Columns) -> Estimate:
    """How many messages a window has beyond its first: messages too many / slots.

    At least 0; lower is better. `n` counts slots. Three messages where one is enough:

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> repeats(columns_of((watch, SpeechLog((Utterance(12, 12),) * 3)))).value
    2.0
    """
    rows = [(float(max(0, slot.inside - 1)), 1.0, cluster) for slot, cluster in _slots(columns)]
    return _ratio(rows, n=len(rows), unit="messages", nothing=NO_SLOTS)


@metric(better="lower", unit="1/h")
def unsolicited_per_hour(columns: Columns) -> Estimate:
    """How often something is said while the query is not open, per hour of that.

    At least 0; lower is better. `n` counts queries. It has no value where each query was open from
    the video's start to where watching ended. One in the half hour before anything is asked:

    >>> watch = Watch(task="CRR", asked=1800, end=1840, slots=(Slot(1810, 1840),))
    >>> unsolicited_per_hour(columns_of((watch, SpeechLog((Utterance(60, 61),))))).value
    2.0
    """
    rows = [(float(query.unsolicited), query.hours, c) for query, c in _queries(columns)]
    return _ratio(rows, n=len(rows), unit="1/h", nothing="a query is open all the time")


@metric(better="lower", unit="fraction")
def ambiguous(columns: Columns) -> Estimate:
    """The share of messages that could have answered several queries: theirs is a guess.

    In [0, 1]; the lower, the less rests on guesses. `n` counts messages.

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> ambiguous(columns_of((watch, SpeechLog((Utterance(12, 12, by="guessed"),))))).value
    1.0
    """
    rows = [(float(query.guessed), float(query.messages), c) for query, c in _queries(columns)]
    return _ratio(rows, n=sum(query.messages for query, _ in _queries(columns)), nothing=UNSAID)


@metric(better="lower", unit="fraction")
def acknowledgements(columns: Columns) -> Estimate:
    """The share of queries to which the model at once says that it will answer: false alarms that
    are told apart.

    In [0, 1]; lower is better. `n` counts queries.

    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),))
    >>> heard = SpeechLog((Utterance(0, 1, acknowledges=True),))
    >>> acknowledgements(columns_of((watch, heard), (watch, SpeechLog()))).value
    0.5
    """
    return _mean((float(query.acknowledged), cluster) for query, cluster in _queries(columns))


# -- metrics of points


@metric(better="higher", unit="fraction")
def projected(columns: Columns) -> Estimate:
    """The accuracy that a polled model would get that had said the same: the mean over tasks of the
    mean over points.

        P = 1/T Σ_t 1/n_t Σ_p [what had been said by then is right]

    In [0, 1]; higher is better. `n` counts points. It is no measure of time: what speaks blindly
    soon after it is asked does well. Points at 5 and 15 s, of which the second alone asks for
    what is said at 3:

    >>> points = (Point(5, 0), Point(15, 1))
    >>> watch = Watch(task="CRR", asked=0, end=40, slots=(Slot(10, 40),), points=points)
    >>> projected(columns_of((watch, SpeechLog((Utterance(3, 3),))))).value
    0.5
    """
    import numpy as np

    every = [(q.task, float(right), c) for q, c in _queries(columns) for right in q.points]
    tasks, task = np.unique([name for name, _, _ in every], return_inverse=True)
    if len(tasks) < 2:
        return _mean((right, cluster) for _, right, cluster in every)
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

    >>> slots = (Slot(10, 40, 1),)
    >>> watch = Watch(task="REC", asked=0, end=40, slots=slots, points=(Point(40, 1),), counts=True)
    >>> overcount(columns_of((watch, SpeechLog((Utterance(0, 0, 1),))))).value
    0.25
    """
    return _of_totals(columns, lambda total: total.over)


METRICS: Mapping[str, Metric] = {
    "answered_in_span": answered_in_span,
    "answered_in_span_any": answered_in_span_any,
    "early": early,
    "late": late,
    "silent": silent,
    "delay_median": delay_median,
    "delay_mean": delay_mean,
    "delay_censored": delay_censored,
    "span_auc": span_auc,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "false_alarms_per_min": false_alarms_per_min,
    "repeats": repeats,
    "unsolicited_per_hour": unsolicited_per_hour,
    "ambiguous": ambiguous,
    "acknowledgements": acknowledgements,
    **{f"answered_in_span_{by:.0f}s": answered_in_span_within(by) for by in WIDER},
    "count_mae": count_mae,
    "count_skill": count_skill,
    "count_right_time": count_right_time,
    "final_count": final_count,
    "overcount": overcount,
    "projected": projected,
    "slots_dropped": slots_dropped,
    "slots_failed": slots_failed,
}
"""All of them by the names they are reported under, the headline first."""

NO_SLOTS = "no slots"
NONE_IN_SPAN = "no message lies in a window"
UNSAID = "nothing was said"


def _queries(columns: Columns) -> list[tuple[_Query, int]]:
    """What became of each query, and its cluster."""
    # Where all sessions failed before a slot was over none has a score, nor is any taken for right.
    scores = [None] * columns.n if columns.score is None else columns.score
    rows = zip(columns.target, columns.answer, scores, columns.cluster, strict=True)
    return [
        (_query(target, answer, perfect=answer is None and score == 1), int(cluster))
        for target, answer, score, cluster in rows
    ]


def _slots(columns: Columns) -> list[tuple[_Slot, int]]:
    return [(slot, cluster) for query, cluster in _queries(columns) for slot in query.slots]


def _found(query: _Query) -> float:
    return float(sum(slot.inside > 0 for slot in query.slots))


def _share(columns: Columns, value: Callable[[_Slot], float]) -> Estimate:
    return _mean((float(value(slot)), cluster) for slot, cluster in _slots(columns))


def _left_out(columns: Columns, number: Callable[[_Query], int]) -> Estimate:
    rows = []
    for query, cluster in _queries(columns):
        every = len(query.slots) + query.dropped + query.failed
        rows += [(float(place < number(query)), cluster) for place in range(every)]
    return _mean(rows)


def _mean(rows: Iterable[tuple[float, int]]) -> Estimate:
    """The mean of values in [0, 1], each with its cluster."""
    import numpy as np

    found = np.array(list(rows)).reshape(-1, 2)
    return stats.mean(found[:, 0], found[:, 1].astype(np.intp))


def _ratio(
    rows: Sequence[tuple[float, float, int]], *, n: int, unit: str = "fraction", nothing: str
) -> Estimate:
    """The sum of the first by that of the second, each with its cluster; `nothing` is the reason
    where the latter is 0."""
    import numpy as np

    found = np.array(rows).reshape(-1, 3)
    if not found[:, 1].sum():
        return Estimate(value=None, unit=unit, n=n, reason=nothing)
    labels, cluster = np.unique(found[:, 2].astype(np.intp), return_inverse=True)
    sums = [np.bincount(cluster, weights=found[:, place]) for place in (0, 1)]
    return stats.bootstrap_sums(
        np.stack(sums, axis=1), stats.ratio, n=n, unit=unit, clusters=labels
    )


def _of_totals(
    columns: Columns, value: Callable[[_Total], float | None], unit: str = "fraction"
) -> Estimate:
    every = [(value(q.total), c) for q, c in _queries(columns) if q.total is not None]
    known = [(found, cluster) for found, cluster in every if found is not None]
    if not known:
        return Estimate(value=None, unit=unit, n=0, reason="no query asks for a total")
    if unit == "fraction":
        return _mean(known)
    return _ratio([(found, 1.0, c) for found, c in known], n=len(known), unit=unit, nothing="")
