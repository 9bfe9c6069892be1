"""Runs jobs until they end: manages the event loop, the progress display, and Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import resource
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

from snellen.core.model import Model
from snellen.run import Job, Progress, Scheduler, Stop

T = TypeVar("T")
Show = Callable[[Sequence[Progress]], None]
SHOWN_EVERY = 0.25
"""Seconds between two updates of the progress display."""
INTERRUPTED = "interrupted"
MOST_UNCHECKED = 10_000
"""The number of new objects after which Python looks for reference cycles among them during a run.
Python's default is 700."""


async def close_model(model: Model) -> None:
    close = getattr(model, "close", None)
    if close is not None:
        await close()


class shown:
    """Calls `show` a few times per second and once at the end."""

    def __init__(self, progress: Sequence[Progress], show: Show | None) -> None:
        self._progress = progress
        self._show = show

    def __enter__(self) -> None:
        self._task = asyncio.create_task(self._loop()) if self._show else None

    async def _loop(self) -> None:
        while self._show:
            self._show(self._progress)
            await asyncio.sleep(SHOWN_EVERY)

    def __exit__(self, *_: object) -> None:
        if self._task and self._show:
            self._task.cancel()
            self._show(self._progress)


class interrupts:
    """Makes Ctrl-C stop the runs cleanly, and a second Ctrl-C stop them immediately."""

    def __init__(
        self, stops: Sequence[Stop], at_once: Callable[[], NoReturn] | None = None
    ) -> None:
        self._stops = stops
        self._at_once = at_once

    def __enter__(self) -> None:
        self._on = threading.current_thread() is threading.main_thread()
        if self._on:
            self._loop = asyncio.get_running_loop()
            self._loop.add_signal_handler(signal.SIGINT, self._stop)

    def _stop(self) -> None:
        self._loop.remove_signal_handler(signal.SIGINT)
        if at_once := self._at_once:
            signal.signal(signal.SIGINT, lambda *_: at_once())
        _say_stopping()
        for stop in self._stops:
            stop.set(INTERRUPTED, interrupted=True)

    def __exit__(self, *_: object) -> None:
        if self._on:
            self._loop.remove_signal_handler(signal.SIGINT)


async def run_jobs(
    jobs: Sequence[Job], show: Show | None, at_once: Callable[[], NoReturn] | None
) -> list[BaseException | None]:
    """Run all jobs concurrently. For each job, returns the error that ended the job, or None. If
    this call is canceled, the jobs stop as cleanly as with Ctrl-C, and their replies are kept."""
    stops = [job.stop for job in jobs]
    schedulers = [Scheduler(job) for job in jobs]
    with interrupts(stops, at_once), shown([job.progress for job in jobs], show):
        running = asyncio.gather(
            *(scheduler.ask_all() for scheduler in schedulers), return_exceptions=True
        )
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            for stop in stops:
                stop.set(INTERRUPTED, interrupted=True)
            await running
            raise


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine until it is complete. If an event loop is already running (in a notebook),
    use a separate thread. Ctrl-C then cancels the coroutine and waits until it ends."""
    _allow_open_files()
    with _fewer_collections():
        return _run_async(work)


def _run_async(work: Coroutine[Any, Any, T]) -> T:
    if not _loop_is_running():
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    async def ended() -> T:
        return await task

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(ended())

    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            return thread.submit(run).result()
        except KeyboardInterrupt:
            _say_stopping()
            with suppress(RuntimeError):  # the loop is closed, so the task has ended
                loop.call_soon_threadsafe(task.cancel)
            raise


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Make Python look for unused reference cycles less often. A run makes few cycles, but every
    search goes through many of the objects that imports have created, which takes about 7 % of a
    run's CPU time."""
    young, *older = gc.get_threshold()
    if young:  # 0 if the caller has turned the searches off
        gc.set_threshold(max(young, MOST_UNCHECKED), *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)


def _allow_open_files() -> None:
    """Raise the limit on open files as far as the system allows. Each request in flight needs an
    open file, and the default limit of shells may be only 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # the system has a lower limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _say_stopping() -> None:
    print(
        "stopping: waiting for the replies in flight (press Ctrl-C again to stop immediately)",
        file=sys.stderr,
    )
