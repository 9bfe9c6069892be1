"""Sends one question until it has a reply, and gives up if no reply can be expected. The module
handles retries, backoff, time limits, and request slots."""

from __future__ import annotations

import asyncio
import math
import os
import random
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import TypeVar

from snellen.core.deadline import Deadline
from snellen.core.model import Reply
from snellen.errors import MediaError, ModelError, Overloaded, Rejected, message_of
from snellen.run.budget import Budget
from snellen.run.limiter import Limiter, RequestSlot
from snellen.run.observer import Observer
from snellen.run.recorder import Recorder, Turn
from snellen.run.request_room import RequestRoom
from snellen.run.settings import Settings
from snellen.run.stop import Stop

TURNED_AWAY = 10
"""The maximum number of HTTP 429 responses to a question. A question with more of these responses
counts as failed."""
HOPELESS = 3
"""The number of HTTP 401 or 404 responses in a row after which a run ends, since all other
questions would fail too."""
LONGEST_RETRY_AFTER = 600.0

T = TypeVar("T")


async def within(seconds: float | None, call: Awaitable[T], result: str = "reply") -> T:
    """Call a model with a time limit (None: the model enforces its own limit) and return the
    result.

    Raises:
        Overloaded: the time limit passed without a result, or the model canceled the call.
    """
    deadline = None
    try:
        if seconds is None:
            return await call
        deadline = Deadline(seconds)
        async with deadline:
            return await call
    except TimeoutError as error:
        raise Overloaded(
            f"no {result} within {seconds:g} s"
            if deadline is not None and deadline.is_over
            else f"the model raised TimeoutError: {message_of(error)}"
        ) from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise Overloaded("the model gave up on the request (it canceled its own task)") from None


class Attempts:
    """Sends the questions of one run and stores the outcome of each attempt."""

    def __init__(
        self,
        settings: Settings,
        recorder: Recorder,
        observer: Observer,
        *,
        limiter: Limiter,
        budget: Budget,
        stop: Stop,
    ) -> None:
        self.settings = settings
        self.recorder = recorder
        self.observer = observer
        self.limiter = limiter
        self.stop = stop
        self._budget = budget
        self._room = RequestRoom()
        self._random = random.Random(os.getpid())
        self._replies = 0
        self._failed_in_a_row = 0

    def may_ask(self) -> bool:
        """Whether the run continues. Stops the run if a budget is used up."""
        if reason := self._budget.reached_limit():
            self.stop.set(reason, interrupted=True, patient=True)
        return self.stop.reason is None

    async def reply(
        self,
        turn: Turn,
        send: Callable[[], Awaitable[Reply]],
        acquire: Callable[[], Awaitable[RequestSlot]] | None,
    ) -> Reply | ModelError | MediaError | None:
        """Send a question until it has a reply. Returns the reply, the error of the last attempt,
        or None if the run stops.

        Each attempt acquires a slot with `acquire` and releases it before the wait for the next
        attempt. If `acquire` is None, the caller already has a slot.
        """
        attempt = throttled = replies = 0
        while True:
            attempt += 1
            async with self._room.reserved(turn.request):
                slot = None if acquire is None else await acquire()
                if not self.may_ask():
                    if slot is not None:
                        self.limiter.release()
                    return None
                outcome = await self._attempt(turn, attempt, send, slot)
            if isinstance(outcome, Reply):
                return outcome
            if attempt == 1:
                replies = self._replies
            throttled += isinstance(outcome, Overloaded) and outcome.throttled
            is_last = attempt - throttled >= self.settings.attempts or throttled > TURNED_AWAY
            if is_last or not isinstance(outcome, Overloaded):
                if not turn.replayed:
                    self.count_failure(outcome, replied_since=self._replies > replies)
                return outcome
            self.observer.request_retried(turn, outcome)
            await self._wait(outcome, attempt)

    async def _attempt(
        self,
        turn: Turn,
        attempt: int,
        send: Callable[[], Awaitable[Reply]],
        slot: RequestSlot | None,
    ) -> Reply | ModelError | MediaError:
        """Send a question once and store the outcome."""
        outcome: Reply | ModelError | MediaError
        self.observer.request_sent(turn)
        started = perf_counter()
        try:
            outcome = await send()
        except (ModelError, MediaError) as error:
            # Otherwise, the traceback would keep this frame and the request's media in memory until
            # Python next looks for reference cycles.
            outcome = error.with_traceback(None)
        finally:
            self.observer.request_ended(turn)
            if slot is not None:
                self.limiter.release()
        if slot is not None:
            if isinstance(outcome, Overloaded) and outcome.throttled:
                self.limiter.throttled(slot)
            else:
                self.limiter.replied(slot)
        if turn.replayed:
            return outcome
        if isinstance(outcome, Reply):
            self.keep(turn, outcome, attempt, perf_counter() - started)
        else:
            self.recorder.write_failure(turn, outcome, attempt)
        return outcome

    def keep(self, turn: Turn, reply: Reply, attempt: int = 1, seconds: float = 0.0) -> None:
        """Store the model's reply."""
        self.recorder.write_reply(turn, reply, attempt)
        self._replies += 1
        self._failed_in_a_row = 0
        self.observer.reply_stored(turn, reply, seconds)

    def fail(self, turn: Turn, error: ModelError | MediaError, *, shared: bool = False) -> None:
        """Record that a question failed before it was sent. If `shared` is true, another question
        already failed because of the same error, and the error is not counted again."""
        self.recorder.write_failure(turn, error)
        if shared:
            self.observer.sample_failed(error)
        else:
            self.count_failure(error)

    def count_failure(self, error: ModelError | MediaError, *, replied_since: bool = False) -> None:
        """Count a question that got no reply. Stop the run if no further reply can be expected.

        `replied_since` says whether another question got a reply after this question's first
        attempt failed. If so, an `Overloaded` error does not count toward the failures that stop
        the run: the last retries of a few bad questions at the end of a run are no sign of a dead
        server.
        """
        self.observer.sample_failed(error)
        hopeless = isinstance(error, Rejected) and error.hopeless
        if not hopeless and (replied_since or not isinstance(error, Overloaded)):
            return
        self._failed_in_a_row += 1
        most = HOPELESS if hopeless else max(self.settings.give_up, 2 * int(self.limiter.limit))
        if self._failed_in_a_row >= most:
            self.stop.set(
                f"{self._failed_in_a_row} questions in a row got no reply; the last error: "
                f"{message_of(error)}"
            )

    async def _wait(self, error: Overloaded, attempt: int) -> None:
        settings = self.settings
        wait = min(settings.longest_wait, settings.backoff * 2 ** (attempt - 1))
        wait *= 0.75 + 0.5 * self._random.random()
        if (seconds := _seconds(error.retry_after)) is not None:
            wait = min(seconds, LONGEST_RETRY_AFTER) + 0.1 * self._random.random()
        stopping = asyncio.create_task(self.stop.wait())
        await asyncio.wait({stopping}, timeout=wait)
        stopping.cancel()


def _seconds(value: object) -> float | None:
    """The wait in seconds that a model requests; None if it is not a valid number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None
