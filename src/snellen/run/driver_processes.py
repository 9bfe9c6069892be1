"""The process of a driver as its supervisor sees it, and such a process on this machine."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Protocol

COMMAND = (sys.executable, "-m", "snellen.cli.driver_process")
"""The command that starts a driver; the words of the command line follow."""
TakeLine = Callable[[bytes], object]
"""Takes a line of a process's output."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the process of a driver ended."""

    code: int | None = None
    """The exit code; None if the process was lost."""
    lost: str | None = None
    """What happened to the process if it did not exit by itself, such as `was killed by signal
    9`; None if it exited."""


class DriverProcess(Protocol):
    """The process of a driver, on this machine or on another."""

    @property
    def node(self) -> str | None:
        """The machine on which the process runs; None for this machine, or if it is not known."""

    def ending(self) -> Ending | None:
        """How the process ended; None if it still runs. When the process has ended, all of its
        output has been passed on."""

    def send(self, message: bytes) -> None:
        """Write a message to the process, unless it has ended."""

    def kill(self) -> None:
        """End the process if it has not ended."""


StartProcess = Callable[[Sequence[str], TakeLine, TakeLine], DriverProcess]
"""Starts the process of a driver with the words of a command line. The lines that it writes to
standard output are passed to the first function, and those of standard error to the second."""


class LocalProcess:
    """The process of a driver on this machine."""

    node = None
    """Messages do not name this machine."""

    def __init__(self, words: Sequence[str], report: TakeLine, say: TakeLine) -> None:
        # In a session of its own, so that Ctrl-C reaches only the supervisor.
        self._process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out, err = self._process.stdout, self._process.stderr
        assert out is not None and err is not None
        self._threads = [
            threading.Thread(target=_pass_on, args=(lines, take), daemon=True)
            for lines, take in ((out, report), (err, say))
        ]
        for thread in self._threads:
            thread.start()

    def ending(self) -> Ending | None:
        return None if self._process.poll() is None else self.wait()

    def wait(self) -> Ending:
        """Wait until the process has ended."""
        code = self._process.wait()
        for thread in self._threads:
            thread.join()
        self._close()
        return Ending(code=code) if code >= 0 else Ending(lost=f"was killed by signal {-code}")

    def send(self, message: bytes) -> None:
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            with suppress(OSError):
                pipe.write(message)
                pipe.flush()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
            self._close()

    def _close(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()


def _pass_on(lines: IO[bytes], take: TakeLine) -> None:
    with lines:
        for line in lines:
            take(line)
