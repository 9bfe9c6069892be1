"""Limits the concurrent requests to a server, to a fixed number or to a number that is found by
trial.

All runs that use the same server share one limiter.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

START = 8
FORGET_SECONDS = 30.0
"""How long the limit stays below the number of concurrent requests (the level) that the server
rejected, after the first rejection."""
LONGEST_FORGET_SECONDS = 600.0
"""The longest such time. The time doubles with each rejection that follows."""
RESUME_SECONDS = 60.0
"""How long the limit stays at the best number before neighboring numbers are tried again. The time
doubles whenever the best number is still the best."""
LONGEST_RESUME_SECONDS = 600.0
"""The longest such time."""
ROOM_FROM = 16
"""If the server rejects a request at a level above this number, the limit stays two below that
level. At a lower level, the limit stays one below the rejected level."""
PLATEAU = 1.15
"""If doubling the concurrent requests increases the replies per second by less than this factor,
the server is considered fully used."""
SLOWER = 1.25
"""If several processes grow alike, each stops when replies take longer by this factor. The rate of
a process alone could also rise at the expense of the others."""
GAIN = 1.02
"""A larger number of requests is better than a smaller one if its rate of replies is higher by this
factor."""
PRECISION = 0.06
"""The search after a doubling ends when its step is below this fraction of the number."""
NEIGHBOR_PRECISION = 0.1
"""The same for the search among the neighbors of a number, which ends after one step."""


Bound = Callable[[int], str | None]
"""Returns the reason why this machine cannot send so many concurrent requests; None if it can."""


def no_bound(requests: int) -> None:
    """The bound of a machine without limits."""


@dataclass(slots=True)
class RequestSlot:
    """Permission to send one request."""

    level: int
    """The number of requests in flight when this request was sent."""
    epoch: int
    """The number of bursts of rejections (HTTP 429) before this request."""
    stage: int
    """The number of the limit's stage in which this request was sent; see `_Stage`."""
    since: float
    """When the request was sent, in seconds on the event loop's clock."""


class Limiter:
    """Hands out slots in the order in which they are requested. New questions come after all other
    requests.

    Without a `fixed` limit, `AutoLimit` starts at `start` and finds a limit. `bound` is called with
    a number of concurrent requests, and returns the reason why this machine cannot send so many;
    None if it can. `others` is the number of other processes that ask the same server in the same
    way, each with a limiter of its own.
    """

    def __init__(
        self,
        fixed: int | None = None,
        *,
        start: int = START,
        bound: Bound | None = None,
        others: int = 0,
    ) -> None:
        self.limit: float = float(start if fixed is None else fixed)
        """The maximum number of concurrent requests."""
        self.in_flight = 0
        """The number of slots in use."""
        self.pump = asyncio.Lock()
        """A lock held by the run that is starting new questions. Runs that use the same server take
        turns."""
        self._auto = AutoLimit(self.limit, bound or no_bound, others) if fixed is None else None
        self._waiting: deque[asyncio.Future[RequestSlot]] = deque()
        self._new: deque[asyncio.Future[RequestSlot]] = deque()

    @property
    def bounded_by(self) -> str | None:
        """The reason why this machine cannot send more concurrent requests, if that is what ended
        the growth of the limit; otherwise None."""
        return None if self._auto is None else self._auto.bounded_by

    async def acquire(self, *, new: bool = False) -> RequestSlot:
        """Wait for a slot. A `new` question waits until all requests of questions in progress
        (later turns, retries) have a slot."""
        if self.in_flight < int(self.limit) and not self._waiting and not (new and self._new):
            return self._take()
        future: asyncio.Future[RequestSlot] = asyncio.get_running_loop().create_future()
        (self._new if new else self._waiting).append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.in_flight -= 1
                self._wake()
            raise

    def _take(self) -> RequestSlot:
        self.in_flight += 1
        now = asyncio.get_running_loop().time()
        if self._auto is None:
            return RequestSlot(self.in_flight, 0, 0, now)
        return RequestSlot(self.in_flight, self._auto.epoch, self._auto.stage.number, now)

    def release(self) -> None:
        self.in_flight -= 1
        self._wake()

    def replied(self, slot: RequestSlot) -> None:
        """Record that a request got a response other than HTTP 429."""
        if self._auto is not None:
            self._auto.replied(slot, asyncio.get_running_loop().time())
            self.limit = self._auto.limit
            self._wake()

    def throttled(self, slot: RequestSlot) -> None:
        """Record that the server rejected a request because there were too many (HTTP 429)."""
        if self._auto is not None:
            self._auto.throttled(slot, asyncio.get_running_loop().time())
            self.limit = self._auto.limit

    def _wake(self) -> None:
        while self.in_flight < int(self.limit) and (self._waiting or self._new):
            future = (self._waiting or self._new).popleft()
            if not future.done():
                future.set_result(self._take())


@dataclass(slots=True)
class _Stage:
    """Measurements of one stage, in which the limit doubles or one number is tried.

    The rate of replies is the number of requests in flight divided by the duration of a request
    (Little 1961). A count of arriving replies would mistake bursts for speed.
    """

    number: int
    start: float
    """The limit when the stage began."""
    skip: float = 0.0
    """The number of replies that are not counted, since their requests were sent while the number
    of requests in flight rose to the limit."""
    replies: int = 0
    levels: int = 0
    """The sum of the levels of the requests that got replies."""
    seconds: float = 0.0
    """The sum of the durations of the requests that got replies, in seconds."""

    def rate(self, elsewhere: float) -> float:
        """The number of replies per second to this process and to others, which have `elsewhere`
        requests in flight."""
        return (self.levels + elsewhere * self.replies) / max(self.seconds, 1e-9)

    def add(self, slot: RequestSlot, now: float) -> None:
        """Add a request whose reply arrived at the time `now`."""
        if self.skip >= 1:
            self.skip -= 1
            return
        self.replies += 1
        self.levels += slot.level
        self.seconds += now - slot.since


class AutoLimit:
    """Finds the number of concurrent requests with which a server is fastest.

    1. The limit grows by one with every reply, so it doubles in one round trip.
    2. If doubling the requests no longer increases the rate of replies, numbers near the one before
       the doubling are tried, with a step that halves whenever neither a larger nor a smaller
       number is better. Each number is measured for one round trip.
    3. The best number is kept for a minute. Then its neighbors are tried. If none is better, the
       best number is kept for twice as long. If more requests are better, the limit grows again.

    If other processes ask the same server, each could get more replies at the expense of the others
    by sending more, without end. At first, all processes are assumed to grow alike, and each stops
    when replies take longer. From then on, the rates that a process compares are those of all
    processes. It assumes that each of the others has as many requests in flight as itself when its
    search or doubling started, so that a process with more than the others becomes smaller.

    If the server rejects a request (HTTP 429), the limit stays below the rejected level for 30
    seconds, and for twice as long after each further rejection, up to ten minutes. Then the limit
    grows by one in each round trip until it is twice the rejected level.
    """

    def __init__(self, start: float, bound: Bound, others: int = 0) -> None:
        self.limit = start
        self.epoch = 0
        """The number of bursts in which the server rejected requests."""
        self.stage = _Stage(0, start)
        self.bounded_by: str | None = None
        """The reason that `bound` returned, if it ended the growth."""
        self._bound = bound
        self._others = others
        self._all_grow = True
        """Whether the other processes are assumed to grow like this process, as they do at
        first."""
        self._before: _Stage | None = None
        """The measurements before the last doubling; None if there are none."""
        self._shortest = math.inf
        """The shortest mean duration of a request in a stage of growth, in seconds."""
        self._search: _Search | None = None
        """The search for the best number; None while the limit grows."""
        self._held_until: float | None = None
        """The time until which the limit stays as it is; None while the limit grows or numbers are
        tried."""
        self._resume_seconds = RESUME_SECONDS
        self._rejected_level = 0
        self._forget_seconds = FORGET_SECONDS

    def replied(self, slot: RequestSlot, now: float) -> None:
        """Record that a request got a reply."""
        if self._held_until is not None:
            if now > self._held_until:
                self._resume()
            return
        if slot.stage == self.stage.number:
            self.stage.add(slot, now)
        if self._search is None:
            self._continue_growth(slot, now)
        elif self.stage.replies >= self.limit:
            self._search_on(self._search, now)

    def throttled(self, slot: RequestSlot, now: float) -> None:
        """Record that the server rejected a request because there were too many."""
        level = slot.level
        if slot.epoch != self.epoch and self._rejected_level:
            # The request was sent in the same burst as one that was already rejected.
            level = min(level, self._rejected_level)
        else:
            self.epoch += 1
            if self._rejected_level and self._held_until is None:
                # The rejected level was tried again.
                self._forget_seconds = min(LONGEST_FORGET_SECONDS, 2 * self._forget_seconds)
        self._rejected_level = level
        self._hold(min(self.limit, _below(level)), now + self._forget_seconds)

    def _resume(self) -> None:
        self._held_until = None
        if self._search is None:
            self._next_stage()
        else:
            self._start_search(self.limit, self.limit // 8)

    def _continue_growth(self, slot: RequestSlot, now: float) -> None:
        stage, before = self.stage, self._before
        if stage.replies >= stage.start and self.limit >= 2 * stage.start:
            if before and self._is_full(stage, before):
                self._search_near(stage, before, now)
                return
            self._before = stage
            self._shortest = min(self._shortest, stage.seconds / stage.replies)
            if stage.start > self._rejected_level:
                self._rejected_level = 0
                self._forget_seconds = FORGET_SECONDS
            self._next_stage()
        if slot.level < int(self.limit) // 2 or self.limit >= 2 * stage.start:
            return
        self.bounded_by = self._bound(int(self.limit) + 1)
        if self.bounded_by is not None:
            self._start_search(self.limit, self.limit // 4)
        elif self.limit < 2 * self._rejected_level:
            self.limit += 1 / self.limit  # by one in each round trip
        else:
            self.limit += 1

    def _is_full(self, stage: _Stage, before: _Stage) -> bool:
        """Whether the last doubling shows that the server is fully used."""
        if self._all_grow and self._others:
            return stage.seconds / stage.replies > SLOWER * before.seconds / before.replies
        elsewhere = self._elsewhere(stage.start)
        return stage.rate(elsewhere) < PLATEAU * before.rate(elsewhere)

    def _elsewhere(self, number: float) -> float:
        """The requests that other processes are assumed to have in flight, each this number."""
        return 0.0 if self._all_grow else self._others * number

    def _search_near(self, stage: _Stage, before: _Stage, now: float) -> None:
        """Search for the best number after a doubling that did not help."""
        if self._others:
            # A process of several sees little of what more requests would bring to all, so it
            # starts with too many rather than too few.
            start = stage.levels // stage.replies
            self._start_search(start, start // 4)
            return
        # The number before the doubling was not too large. Its replies took no longer than those
        # that were measured while the number grew.
        search = _Search(before.start, before.start // 2, self._bound, GAIN)
        search.expect(before.start * before.replies / before.seconds, self._shortest)
        self._search, self._all_grow = search, False
        self._try_next(search, now)

    def _start_search(self, start: float, step: float) -> None:
        gain = 1 + (GAIN - 1) / (1 + self._others)
        self._search = _Search(start, step, self._bound, gain)
        self._all_grow = False
        self.limit = start
        self._next_stage(skip=start)  # until the number of requests in flight has settled

    def _search_on(self, search: _Search, now: float) -> None:
        """Add the measurements of a number to a search, and try the next number."""
        search.add(self.limit, self.stage, self.stage.rate(self._elsewhere(search.start)))
        self._try_next(search, now)

    def _try_next(self, search: _Search, now: float) -> None:
        """Try the next number. If the search is over, keep the best number as the limit."""
        number = search.next_number()
        if number is not None:
            rise = max(0.0, number - self.limit)
            self.limit = number
            self._next_stage(skip=rise)
        elif search.best > search.start and not search.follows_growth:
            self._before = search.stages[search.best]
            self._search = None
            self.limit = search.best
            self._next_stage()
        else:
            self._hold(search.best, now + self._resume_seconds)
            self._resume_seconds = min(LONGEST_RESUME_SECONDS, 2 * self._resume_seconds)

    def _hold(self, limit: float, until: float) -> None:
        self.limit = limit
        self._held_until = until
        self._next_stage()

    def _next_stage(self, skip: float = 0.0) -> None:
        self.stage = _Stage(self.stage.number + 1, self.limit, skip)


class _Search:
    """Looks for the number of concurrent requests with the highest rate of replies."""

    def __init__(self, start: float, step: float, bound: Bound, gain: float) -> None:
        self.start = start
        """The first number to try."""
        self.best = start
        """The best number so far."""
        self.stages: dict[float, _Stage] = {}
        """The measurements for each number that was tried."""
        self.follows_growth = False
        """Whether the first number is the last from which doubling helped."""
        self._rates: dict[float, float] = {}
        self._shortest = 0.0
        """The shortest mean duration of a request, in seconds; 0 if it is not known."""
        self._step = max(1.0, step)
        self._bound = bound
        self._gain = gain

    def expect(self, rate: float, shortest: float) -> None:
        """Assume the rate of the first number, from which doubling helped, until it is measured.
        `shortest` is the shortest mean duration of a request so far, in seconds."""
        self.follows_growth = True
        self._rates[self.start] = rate
        self._shortest = shortest

    def add(self, number: float, stage: _Stage, rate: float) -> None:
        """Add the measurements and the rate of replies of a number that was tried."""
        if rate * self._gain < self._rates.get(number, 0.0):  # the assumed rate was wrong
            self._step = max(1.0, number // 4)
        self.stages[number] = stage
        self._rates[number] = rate

    def next_number(self) -> float | None:
        """Return the next number to try; None if the search is over."""
        precision = PRECISION if self.follows_growth else NEIGHBOR_PRECISION
        while self._step >= max(1.0, precision * self.best):
            rate = self._rates[self.best]
            less, more = self.best - self._step, self.best + self._step
            if less >= START and less not in self._rates and not self._is_too_few(less):
                return less
            if self._rates.get(less, 0.0) * self._gain >= rate:
                self.best = less
            elif more not in self._rates and self._bound(int(more)) is None:
                return more
            elif self._rates.get(more, 0.0) > self._gain * rate:
                self.best = more
            else:
                self._step //= 2
        return None if self.best in self.stages else self.best  # not measured yet

    def _is_too_few(self, number: float) -> bool:
        """Whether a number is worse than the best one, even if its requests took the shortest
        time."""
        return self._gain * number < self._shortest * self._rates[self.best]


def _below(level: int) -> int:
    return max(1, level - (2 if level > ROOM_FROM else 1))
