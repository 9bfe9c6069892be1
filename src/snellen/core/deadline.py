"""The time limit of one attempt. The clock stops while the question waits in a model's queue."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from types import TracebackType
from typing import Self

_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


class Deadline:
    """A context manager that raises TimeoutError in its task after `seconds` (None: never).

    A model with a queue pauses the limit while a question waits, and restarts it when the model
    begins to work on the question. Without the pause, one hanging call would make all questions
    behind it in the queue time out, although the model never saw them.
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
        """Stop the clock, because the question is waiting for its turn."""
        self._reschedule(None)

    def start(self) -> None:
        """Restart the clock, because the model is starting to work on the question."""
        if self._seconds is not None:
            self._reschedule(asyncio.get_running_loop().time() + self._seconds)

    @property
    def is_over(self) -> bool:
        """Whether a TimeoutError was raised by this limit rather than by the code in the `with`
        block."""
        return self._timeout.expired()

    def _reschedule(self, when: float | None) -> None:
        if self._running and not self._timeout.expired():
            self._timeout.reschedule(when)


def current_deadline() -> Deadline:
    """The time limit of the running task, or a limit that never expires if the task has none."""
    return _CURRENT.get() or Deadline(None)
