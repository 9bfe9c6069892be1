"""A discrete-event model of a run: one driver, replicas of a model, and the wire between them.

A run keeps `slots` questions under way. Each takes `before` CPU seconds of the driver, which does
one thing at a time, in turns: all that waits when a turn begins, which costs `wake` CPU seconds
beside what is done in it, as an event loop's do (so few under way cost more each); then the wire,
one request after the other; then a replica: `handling` CPU seconds of its process, which also does
one thing at a time, and the call itself, which is `work` CPU seconds of that process or `wait`
seconds that cost this machine nothing, `at_once` calls together; then `after` CPU seconds of the
driver. A request goes to the replica that has the fewest.
With a `spread` calls that wait differ, by that part of their length up or down, all alike often.

Driver and replicas share `cores`: with more that are busy than cores each gets an equal part
(processor sharing). Where other programs run there are fewer, and not a whole number. Replicas on
machines of their own leave the driver's core to it: `cores` is infinite then.
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
    """What is asked of what; times in seconds. The fields are told above."""

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
    """`span` is from the first request sent to the last reply had. `rate` is questions a second
    while the middle half of the replies came, when a run neither begins nor ends; `driver` and
    `wire` are the parts of the time in which they are busy."""

    span: float
    rate: float
    driver: float
    wire: float


@cache
def simulate(setting: Setting) -> Outcome:
    """The run, from its first question to its last reply."""
    return _Run(setting).outcome()


class _Worker:
    """What does one thing at a time: jobs of CPU seconds, in the order in which they came, in turns
    of those that wait when one begins."""

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
    """Jobs that share cores, and events at a time.

    All jobs that run have the same speed, so that each ends when the seconds that one of them has
    had reach a number that is known when it starts.
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
        # (requests that it has, its number): out of date where the first is.
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
