"""A discrete-event model of a run: one driver, replicas of a model, and the network link (the wire)
between them.

A run keeps `slots` questions in flight. Each question passes through these stages:

1. It takes `before` CPU seconds of the driver. The driver does one thing at a time, in turns like
   those of an event loop: a turn does everything that waits when it begins, and costs `wake` CPU
   seconds in addition. With few questions in flight, each question therefore costs more.
2. It is sent over the wire, which sends one request after another.
3. It goes to the replica with the fewest requests. It takes `handling` CPU seconds of the replica's
   process, which also does one thing at a time. The call itself takes either `work` CPU seconds of
   that process, or `wait` seconds that cost this machine no CPU; up to `at_once` calls of a replica
   wait at the same time. With a `spread`, the time that a call waits is uniformly distributed,
   within this share of `wait` above and below it.
4. It takes `after` CPU seconds of the driver.

Driver and replicas share the `cores`. If more of them are busy than there are cores, each gets an
equal part (processor sharing). Where other programs run, fewer cores are available, and not
necessarily a whole number. Replicas on other machines do not compete with the driver for its core:
`cores` is infinite then.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random

Then = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The inputs of a simulation; times are in seconds. The module docstring explains the
    fields."""

    questions: int
    slots: int
    before: float
    after: float
    replicas: int
    wake: float = 0.0
    handling: float = 0.0
    work: float = 0.0
    wait: float = 0.0
    spread: float = 0.0
    at_once: int = 1
    wire: float = 0.0
    cores: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of a simulation. `span` is the time from the first request to the last reply.
    `rate` is questions per second during the middle half of the replies, away from the start and
    the end of the run. `driver` and `wire` are the shares of time that these are busy."""

    span: float
    rate: float
    driver: float
    wire: float


@cache
def simulate(setting: Setting) -> Outcome:
    """Simulate a run, from its first question to its last reply."""
    return _Run(setting).outcome()


class _Worker:
    """Does one job at a time, in the order of arrival. Each job takes some CPU seconds. A turn
    consists of the jobs that wait when it begins."""

    def __init__(self, cores: _Cores, wake: float = 0.0) -> None:
        self._cores = cores
        self._wake = wake
        self._jobs: deque[tuple[float, Then]] = deque()
        self._turn: deque[tuple[float, Then]] = deque()
        self.cpu = 0.0

    def do(self, seconds: float, then: Then) -> None:
        self._jobs.append((seconds, then))
        if not self._turn:
            self._begin()

    def _begin(self) -> None:
        self._turn, self._jobs = self._jobs, deque()
        seconds, then = self._turn[0]
        self._turn[0] = (seconds + self._wake, then)
        self._cores.start(seconds + self._wake, self._done)

    def _done(self) -> None:
        seconds, then = self._turn.popleft()
        self.cpu += seconds
        if self._turn:
            self._cores.start(self._turn[0][0], self._done)
        then()
        if self._jobs and not self._turn:
            self._begin()


class _Cores:
    """Jobs that share the cores, and events at fixed times.

    All running jobs have the same speed. A job therefore ends when the CPU seconds given to every
    running job so far (`_had`) reach a number that is known when the job starts.
    """

    def __init__(self, cores: float) -> None:
        self.now = 0.0
        self._cores = cores
        self._had = 0.0
        self._jobs: list[tuple[float, int, Then]] = []
        self._events: list[tuple[float, int, Then]] = []
        self._number = count()

    def start(self, seconds: float, then: Then) -> None:
        heapq.heappush(self._jobs, (self._had + seconds, next(self._number), then))

    def at(self, when: float, then: Then) -> None:
        heapq.heappush(self._events, (when, next(self._number), then))

    def run(self) -> None:
        while self._jobs or self._events:
            speed = min(1.0, self._cores / max(1, len(self._jobs)))
            ends = self.now + (self._jobs[0][0] - self._had) / speed if self._jobs else math.inf
            if self._events and self._events[0][0] <= ends:
                when, _, then = heapq.heappop(self._events)
                self._had += (when - self.now) * speed
            else:
                self._had, _, then = heapq.heappop(self._jobs)
                when = ends
            self.now = when
            then()


class _Replica:
    def __init__(self, cores: _Cores, setting: Setting, random: Random) -> None:
        self._cores, self._setting, self._random = cores, setting, random
        self._process = _Worker(cores)
        self._calling = 0
        self._queue: deque[Then] = deque()
        self.has = 0

    def ask(self, then: Then) -> None:
        setting = self._setting
        if setting.wait:
            self._process.do(setting.handling, lambda: self._call(then))
        else:
            self._process.do(setting.handling + setting.work, then)

    def _call(self, then: Then) -> None:
        if self._calling == self._setting.at_once:
            self._queue.append(then)
            return
        self._calling += 1
        takes = 1 + self._setting.spread * (2 * self._random.random() - 1)
        self._cores.at(self._cores.now + takes * self._setting.wait, lambda: self._called(then))

    def _called(self, then: Then) -> None:
        self._calling -= 1
        if self._queue:
            self._call(self._queue.popleft())
        then()


class _Run:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._cores = _Cores(setting.cores)
        self._driver = _Worker(self._cores, setting.wake)
        random = Random(0)
        self._replicas = [_Replica(self._cores, setting, random) for _ in range(setting.replicas)]
        # Pairs (number of requests, replica number). A pair is stale if the replica now has a
        # different number of requests.
        self._fewest = [(0, number) for number in range(setting.replicas)]
        self._left = setting.questions
        self._wire_free = 0.0
        self._first: float | None = None
        self._replies: list[float] = []

    def outcome(self) -> Outcome:
        for _ in range(min(self._setting.slots, self._setting.questions)):
            self._next()
        self._cores.run()
        replies, setting = self._replies, self._setting
        assert self._first is not None
        first, last = len(replies) // 4, 3 * len(replies) // 4
        return Outcome(
            span=replies[-1] - self._first,
            rate=(last - first) / (replies[last] - replies[first]),
            driver=self._driver.cpu / self._cores.now,
            wire=len(replies) * setting.wire / self._cores.now,
        )

    def _next(self) -> None:
        if self._left:
            self._left -= 1
            self._driver.do(self._setting.before, self._sent)

    def _sent(self) -> None:
        if self._first is None:
            self._first = self._cores.now
        self._wire_free = max(self._wire_free, self._cores.now) + self._setting.wire
        if self._setting.wire:
            self._cores.at(self._wire_free, self._arrived)
        else:
            self._arrived()

    def _arrived(self) -> None:
        number = self._idlest()
        replica = self._replicas[number]

        def replied() -> None:
            replica.has -= 1
            heapq.heappush(self._fewest, (replica.has, number))
            self._driver.do(self._setting.after, self._had)

        replica.has += 1
        heapq.heappush(self._fewest, (replica.has, number))
        replica.ask(replied)

    def _idlest(self) -> int:
        while True:
            has, number = heapq.heappop(self._fewest)
            if self._replicas[number].has == has:
                return number

    def _had(self) -> None:
        self._replies.append(self._cores.now)
        self._next()
