"""Threads for a model's synchronous calls. A call that hangs is abandoned, and its thread as well.
ThreadPoolExecutor is not suitable, because it cannot abandon a thread, and waits for all threads at
exit.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from snellen.core.deadline import Deadline, current_deadline
from snellen.errors import Rejected

T = TypeVar("T")
MAX_HUNG = 16
"""The maximum number of abandoned calls that may still be running. If there are that many, no more
calls are made."""


class Abandoned(BaseException):
    """Raised in a thread if no caller is waiting for the thread's call any longer."""


class CallThreads:
    """Runs synchronous calls in order of arrival, at most `count` at once.

    The time limit of a call (`Deadline`) starts when a thread takes the call. A call that is
    cancelled while it runs is abandoned, and the next call gets another thread. An exception is
    raised in the old thread as soon as it executes Python code again, so that two threads do not
    use the model concurrently. All threads are daemon threads, so a thread that never returns does
    not keep the process alive.
    """

    def __init__(self, count: int, title: str) -> None:
        self._count = count
        self._title = title
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()
        self._calls = threading.Semaphore(0)
        self._threads: set[_Thread] = set()
        self._hung: set[_Thread] = set()
        self._closed = False

    async def run(
        self,
        function: Callable[..., T],
        *args: Any,
        deadlines: Sequence[Deadline] | None = None,
    ) -> T:
        """Call the function in a thread, and return its result. `deadlines` are the time limits of
        the samples that the call answers (None: the current task's time limit).

        Raises:
            Rejected: too many earlier calls hang.
            Exception: any exception that the function raises.
        """
        loop = asyncio.get_running_loop()
        limits = (current_deadline(),) if deadlines is None else deadlines
        call = _Call(loop, limits, self._title, function, args)
        self._submit(call)
        try:
            result: T = await asyncio.wrap_future(call.future, loop=loop)
            return result
        except asyncio.CancelledError:
            self._give_up(call)
            raise

    def close(self) -> None:
        """End each thread as soon as it is idle. Waiting calls are dropped."""
        with self._lock:
            self._closed = True
            for call in self._waiting:
                call.future.cancel()
            self._waiting.clear()
            for _ in self._threads:
                self._calls.release()

    def _submit(self, call: _Call) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError(f"{self._title} is closed")
            self._hung = {thread for thread in self._hung if thread.is_alive()}
            if len(self._hung) >= MAX_HUNG:
                raise Rejected(
                    f"the question was not asked, because {len(self._hung)} earlier calls of the "
                    "model hang. Run the same command again to ask the remaining questions.",
                    hopeless=True,
                )
            for deadline in call.deadlines:
                deadline.pause()
            self._waiting.append(call)
            self._calls.release()
            self._add_thread()

    def _add_thread(self) -> None:
        if len(self._threads) < self._count and self._waiting:
            thread = _Thread(self, f"snellen {self._title}")
            self._threads.add(thread)
            thread.start()

    def _give_up(self, call: _Call) -> None:
        with self._lock:
            if call.future.cancel():
                return  # the call has not started
            thread = next((thread for thread in self._threads if thread.call is call), None)
            if thread is None:
                return  # the call has ended
            self._threads.discard(thread)
            self._hung.add(thread)
            # The thread cannot end without this lock, so its identifier is still valid here.
            thread.interrupt()
            self._add_thread()

    def next_call(self, thread: _Thread) -> _Call | None:
        """Wait for the thread's next call, and return it. Return None if the thread must end."""
        while True:
            self._calls.acquire()
            with self._lock:
                if self._closed or thread not in self._threads:
                    self._calls.release()  # another thread may be waiting for this call
                    return None
                if self._waiting:
                    call = self._waiting.popleft()
                    if call.future.set_running_or_notify_cancel():
                        thread.call = call
                        return call

    def is_abandoned(self, thread: _Thread) -> bool:
        with self._lock:
            thread.call = None
            return thread not in self._threads


class _Call:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        deadlines: Sequence[Deadline],
        title: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
    ) -> None:
        self.future: Future[Any] = Future()
        self.deadlines = deadlines
        self._title = title
        self._loop = loop
        self._function = function
        self._args = args

    def make(self) -> None:
        with suppress(RuntimeError):  # raised if the loop is closed, and then no caller waits
            for deadline in self.deadlines:
                self._loop.call_soon_threadsafe(deadline.start)
        try:
            result = self._function(*self._args)
        except StopIteration as error:  # futures reject it, so the caller would wait forever
            raised = RuntimeError(f"{self._title} raised StopIteration")
            raised.__cause__ = error
            self.future.set_exception(raised)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class _Thread(threading.Thread):
    def __init__(self, threads: CallThreads, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.call: _Call | None = None
        self._threads_of = threads

    def run(self) -> None:
        with suppress(Abandoned):
            while (call := self._threads_of.next_call(self)) is not None:
                call.make()
                del call
                if self._threads_of.is_abandoned(self):
                    return

    def interrupt(self) -> None:
        """Raise `Abandoned` in the thread as soon as the thread executes Python code again."""
        if self.ident is not None:
            import ctypes  # imported only here, since it takes 2 MiB

            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.ident), ctypes.py_object(Abandoned)
            )
