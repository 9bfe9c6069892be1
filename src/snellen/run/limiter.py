"""How many requests are with a server at once: a fixed number, or found by trying.

One limiter serves every run that asks the same server.
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
"""Above this many the limit stays two below the level that was turned away, below it one."""
PLATEAU = 1.15
"""Twice the requests must bring at least this times the replies a second, or the server is full."""


@dataclass(slots=True)
class Slot:
    """Leave to have one request with the server."""

    level: int
    """How many requests were with the server when this one was sent."""
    epoch: int
    """How many 429s came before it."""
    stage: int
    """How many doublings of the limit came before it."""
    since: float
    """When it was sent, on the event loop's clock."""


class Limiter:
    """Hands out slots in the order in which they were asked for; new questions after all others.

    With `auto`, the number grows by one with every reply (so it doubles in a round trip) until the
    server
    turns a request away (429), or until twice the requests no longer bring more replies; it tries
    that again after a minute. After a 429 it climbs by
    one every 30 seconds to just below the level that was turned away, and tries that level again
    after ten minutes.
    """

    def __init__(self, fixed: int | None = None, *, start: int = START, most: int = MOST) -> None:
        self.auto = fixed is None
        self.limit: float = float(start if fixed is None else fixed)
        self.in_flight = 0
        self.pump = asyncio.Lock()
        self._most = most
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()
        self._growing = self.auto
        self._epoch = 0
        self._turned_away: int | None = None
        self._turned_away_at = self._climbed_at = 0.0
        self._stage = 0
        self._stage_from: float = self.limit
        self._measured = self._levels = 0
        self._seconds = 0.0
        self._rate_before: float | None = None
        self._resume_at = 0.0

    async def acquire(self, *, new: bool = False) -> Slot:
        """Wait for a slot; a `new` question lets those under way (later turns, retries) go
        first."""
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
        return Slot(self.in_flight, self._epoch, self._stage, now)

    def release(self) -> None:
        self.in_flight -= 1
        self._wake()

    def replied(self, slot: Slot) -> None:
        """A request was answered (whatever the answer, but 429)."""
        if not self.auto:
            return
        now = asyncio.get_running_loop().time()
        if self._turned_away is not None:
            if now - self._climbed_at > CLIMB_SECONDS:
                self._climbed_at = now
                if self.limit < _below(self._turned_away):
                    self.limit += 1
                elif now - self._turned_away_at > FORGET_SECONDS:
                    self.limit = min(self._most, self.limit + 2)
        elif self._growing:
            self._measure(slot, now)
            if self._growing and slot.level >= int(self.limit) // 2:
                self.limit = min(self._most, self.limit + 1)
        elif now > self._resume_at:
            self._growing = True
            self._rate_before = None
            self._next_stage()
        self._wake()

    def throttled(self, slot: Slot) -> None:
        """The server turned a request away because of too many at once."""
        if not self.auto:
            return
        self._turned_away_at = self._climbed_at = asyncio.get_running_loop().time()
        if slot.epoch == self._epoch:
            self._epoch += 1
            self._turned_away = slot.level
        elif self._turned_away is None or slot.level < self._turned_away:
            # Sent in the same burst as one that was turned away already, and at a lower level.
            self._turned_away = slot.level
        self.limit = min(self.limit, _below(self._turned_away))

    def _measure(self, slot: Slot, now: float) -> None:
        """Stop growing when the last doubling brought hardly more replies a second.

        Replies a second are requests there by seconds each takes (Little 1961); counting replies as
        they come would mistake bursts for speed.
        """
        if slot.stage != self._stage:
            return
        self._measured += 1
        self._levels += slot.level
        self._seconds += now - slot.since
        if self._measured < self._stage_from or self.limit < min(2 * self._stage_from, self._most):
            return
        rate = self._levels / max(self._seconds, 1e-9)
        if self._rate_before is not None and rate < PLATEAU * self._rate_before:
            self._growing = False
            self._resume_at = now + RESUME_SECONDS
            self.limit = self._stage_from
        self._rate_before = rate
        self._next_stage()

    def _next_stage(self) -> None:
        self._stage += 1
        self._stage_from = self.limit
        self._measured = self._levels = 0
        self._seconds = 0.0

    def _wake(self) -> None:
        while self.in_flight < int(self.limit) and (self._waiting or self._new):
            future = (self._waiting or self._new).popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)


def _below(level: int) -> int:
    return max(1, level - (2 if level > ROOM_FROM else 1))
