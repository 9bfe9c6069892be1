"""Stops a run before all of its questions have been asked."""

from __future__ import annotations

import asyncio


class Stop:
    """Stops a run: no new questions are started, and requests in flight are canceled after a grace
    period.

    A `patient` stop waits for all requests in flight, since they must be paid for even when a
    budget is used up. A later stop that is not patient, such as Ctrl-C, ends this wait.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the run stops, as text for the user; None while it continues."""
        self.is_goal = False
        """Whether the run stopped because it reached its goal, so that nothing is left to do."""
        self.interrupted = False
        """Whether the user or a budget stopped the run, so that it can be resumed."""
        self.crash: BaseException | None = None
        """The error that ended the run; None if there was none."""
        self._stopping = asyncio.Event()
        self._hurrying = asyncio.Event()
        self._is_over = False

    def set(
        self,
        reason: str,
        *,
        interrupted: bool = False,
        patient: bool = False,
        is_goal: bool = False,
    ) -> None:
        if self.reason is None and not self._is_over:
            self.reason = reason
            self.is_goal = is_goal
            self.interrupted = interrupted
            self._stopping.set()
        if not patient:
            self._hurrying.set()

    def close(self) -> None:
        """Mark the run as ended, so that a later stop is not recorded as the reason why it
        ended."""
        self._is_over = True

    def set_crash(self, error: BaseException) -> None:
        """Stop because of an error that does not come from the model. The run raises the first such
        error."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self.crash is None:
            self.crash = error
            self.set(str(error))

    def watch(self, task: asyncio.Task[None]) -> None:
        """Stop the run if a finished task has raised an error."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.set_crash(error)

    @property
    def hurried(self) -> bool:
        return self._hurrying.is_set()

    async def wait(self) -> None:
        await self._stopping.wait()

    async def wait_hurried(self) -> None:
        await self._hurrying.wait()
