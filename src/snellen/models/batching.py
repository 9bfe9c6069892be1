"""Gathers concurrent requests into batches, for models that answer several requests in one call."""

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
    """A replica of the model, and the only thread that calls that replica."""

    model: Prepares
    thread: CallThreads


class Batching:
    """Gathers requests into batches for one or several replicas of a model.

    A batch consists of the oldest waiting request and the requests that are closest to it in size.
    Every request therefore gets its turn. A batch has at most `most` requests. The rows of a batch,
    padded to the longest row, have at most `budget` tokens in all (None: no limit). Each batch goes
    to the first free replica. While the replicas work, `ahead` more batches are prepared. A batch
    that is not full waits `patience` seconds for more requests.

    A batch that does not fit in memory is split in half, and later batches are limited to half its
    size. After any other error, each request of the batch is repeated alone, so that no request
    fails because of another.
    """

    def __init__(
        self,
        *models: Batches | Prepares,
        most: int = 8,
        budget: int | None = None,
        ahead: int = 0,
        patience: float = 0.003,
    ) -> None:
        replicas = [
            replica if isinstance(replica, Prepares) else _AtOnce(replica) for replica in models
        ]
        self.name = replicas[0].name
        copy_traits(models[0], self)
        if replicas[0].ranks:
            self.rank = self._rank
        self._model = replicas[0]
        self._lanes = [_Lane(replica, CallThreads(1, replica.name)) for replica in replicas]
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
        """Return the reply to a request. If the caller is cancelled while the request is waiting,
        the request is dropped.

        Raises:
            Exception: any exception that the model raises for this request.
        """
        if self._closed:
            raise RuntimeError(f"{self.name} is closed")
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # waiting requests do not outlive their event loop
            self._begin(loop)
        model = self._model
        waiting = _Waiting(
            request,
            model.group(request),
            model.size(request),
            model.rows(request),
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
        """Return the log-probabilities of the choices. This raises the same errors as
        `generate`."""
        return (await self.generate(request)).choices

    async def close(self) -> None:
        """Answer the waiting requests, then release threads and models. Later requests raise an
        error. If no caller is waiting for a batch any longer, the batch is cancelled."""
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
        # Drop the references to the models now. This object is in a reference cycle, and the next
        # model may need their memory before Python's garbage collector runs.
        self._lanes = []
        self._free = asyncio.Queue()
        del self._model

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
        """Return the next batch: the oldest request, and the requests of its group that are closest
        to it in size. If each batch started with the largest request, small requests might wait
        until the end of a run."""
        self._queue = [waiting for waiting in self._queue if not waiting.reply.done()]
        if not self._queue:
            return []
        first, *others = self._queue
        others.sort(key=lambda waiting: abs(waiting.size - first.size))
        batch, rows, largest = [first], first.rows, first.size
        for waiting in others:
            padded = (rows + waiting.rows) * max(largest, waiting.size)
            fits = self._budget is None or padded <= self._budget
            if waiting.group == first.group and len(batch) < self._most and fits:
                batch.append(waiting)
                rows, largest = rows + waiting.rows, max(largest, waiting.size)
        taken = set(map(id, batch))
        self._queue = [waiting for waiting in self._queue if id(waiting) not in taken]
        return batch

    # -- answering them

    async def _answer(self, batch: Sequence[_Waiting]) -> None:
        batch = [waiting for waiting in batch if not waiting.reply.done()]
        if not batch:
            return
        requests = [waiting.request for waiting in batch]
        prepared = _begun(self._preparing, self._model.prepare, requests, batch)
        error = await _ended(prepared, batch)
        if error is None:
            for waiting in batch:
                waiting.deadline.pause()
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
                for waiting, reply in zip(batch, replies, strict=True):
                    if not waiting.reply.done():
                        waiting.reply.set_result(reply)
                return
            error = ValueError(f"{self.name}: {len(replies)} replies to a batch of {len(batch)}")
        await self._failed(batch, error)

    async def _failed(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        for waiting in batch:
            waiting.deadline.pause()
        size = max(waiting.size for waiting in batch)
        if isinstance(error, TooMuch) and len(batch) > 1:
            taken = size * sum(waiting.rows for waiting in batch)
            self._budget = min(self._budget or taken, taken // 2)
            middle = len(batch) // 2
            await self._answer(batch[:middle])
            await self._answer(batch[middle:])
        elif len(batch) > 1:
            for waiting in batch:
                await self._answer([waiting])
        elif not batch[0].reply.done():
            if isinstance(error, TooMuch):
                error = Rejected(
                    f"{self.name}: this request of about {size:,} tokens does not fit into memory, "
                    "even alone. Make the pictures or frames smaller (the profile's [images], "
                    "--frames), or use a larger device."
                )
            batch[0].reply.set_exception(error)


def _begun(
    threads: CallThreads, function: Any, argument: Any, batch: Sequence[_Waiting]
) -> asyncio.Task[Any]:
    deadlines = [waiting.deadline for waiting in batch]
    return asyncio.create_task(threads.run(function, argument, deadlines=deadlines))


async def _ended(call: asyncio.Task[Any], batch: Sequence[_Waiting]) -> BaseException | None:
    """Wait for a call, and return its exception. Abandon the call if no caller is waiting for the
    replies any longer."""
    replies = asyncio.gather(*(waiting.reply for waiting in batch), return_exceptions=True)
    try:
        await asyncio.wait({call, replies}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not call.done():
            call.cancel()
    await asyncio.wait({call})
    return asyncio.CancelledError() if call.cancelled() else call.exception()
