"""Runs a driver for a supervisor on another machine. This module does not depend on Ray."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal

from snellen.errors import StoreError
from snellen.models.executors.replica import Hello
from snellen.run.driver_processes import Ending, LocalProcess
from snellen.store import check_shared

Output = tuple[Literal["report", "say"], bytes]
"""A line that a driver has written, and whether it is a report or a message for the user."""


class DriverHost:
    """Runs one driver as a process on the machine of this object.

    If this object's process is killed, the driver reads the end of its input, and stops as if its
    supervisor had ended.
    """

    def __init__(self) -> None:
        self._outputs: SimpleQueue[Output | Ending] = SimpleQueue()
        self._process: LocalProcess | None = None

    def hello(self) -> Hello:
        return Hello.here()

    def prepare(self, folder: str, shared: Path | None) -> str | None:
        """Change to the folder in which the command was started. Check that this machine sees the
        folder of runs. Returns the error that keeps the driver from starting here, or None.

        `shared` is the lock that the supervisor holds in the folder of runs; None if the runs are
        on an object store.
        """
        try:
            os.chdir(folder)
        except OSError as error:
            return (
                f"the folder {folder}, in which the command was started, cannot be used there "
                f"({error.strerror}). Start the command in a folder that all nodes have."
            )
        try:
            if shared is not None:
                check_shared(shared)
        except StoreError as error:
            return str(error)
        return None

    def start(self, words: Sequence[str]) -> None:
        """Start the driver with the words of a command line."""
        put = self._outputs.put
        process = LocalProcess(
            words, lambda line: put(("report", line)), lambda line: put(("say", line))
        )
        self._process = process
        threading.Thread(target=lambda: put(process.wait()), daemon=True).start()

    def read(self) -> list[Output | Ending]:
        """Wait until the driver has written something or has ended. Returns all new lines in the
        order in which they were written. The last item is the ending if the driver has ended."""
        outputs = [self._outputs.get()]
        try:
            while True:
                outputs.append(self._outputs.get_nowait())
        except Empty:
            return outputs

    def send(self, message: bytes) -> None:
        """Write a message to the driver, unless it has ended."""
        if self._process is not None:
            self._process.send(message)

    def kill(self) -> None:
        """End the driver if it has not ended."""
        if self._process is not None:
            self._process.kill()
