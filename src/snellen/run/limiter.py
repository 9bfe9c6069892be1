"""Limits the concurrent requests to a server, to a fixed number or to a number that is found by
trial.

All runs that use the same server share one limiter.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

START = 8
MOST = 256
CLIMB_SECONDS = 30.0
RESUME_SECONDS = 60.0
FORGET_SECONDS = 600.0
ROOM_FROM = 16
"""If the server rejects a request at a level above this number, the limit stays two below that
level. At a lower level, the limit stays one below the rejected level."""
PLATEAU = 1.15
"""If doubling the concurrent requests increases the replies per second by less than this factor,
the server is considered fully used."""


@dataclass(slots=True)
class RequestSlot:
    """Permission to send one request."""

    level: int
    """The number of requests in flight when this request was sent."""
    epoch: int
    """The number of bursts that the server had rejected before this request."""
    stage: int
    """The number of stages of the limit before this request; see `_Stage`."""
    since: float
    """When the request was sent, in seconds on the event loop's clock."""


class Limiter:
    """Hands out slots in the order in which they are requested. New questions come after all other
    requests.

    Without a `fixed` limit, `AutoLimit` starts at `start` and finds a limit of at most `most`.
    """

    def __init__(self, fixed: int | None = None, *, start: int = START, most: int = MOST) -> None:
        self.limit: float = float(start if fixed is None else fixed)
        """The maximum number of concurrent requests."""
        self.in_flight = 0
        """The number of slots in use."""
        self.pump = asyncio.Lock()
        """A lock held by the run that is starting new questions. Runs that use the same server take
        turns."""
        self._auto = AutoLimit(self.limit, most) if fixed is None else None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()

    async def acquire(self, *, new: bool = False) -> RequestSlot:
        """Wait for a slot. A `new` question waits until all requests of questions in progress
        (later turns, retries) have a slot."""
        if self.in_flight >= int(self.limit) or self._waiting or (new and self._new):
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            (self._new if new else self._waiting).append(future)
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self.in_flight -= 1
                    self._wake()
                raise
        else:
            self.in_flight += 1
        now = asyncio.get_running_loop().time()
        if self._auto is None:
            return RequestSlot(self.in_flight, 0, 0, now)
        return RequestSlot(self.in_flight, self._auto.epoch, self._auto.stage.number, now)

    def release(self) -> None:
        self.in_flight -= 1
        self._wake()

    def replied(self, slot: RequestSlot) -> None:
        """Note that a request got a response other than HTTP 429."""
        if self._auto is not None:
            self._auto.replied(slot, asyncio.get_running_loop().time())
            self.limit = self._auto.limit
            self._wake()

    def throttled(self, slot: RequestSlot) -> None:
        """Note that the server rejected a request because there were too many (HTTP 429)."""
        if self._auto is not None:
            self._auto.throttled(slot, asyncio.get_running_loop().time())
            self.limit = self._auto.limit

    def _wake(self) -> None:
        while self.in_flight < int(self.limit) and (self._waiting or self._new):
            future = (self._waiting or self._new).popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)


@dataclass(slots=True)
class _Stage:
    """Measurements of one stage, which ends when the limit has doubled.

    The rate of replies is the number of requests in flight divided by the duration of a request
    (Little 1961). A count of arriving replies would mistake bursts for speed.
    """

    number: int
    start: float
    """The limit when the stage began."""
    replies: int = 0
    levels: int = 0
    """The sum of the levels of the requests that got replies."""
    seconds: float = 0.0
    """The sum of the durations of the requests that got replies, in seconds."""

    @property
    def rate(self) -> float:
        return self.levels / max(self.seconds, 1e-9)


@dataclass(slots=True)
class _TurnedAway:
    """The level at which the server rejected a request, and the time of the rejection."""

    level: int
    at: float
    climbed_at: float
    """When the limit was last raised after the rejection; initially, the time of the rejection."""


class AutoLimit:
    """Finds the number of concurrent requests that a server can handle.

    The limit grows by one with every reply, so it doubles in one round trip. If doubling the
    requests no longer increases the rate of replies, the limit stops growing for a minute. If the
    server rejects a request (HTTP 429), the limit stays below the rejected level for ten minutes
    before that level is tried again. During this time, the limit rises by one every 30 seconds
    until it is just below the rejected level.
    """

    def __init__(self, start: float, most: int) -> None:
        self.limit = start
        self.epoch = 0
        """The number of bursts in which the server rejected requests."""
        self.stage = _Stage(0, start)
        self._most = most
        self._growing = True
        self._turned_away: _TurnedAway | None = None
        self._rate_before: float | None = None
        self._resume_at = 0.0

    def replied(self, slot: RequestSlot, now: float) -> None:
        if self._turned_away is not None:
            self._climb(self._turned_away, now)
        elif self._growing:
            self._measure(slot, now)
            if self._growing and slot.level >= int(self.limit) // 2:
                self.limit = min(self._most, self.limit + 1)
        elif now > self._resume_at:
            self._growing = True
            self._rate_before = None
            self._next_stage()

    def throttled(self, slot: RequestSlot, now: float) -> None:
        level = slot.level
        if slot.epoch == self.epoch:
            self.epoch += 1
        elif self._turned_away is not None:
            # The request was sent in the same burst as one that was already rejected.
            level = min(level, self._turned_away.level)
        self._turned_away = _TurnedAway(level, now, now)
        self.limit = min(self.limit, _below(level))

    def _climb(self, turned_away: _TurnedAway, now: float) -> None:
        if now - turned_away.climbed_at <= CLIMB_SECONDS:
            return
        turned_away.climbed_at = now
        if self.limit < _below(turned_away.level):
            self.limit += 1
        elif now - turned_away.at > FORGET_SECONDS:
            self.limit = min(self._most, self.limit + 2)

    def _measure(self, slot: RequestSlot, now: float) -> None:
        """Stop growing if the last doubling hardly increased the rate of replies."""
        stage = self.stage
        if slot.stage != stage.number:
            return
        stage.replies += 1
        stage.levels += slot.level
        stage.seconds += now - slot.since
        if stage.replies < stage.start or self.limit < min(2 * stage.start, self._most):
            return
        if self._rate_before is not None and stage.rate < PLATEAU * self._rate_before:
            self._growing = False
            self._resume_at = now + RESUME_SECONDS
            self.limit = stage.start
        self._rate_before = stage.rate
        self._next_stage()

    def _next_stage(self) -> None:
        self.stage = _Stage(self.stage.number + 1, self.limit)


def _below(level: int) -> int:
    return max(1, level - (2 if level > ROOM_FROM else 1))
