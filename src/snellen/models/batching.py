"""Models that answer several requests at once, asked by callers that come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from snellen.core.deadline import Deadline, current_deadline
from snellen.core.model import Ranked, Reply, Request
from snellen.errors import Rejected
from snellen.models.batch import Batches, Prepares, TooMuch, size_of
from snellen.models.threads import CallThreads
from snellen.models.traits import copy_traits


class _AtOnce:
    """A model that answers a batch in one step."""

    ranks = False

    def __init__(self, model: Batches) -> None:
        self.name = model.name
        self.answer = model.generate_batch

    def group(self, request: Request) -> Hashable:
        return None

    def size(self, request: Request) -> int:
        return size_of(request)

    def rows(self, request: Request) -> int:
        return 1

    def prepare(self, requests: Sequence[Request]) -> Any:
        return requests


@dataclass(frozen=True)
class _Waiting:
    request: Request
    group: Hashable
    size: int
    rows: int
    reply: asyncio.Future[Reply]
    deadline: Deadline


@dataclass(frozen=True)
class _Lane:
    """A replica of the model, and the thread that alone calls it."""

    model: Prepares
    thread: CallThreads


class Batching:
    """A model that gathers requests and hands them to one, or to several replicas of one, that
    answers batches.

    As soon as there is room for a batch it is made of what waits: the request that came first and
    those next in size, `most` of them, whose rows padded to the largest have `budget` tokens (None:
    as many as there are). So none is passed over for ever, what comes meanwhile joins the next
    batch, and each goes to the replica that is free first. While they answer, `ahead` more batches
    are prepared. With nothing to fill a batch, `patience` seconds are waited for more.

    A batch that does not fit into the memory is halved, and none so large is made again. Where one
    fails otherwise its requests are asked one by one, so that none fails for another's sake.
    """

    def __init__(
        self,
        *models: Batches | Prepares,
        most: int = 8,
        budget: int | None = None,
        ahead: int = 0,
        patience: float = 0.003,
    ) -> None:
        made = [one if isinstance(one, Prepares) else _AtOnce(one) for one in models]
        self.name = made[0].name
        copy_traits(models[0], self)
        if made[0].ranks:
            self.rank = self._rank
        self._asked = made[0]
        self._lanes = [_Lane(one, CallThreads(1, one.name)) for one in made]
        self._ahead = ahead
        self._preparing = CallThreads(max(1, ahead), self.name)
        self._most = most
        self._budget = budget
        self._patience = patience
        self._queue: list[_Waiting] = []
        self._free: asyncio.Queue[_Lane] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: asyncio.Task[None] | None = None
        self._batches: set[asyncio.Task[None]] = set()
        self._closed = False
        self._callers = 0

    async def generate(self, request: Request) -> Reply:
        """The reply to one request; a caller that is cancelled while it waits is not asked for.

        Raises:
            whatever the model raises about this request.
        """
        if self._closed:
            raise RuntimeError(f"{self.name} is closed")
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # nothing that waits outlives an event loop
            self._begin(loop)
        asked = self._asked
        waiting = _Waiting(
            request,
            asked.group(request),
            asked.size(request),
            asked.rows(request),
            loop.create_future(),
            current_deadline(),
        )
        waiting.deadline.pause()
        self._queue.append(waiting)
        self._callers += 1
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        if len(self._queue) >= self._most:
            self._full.set()
        try:
            return await waiting.reply
        finally:
            self._callers -= 1

    async def _rank(self, request: Request) -> Sequence[Ranked]:
        """As `generate`: what was found for each choice."""
        return (await self.generate(request)).choices

    async def close(self) -> None:
        """Answer what is waited for, then let threads and models go; no further request is taken. A
        batch for which nobody waits any more is not waited for here either."""
        if self._closed:
            return
        self._closed = True
        left = {*self._batches, *([self._worker] if self._worker is not None else [])}
        left = {task for task in left if not task.done()}
        while left:
            if not self._callers:
                for task in left:
                    task.cancel()
            await asyncio.wait(left)
            left = {*self._batches}
        for lane in self._lanes:
            lane.thread.close()
        self._preparing.close()
        # The next model may need their memory before Python looks for what holds itself, as this.
        self._lanes = []
        self._free = asyncio.Queue()
        del self._asked

    # -- making batches

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._worker = None
        self._queue = []
        self._batches = set()
        self._full = asyncio.Event()
        self._room = asyncio.Semaphore(len(self._lanes) + self._ahead)
        self._free = asyncio.Queue()
        for lane in self._lanes:
            self._free.put_nowait(lane)

    async def _work(self) -> None:
        while self._queue:
            await self._room.acquire()
            await self._gather()
            batch = self._next()
            task = asyncio.create_task(self._answer(batch))
            self._batches.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        self._room.release()

    async def _gather(self) -> None:
        if len(self._queue) < self._most:
            self._full.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience):
                    await self._full.wait()

    def _next(self) -> Sequence[_Waiting]:
        """The request that came first, and those of its group next in size. With the largest at
        the front the small ones would wait until nothing larger comes: till the end of a run."""
        self._queue = [one for one in self._queue if not one.reply.done()]
        if not self._queue:
            return []
        first, *others = self._queue
        others.sort(key=lambda one: abs(one.size - first.size))
        batch, rows, largest = [first], first.rows, first.size
        for one in others:
            padded = (rows + one.rows) * max(largest, one.size)
            fits = self._budget is None or padded <= self._budget
            if one.group == first.group and len(batch) < self._most and fits:
                batch.append(one)
                rows, largest = rows + one.rows, max(largest, one.size)
        taken = set(map(id, batch))
        self._queue = [one for one in self._queue if id(one) not in taken]
        return batch

    # -- answering them

    async def _answer(self, batch: Sequence[_Waiting]) -> None:
        batch = [one for one in batch if not one.reply.done()]
        if not batch:
            return
        requests = [one.request for one in batch]
        prepared = _begun(self._preparing, self._asked.prepare, requests, batch)
        error = await _ended(prepared, batch)
        if error is None:
            for one in batch:
                one.deadline.pause()
            lane = await self._free.get()
            try:
                answered = _begun(lane.thread, lane.model.answer, prepared.result(), batch)
                error = await _ended(answered, batch)
            finally:
                self._free.put_nowait(lane)
            del prepared
        if error is None:
            replies = answered.result()
            if len(replies) == len(batch):
                for one, reply in zip(batch, replies, strict=True):
                    if not one.reply.done():
                        one.reply.set_result(reply)
                return
            error = ValueError(f"{self.name}: {len(replies)} replies to a batch of {len(batch)}")
        await self._failed(batch, error)

    async def _failed(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        for one in batch:
            one.deadline.pause()
        size = max(one.size for one in batch)
        if isinstance(error, TooMuch) and len(batch) > 1:
            taken = size * sum(one.rows for one in batch)
            self._budget = min(self._budget or taken, taken // 2)
            middle = len(batch) // 2
            await self._answer(batch[:middle])
            await self._answer(batch[middle:])
        elif len(batch) > 1:
            for one in batch:
                await self._answer([one])
        elif not batch[0].reply.done():
            if isinstance(error, TooMuch):
                error = Rejected(
                    f"{self.name}: out of memory with this request alone, of about {size:,} "
                    "tokens. Make its pictures or frames smaller (the profile's [images], "
                    "--frames), or give it a larger device."
                )
            batch[0].reply.set_exception(error)


def _begun(
    threads: CallThreads, function: Any, argument: Any, batch: Sequence[_Waiting]
) -> asyncio.Task[Any]:
    deadlines = [waiting.deadline for waiting in batch]
    return asyncio.create_task(threads.run(function, argument, deadlines=deadlines))


async def _ended(call: asyncio.Task[Any], batch: Sequence[_Waiting]) -> BaseException | None:
    """What a call raised, once it has ended. A call that no reply waits for is abandoned."""
    replies = asyncio.gather(*(waiting.reply for waiting in batch), return_exceptions=True)
    try:
        await asyncio.wait({call, replies}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not call.done():
            call.cancel()
    await asyncio.wait({call})
    return asyncio.CancelledError() if call.cancelled() else call.exception()
