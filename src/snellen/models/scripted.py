"""A model for tests, whose replies, rankings, and streams are scripted.

model = Scripted("A")
model = Scripted([Reply(text="A"), Overloaded("busy"), "B"])
model = Scripted(lambda request: request.choices[0])
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, repeat
from typing import TypeVar

from snellen.core.model import Emission, Query, Ranked, Reply, Request, SessionSpec
from snellen.errors import ModelError
from snellen.media.content import Frame

T = TypeVar("T")
Outcome = str | Reply | ModelError
Say = Callable[[Request], Outcome]


class Scripted:
    """A model with scripted replies that generates, ranks, and watches streams.

    `say` is a text, a list of outcomes, or a function that returns the outcome for a request. The
    outcomes in a list are used in the order of the requests, and the last outcome is repeated. Each
    answer takes `delay` seconds. `rank` returns the log-probabilities of a request's choices.
    `stream` maps media times in seconds to messages, and `answers` maps the ids of queries to
    answers. The attribute `requests` lists the requests in order of arrival, and `most` is the
    highest number of concurrent requests so far.
    """

    def __init__(
        self,
        say: Say | str | Sequence[Outcome] = "",
        *,
        name: str = "scripted",
        delay: float = 0.0,
        rank: Callable[[Request], Sequence[Ranked]] | None = None,
        stream: Mapping[float, str] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self.most = 0
        self._say = say if callable(say) else _in_order([say] if isinstance(say, str) else say)
        self._delay = delay
        self._rank = rank
        self._stream = dict(stream or {})
        self._answers = dict(answers or {})
        self._now = 0

    async def generate(self, request: Request) -> Reply:
        """Return the next reply, or raise the next outcome if it is an error."""
        outcome = await self._ask(request, self._say)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome if isinstance(outcome, Reply) else Reply(text=outcome, stop="stop")

    async def rank(self, request: Request) -> Sequence[Ranked]:
        """Return the scripted log-probabilities. Without a script, the first choice is the most
        likely choice."""
        ranked = self._rank or _first_likeliest
        return await self._ask(request, ranked)

    async def open(self, spec: SessionSpec) -> ScriptedSession:
        return ScriptedSession(self._stream, self._answers)

    async def _ask(self, request: Request, answer: Callable[[Request], T]) -> T:
        self.requests.append(request)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            result = answer(request)
            await asyncio.sleep(self._delay)
            return result
        finally:
            self._now -= 1


class ScriptedSession:
    """A session that says each message at the first frame that is not earlier than the message's
    time. The state of the session is the time of the latest frame."""

    def __init__(
        self, stream: Mapping[float, str], answers: Mapping[str, str], seen: float = -1.0
    ) -> None:
        self._stream = stream
        self._answers = answers
        self._seen = seen

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        before, self._seen = self._seen, max([self._seen, *(frame.time for frame in frames)])
        due = [time for time in sorted(self._stream) if before < time <= self._seen]
        return [Emission(text=self._stream[time]) for time in due]

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        text = self._answers.get(query.id)
        if text is None and must_answer:
            text = f"seen up to {self._seen:g} s"
        return [] if text is None else [Emission(text=text, query=query.id)]

    async def fork(self) -> ScriptedSession:
        return ScriptedSession(self._stream, self._answers, self._seen)

    async def close(self) -> None:
        pass


def _in_order(outcomes: Sequence[Outcome]) -> Say:
    coming = chain(outcomes, repeat(outcomes[-1]))
    return lambda _: next(coming)


def _first_likeliest(request: Request) -> Sequence[Ranked]:
    return [Ranked(-1.0 - index, 1) for index, _ in enumerate(request.choices)]
