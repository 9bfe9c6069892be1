"""What a driver and its supervisor write to each other.

A driver writes a `DriverReport` as one line of JSON to its standard output: its progress several
times per second, and at the end how its runs ended. The supervisor writes `STOP` or `HURRY` to the
driver's standard input. If the supervisor ends, the driver reads the end of its input, and stops.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from snellen.run.outcome import Outcome
from snellen.run.plan import Finished
from snellen.run.progress import Progress

STOP = b"stop\n"
"""Stop as after Ctrl-C: send no further questions, and wait for replies in flight."""
HURRY = b"hurry\n"
"""Stop immediately, as after a second Ctrl-C."""


class DriverReport(msgspec.Struct, omit_defaults=True):
    """A message of a driver."""

    runs: list[Progress] = []
    """The progress of the runs of the current setting."""
    outcomes: list[Outcome] | None = None
    """How all runs ended; None until they have ended."""
    error: str | None = None
    """The error that ended the driver; None if there was none."""
    clock: float = 0.0
    """When the message was written, in seconds on the monotonic clock of the driver's machine."""

    def shift_clock(self, seconds: float) -> None:
        """Convert the times in this message to the clock of another machine, which is ahead by so
        many seconds."""
        outcomes = self.outcomes or ()
        for progress in (*self.runs, *(outcome.progress for outcome in outcomes)):
            progress.started += seconds
            if progress.finished is not None:
                progress.finished += seconds


class Reporter:
    """Writes the reports of this process, which is a driver, to its supervisor. If the supervisor
    no longer exists, reports are dropped."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def show(self, runs: Sequence[Progress]) -> None:
        """Report the progress of runs."""
        self._write(DriverReport(runs=[*runs]))

    def ended(self, finished: Sequence[Finished], out: Path) -> None:
        """Report how all runs ended. `out` is the folder that contains the run folders."""
        outcomes = [
            Outcome(
                run=run.run.relative_to(out).as_posix(),
                progress=run.progress,
                stopped=run.stopped,
                interrupted=run.interrupted,
            )
            for run in finished
        ]
        self._write(DriverReport(outcomes=outcomes))

    def failed(self, error: str) -> None:
        """Report the error that ends this process."""
        self._write(DriverReport(error=error))

    def _write(self, report: DriverReport) -> None:
        report.clock = time.monotonic()
        with suppress(OSError):
            self._file.write(msgspec.json.encode(report) + b"\n")
            self._file.flush()
