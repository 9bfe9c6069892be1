"""The time limit of one attempt. It does not run while the question waits in a model's queue."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from types import TracebackType
from typing import Self

_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


class Deadline:
    """Raises TimeoutError in the task that enters it, after `seconds` (None: never).

    A model with a queue pauses the limit while a question waits, and restarts it when the model
    begins. Otherwise a call that hangs would time out the questions after it, which the model
    never saw.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._running = False

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._running = True
        self._token = _CURRENT.set(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running = False
        _CURRENT.reset(self._token)
        await self._timeout.__aexit__(kind, error, trace)

    def pause(self) -> None:
        """Stop the clock: the question waits for its turn."""
        self._reschedule(None)

    def start(self) -> None:
        """Restart the clock: the model starts work on the question."""
        if self._seconds is not None:
            self._reschedule(asyncio.get_running_loop().time() + self._seconds)

    @property
    def is_over(self) -> bool:
        """Whether this limit raised the TimeoutError, and not the code inside it."""
        return self._timeout.expired()

    def _reschedule(self, when: float | None) -> None:
        if self._running and not self._timeout.expired():
            self._timeout.reschedule(when)


def current_deadline() -> Deadline:
    """The limit of the running task; one that never expires if there is none."""
    return _CURRENT.get() or Deadline(None)
