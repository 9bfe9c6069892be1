"""Defines queries and the messages of models, and computes the outcome of each query."""

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
"""The numbers of seconds by which `answered_in_span_within` can widen windows on both sides. After
its query ends, a session must continue for the largest of these numbers of seconds, since a message
may still be in a widened window."""
MINUTE, HOUR = 60.0, 3600.0


class Slot(msgspec.Struct, frozen=True):
    """A window in which the model should say something."""

    w0: float
    """The start of the window, in seconds."""
    w1: float
    """The end of the window, in seconds."""
    number: int | None = None
    """The number that the model should say; None means that any message counts."""


class Point(msgspec.Struct, frozen=True):
    """A time at which a polled model is asked for its current answer."""

    time: float
    """The time in seconds."""
    right: int
    """The right reply at this time. If the query asks for a running total, the right reply is the
    total. Otherwise, the right reply is 1 if `number` should have been said by this time, and 0 if
    not."""
    number: int | None = None
    """The number that should have been said; None means that any message counts."""


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """A query, and what a perfect model would say."""

    task: str
    """The name of the task."""
    asked: float
    """The time at which the query is asked, in seconds."""
    end: float
    """The time at which the query ends, in seconds."""
    slots: tuple[Slot, ...]
    """The windows in chronological order. Each is longer than 0 s. If there are several windows,
    their numbers differ, so that a message counts for only one window."""
    points: tuple[Point, ...] = ()
    """The times at which a polled model is asked, in order."""
    counts: bool = False
    """Whether the query asks for a running total, which is evaluated up to the last of `points`."""


By = Literal["named", "only", "form", "guessed"]
"""How Snellen determined which query a message answers. `named`: the message names the query.
`only`: no other query is open. `form`: the message has a form that only one open query asks for.
`guessed`: several queries are possible, and the most recently asked query was chosen."""


class Utterance(msgspec.Struct, frozen=True):
    """One message of the model."""

    onset: float
    """The time at which the message began, in seconds."""
    done: float
    """The time at which the message ended, in seconds."""
    number: int | None = None
    """The number in the message; None if it contains no number."""
    by: By = "only"
    """How Snellen determined which query the message answers."""
    acknowledges: bool = False
    """Whether the message only acknowledges the query."""


class SpeechLog(msgspec.Struct, frozen=True):
    """The messages of a session."""

    messages: tuple[Utterance, ...] = ()
    """The messages, in the order of their onsets."""
    until: float | None = None
    """The time up to which the video was watched, in seconds; None means the end of the query.
    A window that is still open at this time ends there, and later windows are dropped."""
    failed: bool = False
    """Whether the session failed at `until`. If the session failed, its unfinished slots are
    excluded from all means, and so are most messages after the start of the first unfinished
    slot."""


def to_json(what: Watch | SpeechLog) -> str:
    """Convert to the JSON that is stored as a target or an answer."""
    return msgspec.json.encode(what).decode()


def columns_of(*queries: tuple[Watch, SpeechLog | None]) -> Columns:
    """Create columns from queries and their logs. Each query is about a different video. A log is
    None if the reply could not be parsed.

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
    """The outcome of a slot."""

    outcome: Literal["hit", "early", "late", "silent"]
    """`hit`: the first message that counts for the slot is in the window. `early`: the first such
    message begins before the window. `late`: the first such message does not begin before the
    window, but ends after the window. `silent`: no message counts for the slot."""
    wider: tuple[bool, ...]
    """For each number of seconds in `WIDER`, whether the slot is a hit if its window is widened by
    this number."""
    inside: int
    """The number of messages in the window."""
    delay: float | None
    """The seconds from the start of the window to the onset of the first message in the window;
    None if there is no such message."""
    width: float
    """The length of the window in seconds."""
    in_force: float
    """The share of the window during which the most recent message is right."""


class TotalOutcome(NamedTuple):
    """The outcome of a query that asks for a running total, over the time up to the last point."""

    error: float
    """The absolute error of the stated total, averaged over time."""
    silent: float
    """The absolute error of a model that says nothing, averaged over time."""
    right: float
    """The share of the time during which the most recently stated total is right."""
    over: float
    """The share of the time during which the most recently stated total is too high."""
    final: bool | None
    """Whether the total at the last point is right; None if the session failed before that
    point."""


class QueryOutcome(NamedTuple):
    """The outcome of a query."""

    task: str
    """The name of the task."""
    slots: tuple[SlotOutcome, ...]
    """The outcome of each slot that is neither dropped nor unfinished."""
    dropped: int
    """The number of slots that would begin after the end of the session."""
    failed: int
    """The number of slots that a failed session left unfinished."""
    messages: int
    """The number of messages that began while the query was open."""
    false_alarms: int
    """The number of `messages` that are outside all windows."""
    minutes: float
    """The minutes outside all windows while the query was open."""
    guessed: int
    """The number of `messages` that were assigned to this query by guessing."""
    acknowledged: bool
    """Whether a message acknowledges the query."""
    unsolicited: int
    """The number of messages that began while the query was not open."""
    hours: float
    """The hours during which the query was not open."""
    points: tuple[bool, ...]
    """For each point, whether the messages up to that time imply the right reply."""
    total: TotalOutcome | None
    """The outcome of the running total; None if the query does not ask for one."""


def share_of_hits(target: str, answer: str | None) -> float | None:
    """The score of a query: the share of its slots that are hits.

    The score is None if the session failed before any slot ended. The score is 0 if all slots were
    dropped. A query without slots does not affect the metrics of slots, but needs a score, since
    `slots_dropped` counts only queries with a score.
    """
    query = _query(target, answer, perfect=False)
    if not query.slots:
        return None if query.failed else 0.0
    return sum(slot.outcome == "hit" for slot in query.slots) / len(query.slots)


def is_answered(target: str, answer: str) -> bool | None:
    """Whether the model said something while a query was open. None if the session failed before
    the model said anything."""
    watch = msgspec.json.decode(target, type=Watch)
    heard = msgspec.json.decode(answer, type=SpeechLog)
    if any(watch.asked <= message.onset <= watch.end for message in heard.messages):
        return True
    return None if heard.failed else False


def projection(watch: Watch, heard: SpeechLog) -> tuple[int, ...]:
    """The replies that a polled model would give at each point if it had produced the same
    messages. If the query asks for a running total, a reply is the most recent total. Otherwise, a
    reply is 1 if a message that counts for the point ended by the time of the point, and 0 if
    not."""
    messages = [message for message in heard.messages if watch.asked <= message.onset <= watch.end]
    return tuple(_claim_at(watch, messages, point) for point in watch.points)


@lru_cache(maxsize=4096)  # about twenty metrics read each row, in all rows and in each category
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
        # Nobody knows whether a message in an unfinished window was needed.
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
        # Without an answer, all points are right, or all are wrong. The messages above, which stand
        # in for the answer, cannot decide this: a message at the start of a window may be too late
        # for a point, and silence may be right at another point.
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
    """The outcome of a slot. `messages` are the messages that began while the query was open.
    `after` also includes messages that began shortly after the `end` of the query."""
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
    """The share of a window during which the most recently finished message is right. If the slot
    has no number, every message is right. If the slot has a number, messages without a number are
    ignored."""
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
    """The number of seconds between start and end that are outside all windows."""
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
    """The end time and the number of each message that contains a number, sorted by time."""
    numbered = [
        (message.done, message.number) for message in messages if message.number is not None
    ]
    return sorted(numbered, key=lambda message: message[0])


def _total(totals: Sequence[tuple[float, int]], done: Sequence[float], time: float) -> int:
    """The most recent total that was stated at or before this time; 0 if no total was stated."""
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
    """The outcome of each query, and its cluster."""
    # If every session failed before a slot ended, no row has a score, and none counts as right.
    scores = [None] * columns.n if columns.score is None else columns.score
    rows = zip(columns.target, columns.answer, scores, columns.cluster, strict=True)
    return [
        (_query(target, answer, perfect=answer is None and score == 1), int(cluster))
        for target, answer, score, cluster in rows
    ]


def slots_of(columns: Columns) -> list[tuple[SlotOutcome, int]]:
    """The outcome of each slot, and its cluster."""
    return [(slot, cluster) for query, cluster in queries_of(columns) for slot in query.slots]
