"""A query, what was said while it was open, and what became of it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from snellen.metrics._columns import Category, Columns

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


class SlotOutcome(NamedTuple):
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


class TotalOutcome(NamedTuple):
    """How a running total was told; shares of the time up to the last point."""

    error: float
    silent: float
    """The error of saying nothing."""
    right: float
    over: float
    final: bool | None
    """Whether the last total is right; None where the session failed before."""


class QueryOutcome(NamedTuple):
    """What became of a query."""

    task: str
    slots: tuple[SlotOutcome, ...]
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
    total: TotalOutcome | None


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
    messages = [message for message in heard.messages if watch.asked <= message.onset <= watch.end]
    return tuple(_claim_at(watch, messages, point) for point in watch.points)


@lru_cache(maxsize=4096)  # some twenty metrics read each row, of the whole set and of its parts
def _query(target: str, answer: str | None, perfect: bool) -> QueryOutcome:
    watch = msgspec.json.decode(target, type=Watch)
    if answer is None:
        perfect_messages = (Utterance(slot.w0, slot.w0, slot.number) for slot in watch.slots)
        heard = SpeechLog(tuple(perfect_messages) if perfect else ())
    else:
        heard = msgspec.json.decode(answer, type=SpeechLog)
    until = watch.end if heard.until is None else heard.until
    end = min(watch.end, until)
    reach = end + WIDER[-1]
    after = [message for message in heard.messages if watch.asked <= message.onset <= reach]
    messages = [message for message in after if message.onset <= end]
    windows = [Slot(s.w0, min(s.w1, until), s.number) for s in watch.slots if s.w0 < until]
    watched, judged = windows, messages
    if heard.failed:
        watched = [slot for slot in watch.slots if slot.w1 <= until]
        # Whether a message in a window that was not over was needed, nobody knows.
        known = min([slot.w0 for slot in watch.slots if slot.w1 > until], default=math.inf)
        judged = [
            message
            for message in messages
            if message.onset < known
            or any(_names(message, slot) and _within(message, slot) for slot in watched)
        ]
    left_out = len(watch.slots) - len(watched)
    seen = max([until, *(message.onset for message in heard.messages)])
    points = tuple(
        # What is perfect by windows may come too late for a point, and a silent one be right.
        perfect if answer is None else _claim_at(watch, messages, point) == point.right
        for point in watch.points
        if point.time <= until or not heard.failed
    )
    return QueryOutcome(
        task=watch.task,
        slots=tuple(_slot(slot, messages, after, end) for slot in watched),
        dropped=0 if heard.failed else left_out,
        failed=left_out if heard.failed else 0,
        messages=len(judged),
        false_alarms=sum(not any(_within(message, slot) for slot in windows) for message in judged),
        minutes=_outside(windows, watch.asked, end) / MINUTE,
        guessed=sum(message.by == "guessed" for message in judged),
        acknowledged=any(message.acknowledges for message in messages),
        unsolicited=len(heard.messages) - len(messages),
        hours=(min(watch.asked, until) + max(0.0, seen - watch.end)) / HOUR,
        points=points,
        total=_total_outcome(watch, messages, until, heard.failed) if watch.counts else None,
    )


def _slot(
    slot: Slot, messages: Sequence[Utterance], after: Sequence[Utterance], end: float
) -> SlotOutcome:
    """`said` are the messages of the query while it is open, `after` those soon after its `end`
    too."""
    own = [message for message in messages if _names(message, slot)]
    inside = [message for message in own if _within(message, slot)]
    wider = []
    for by in WIDER:
        first = next(
            (message for message in after if _names(message, slot) and message.onset <= end + by),
            None,
        )
        wider.append(first is not None and _within(first, slot, by))
    return SlotOutcome(
        outcome=_outcome(own[0] if own else None, slot),
        wider=tuple(wider),
        inside=len(inside),
        delay=inside[0].onset - slot.w0 if inside else None,
        width=slot.w1 - slot.w0,
        in_force=_in_force(slot, messages),
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


def _in_force(slot: Slot, messages: Sequence[Utterance]) -> float:
    """The share of a window in which the latest message that is done is right. Of a slot without a
    number any is, and of others one without a number changes nothing."""
    relevant = [
        message for message in messages if slot.number is None or message.number is not None
    ]
    done = sorted(relevant, key=lambda message: message.done)
    times = [slot.w0, *(min(max(message.done, slot.w0), slot.w1) for message in done), slot.w1]
    right = [False, *(_names(message, slot) for message in done)]
    lasts = [end - start for start, end in pairwise(times)]
    seconds = sum(last for last, is_right in zip(lasts, right, strict=True) if is_right)
    return seconds / (slot.w1 - slot.w0)


def _outside(slots: Sequence[Slot], start: float, end: float) -> float:
    """The seconds from start to end that lie in no window."""
    seconds, covered_until = 0.0, start
    for slot in sorted(slots, key=lambda slot: slot.w0):
        seconds += max(0.0, min(slot.w0, end) - covered_until)
        covered_until = max(covered_until, min(slot.w1, end))
    return seconds + max(0.0, end - covered_until)


def _total_outcome(
    watch: Watch, messages: Sequence[Utterance], until: float, failed: bool
) -> TotalOutcome | None:
    last = max(point.time for point in watch.points)
    stop = min(last, until)
    if stop <= 0:
        return None
    totals = _totals(messages)
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
    return TotalOutcome(
        error=error / stop,
        silent=silent / stop,
        right=right / stop,
        over=over / stop,
        final=None if failed and until < last else final,
    )


def _totals(messages: Sequence[Utterance]) -> list[tuple[float, int]]:
    """Each total that was said, and when it was done, by that time."""
    numbered = [
        (message.done, message.number) for message in messages if message.number is not None
    ]
    return sorted(numbered, key=lambda message: message[0])


def _total(totals: Sequence[tuple[float, int]], done: Sequence[float], time: float) -> int:
    """The last total said at or before a time; 0 before any."""
    position = bisect_right(done, time)
    return totals[position - 1][1] if position else 0


def _claim_at(watch: Watch, messages: Sequence[Utterance], point: Point) -> int:
    if watch.counts:
        totals = _totals(messages)
        return _total(totals, [time for time, _ in totals], point.time)
    slot = Slot(0.0, 0.0, point.number)
    return int(any(message.done <= point.time and _names(message, slot) for message in messages))


# -- all queries


def queries_of(columns: Columns) -> list[tuple[QueryOutcome, int]]:
    """What became of each query, and its cluster."""
    # Where all sessions failed before a slot was over none has a score, nor is any taken for right.
    scores = [None] * columns.n if columns.score is None else columns.score
    rows = zip(columns.target, columns.answer, scores, columns.cluster, strict=True)
    return [
        (_query(target, answer, perfect=answer is None and score == 1), int(cluster))
        for target, answer, score, cluster in rows
    ]


def slots_of(columns: Columns) -> list[tuple[SlotOutcome, int]]:
    """What became of each slot, and its cluster."""
    return [(slot, cluster) for query, cluster in queries_of(columns) for slot in query.slots]
