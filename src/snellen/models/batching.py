"""Models that answer several requests at once, asked by callers that come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from snellen.content import Image
from snellen.model import Reply, Request

PATCH = 28
"""Pixels along a side of what a vision-language model takes for one token, about."""
CHARACTERS = 4
"""Characters in a token of text, about."""


class Batches(Protocol):
    """Answers several requests in one call, in their order. One thread calls it."""

    name: str

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]: ...


@dataclass(frozen=True)
class _Waiting:
    request: Request
    size: int
    reply: asyncio.Future[Reply]


class Batching:
    """A model that gathers requests and hands them to one that answers batches.

    What comes within `patience` seconds, or until there is a batch, is ordered by size, longest
    first, so that a batch holds requests of like size, and answered in batches of `most`; then what
    came meanwhile. Where a batch fails its requests are asked one by one, so that none fails for
    another's sake.
    """

    def __init__(self, model: Batches, *, most: int = 8, patience: float = 0.003) -> None:
        self.name = model.name
        self._model = model
        self._most = most
        self._patience = patience
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"snellen {model.name}")
        self._queue: list[_Waiting] = []
        self._full = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._closed = False
        self._callers = 0

    async def generate(self, request: Request) -> Reply:
        """The reply to one request; a caller that is cancelled while it waits is not asked for.

        Raises:
            whatever the model raises about this request.
        """
        if self._closed:
            raise RuntimeError(f"{self.name} is closed")
        waiting = _Waiting(request, _size(request), asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._callers += 1
        # The worker ends when the queue is empty: nothing of it outlives an event loop.
        if self._worker is None or self._worker.done():
            self._full = asyncio.Event()
            self._worker = asyncio.create_task(self._work())
        if len(self._queue) >= self._most:
            self._full.set()
        try:
            return await waiting.reply
        finally:
            self._callers -= 1

    async def close(self) -> None:
        """Answer what is waited for, then let the thread go; no further request is taken. A batch
        for which nobody waits any more is not waited for here either."""
        self._closed = True
        if self._worker is not None and not self._worker.done():
            if not self._callers:
                self._worker.cancel()
            await asyncio.wait({self._worker})
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        while self._queue:
            await self._gather()
            window = sorted(self._queue, key=lambda waiting: waiting.size, reverse=True)
            self._queue = []
            self._full.clear()
            for first in range(0, len(window), self._most):
                batch = window[first : first + self._most]
                await self._answer([w for w in batch if not w.reply.done()])

    async def _gather(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._full.wait()

    async def _answer(self, batch: Sequence[_Waiting]) -> None:
        if not batch:
            return
        loop = asyncio.get_running_loop()
        requests = [waiting.request for waiting in batch]
        call = loop.run_in_executor(self._thread, self._replies, requests)
        await asyncio.wait({call})
        error = call.exception()
        if error is None:
            for waiting, reply in zip(batch, call.result(), strict=True):
                if not waiting.reply.done():
                    waiting.reply.set_result(reply)
        elif len(batch) > 1:
            for waiting in batch:
                if not waiting.reply.done():
                    await self._answer([waiting])
        elif not batch[0].reply.done():
            batch[0].reply.set_exception(error)

    def _replies(self, requests: Sequence[Request]) -> Sequence[Reply]:
        try:
            replies = self._model.generate_batch(requests)
        except StopIteration as error:  # which no future takes: its caller would wait for ever
            raise RuntimeError(f"{self.name} raised StopIteration") from error
        if len(replies) != len(requests):
            raise ValueError(f"{self.name}: {len(replies)} replies to a batch of {len(requests)}")
        return replies


def _size(request: Request) -> int:
    """About how many tokens a request has."""
    size = 0
    for message in request.messages:
        for part in message.content:
            if isinstance(part, str):
                size += len(part) // CHARACTERS
            elif isinstance(part, Image) and part.width and part.height:
                size += part.width * part.height // PATCH**2
    return size
