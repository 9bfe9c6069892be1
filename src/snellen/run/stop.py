"""How a run ends before its last question."""

from __future__ import annotations

import asyncio


class Stop:
    """Ends a run: no new questions, and after a grace period none in flight either.

    A `patient` stop waits for requests in flight, which are already paid for when a budget runs
    out. A later stop that is not patient (a person interrupts) ends that wait.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the run stops, in words. None while it continues."""
        self.is_goal = False
        """Whether it stopped because it has what it was for, so that nothing is left to do."""
        self.interrupted = False
        """Whether a person or a budget stopped it, so that it can be resumed."""
        self.crash: BaseException | None = None
        """The error that ended it."""
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
        """Mark the run as ended: later stops of other runs did not stop it."""
        self._is_over = True

    def set_crash(self, error: BaseException) -> None:
        """Stop because of an error that is not a model's. The run raises the first such error."""
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
