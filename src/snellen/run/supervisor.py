"""The supervisor of several drivers: starts them, shows their progress as one, and ends them.

A driver that is lost is started again once. Everything that it stored is kept. If the supervisor
is killed, its drivers stop by themselves, and the same command resumes the run.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

import msgspec

from snellen.errors import SnellenError, plain
from snellen.run.driver_processes import DriverProcess, Ending, LocalProcess, StartProcess
from snellen.run.driver_reports import HURRY, STOP, DriverReport
from snellen.run.lifecycle import SHOWN_EVERY, Show
from snellen.run.outcome import Outcome, continued, merge_progress, merged_outcome
from snellen.run.progress import Progress
from snellen.store import RunPart

REPORTS = msgspec.json.Decoder(DriverReport)
"""Created before any thread starts: msgspec examines a type when it first decodes it, and crashed
when several threads did that at the same time."""
LEAVING = 2.0
"""Seconds that drivers have to end after a second Ctrl-C."""
RunName = tuple[str, int]
"""Identifies a run in the reports of all drivers: its name, and how many runs before it in the same
report have this name."""


class Driver:
    """A driver: its process, and what that process has reported."""

    def __init__(self, part: RunPart) -> None:
        self.part = part
        self.is_restarted = False
        self.error: str | None = None
        """The error that ended the driver; None if there was none."""
        self.lost: str | None = None
        """Why the driver ended without a report; None if it has reported or still runs."""
        self.outcomes: dict[RunName, Outcome] | None = None
        """How the driver's runs ended; None until the driver has reported this."""
        self._progress: dict[RunName, Progress] = {}
        self._before: dict[RunName, Progress] = {}
        self._process: DriverProcess | None = None

    def __str__(self) -> str:
        name = f"driver {self.part.number} of {self.part.total}"
        node = None if self._process is None else self._process.node
        return name if node is None else f"{name} on {node}"

    @property
    def is_here(self) -> bool:
        """Whether the process runs on this machine."""
        return self._process is None or self._process.node is None

    def start(self, start: StartProcess, words: Sequence[str], say: Callable[[str], None]) -> None:
        """Start the process. Lines that it writes to standard error are passed to `say`."""
        self._before = self.progress
        self._progress = {}
        self._process = start(
            words, self._read, lambda line: say(line.decode(errors="replace").rstrip())
        )

    @property
    def progress(self) -> dict[RunName, Progress]:
        """The progress of each run, including that of an earlier process of this driver."""
        before = self._before
        latest = [*self._progress.items()]
        return {
            **before,
            **{
                name: continued(progress, before[name]) if name in before else progress
                for name, progress in latest
            },
        }

    def ending(self) -> Ending | None:
        """How the process ended; None if it still runs."""
        assert self._process is not None
        return self._process.ending()

    def send(self, message: bytes) -> None:
        """Write a message to the process, unless it has ended."""
        if self._process is not None:
            self._process.send(message)

    def kill(self) -> None:
        """End the process if it has not ended."""
        if self._process is not None:
            self._process.kill()

    def _read(self, line: bytes) -> None:
        # If the process was killed while it wrote a line, the line is incomplete.
        with suppress(msgspec.DecodeError):
            self._note(REPORTS.decode(line))

    def _note(self, report: DriverReport) -> None:
        report.shift_clock(time.monotonic() - report.clock)
        if report.runs:
            self._progress |= dict(zip(_names(report.runs), report.runs, strict=True))
        if report.error is not None:
            self.error = report.error
        if report.outcomes is not None:
            names = _names([outcome.progress for outcome in report.outcomes])
            self.outcomes = dict(zip(names, report.outcomes, strict=True))
            self._progress |= {name: run.progress for name, run in self.outcomes.items()}


class Supervisor:
    """Runs several drivers until all have ended.

    `words_of` gives the command line of the driver of a part, and `start` starts its process. With
    `restarts`, a driver that is lost is started again once.
    """

    def __init__(
        self,
        drivers: int,
        words_of: Callable[[RunPart], Sequence[str]],
        show: Show | None,
        at_once: Callable[[], NoReturn] | None,
        *,
        restarts: bool,
        start: StartProcess = LocalProcess,
    ) -> None:
        self._drivers = [Driver(RunPart(number, drivers)) for number in range(1, drivers + 1)]
        self._words_of = words_of
        self._show = show
        self._at_once = at_once
        self._restarts = restarts
        self._start = start
        self._shown: dict[RunName, Progress] = {}
        self._lines: set[str] = set()
        self._interrupts = 0
        self._is_stopping = False

    def run(self) -> list[Outcome]:
        """Run the drivers, and return how each run ended.

        Raises:
            SnellenError: a driver ended with an error. Stored replies are kept.
        """
        before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            for driver in self._drivers:
                driver.start(self._start, self._words_of(driver.part), self._say)
            self._watch()
        finally:
            for driver in self._drivers:
                driver.kill()
            if before is not None:
                signal.signal(signal.SIGINT, before)
        return self._ending()

    def _watch(self) -> None:
        """Wait until all drivers have ended."""
        running = self._drivers
        deadline: float | None = None
        while running:
            time.sleep(SHOWN_EVERY)
            running = [driver for driver in running if not self._has_ended(driver)]
            self._show_all()
            if self._interrupts > 1 and deadline is None:
                deadline = time.monotonic() + LEAVING
            if deadline is not None and time.monotonic() > deadline:
                for driver in running:
                    driver.kill()

    def _has_ended(self, driver: Driver) -> bool:
        """Whether a driver has ended for good. If one has failed, the others are stopped."""
        ending = driver.ending()
        if ending is None:
            return False
        if driver.error is not None or driver.outcomes is not None or self._is_stopping:
            if driver.error is not None:
                self._stop(STOP)
            return True
        if ending.lost is None:
            driver.error = f"{driver} ended with exit code {ending.code}, without a report."
            self._stop(STOP)
            return True
        reason = f"{driver} {ending.lost}"
        if driver.is_restarted or not self._restarts:
            driver.lost = reason
            self._say(f"{reason}. The other drivers continue")
            return True
        self._say(f"{reason}, and is started again")
        driver.is_restarted = True
        driver.start(self._start, self._words_of(driver.part), self._say)
        return False

    def _interrupt(self, *_: object) -> None:
        self._interrupts += 1
        self._stop(STOP if self._interrupts == 1 else HURRY)
        if self._interrupts > 2:
            for driver in self._drivers:
                driver.kill()

    def _stop(self, message: bytes) -> None:
        if message != STOP or not self._is_stopping:
            self._is_stopping = True
            for driver in self._drivers:
                driver.send(message)

    def _say(self, line: str) -> None:
        """Print a line, unless another driver has written the same line."""
        if line not in self._lines:
            self._lines.add(line)
            print(plain(line), file=sys.stderr, flush=True)

    def _show_all(self) -> None:
        by_driver = [driver.progress for driver in self._drivers]
        for name in dict.fromkeys(name for progress in by_driver for name in progress):
            parts = [progress[name] for progress in by_driver if name in progress]
            shown = self._shown.setdefault(name, Progress(name=name[0]))
            merge_progress(shown, parts, are_all=len(parts) == len(by_driver))
        if self._show is not None and self._shown:
            self._show([*self._shown.values()])

    def _ending(self) -> list[Outcome]:
        if self._interrupts > 1:
            if self._at_once is not None:
                self._at_once()
            raise KeyboardInterrupt
        for driver in self._drivers:
            if driver.error is not None:
                raise SnellenError(driver.error if driver.is_here else f"{driver}: {driver.error}")
        names = dict.fromkeys(name for driver in self._drivers for name in driver.outcomes or ())
        if not names:
            if self._interrupts:
                raise KeyboardInterrupt
            lost = "; ".join(driver.lost for driver in self._drivers if driver.lost)
            raise SnellenError(f"{lost}. Replies are kept; the same command resumes the run.")
        return [self._outcome(name) for name in names]

    def _outcome(self, name: RunName) -> Outcome:
        """How a run ended in all drivers together."""
        reported = [
            (driver, driver.outcomes[name])
            for driver in self._drivers
            if driver.outcomes is not None and name in driver.outcomes
        ]
        first = reported[0]
        for other in reported[1:]:
            if other[1].run != first[1].run:
                raise SnellenError(
                    f"{other[0]} wrote the run {other[1].run}, but {first[0]} wrote "
                    f"{first[1].run}: the data, or the files of the benchmark, differ between "
                    "these machines. Give all of them the same files, and repeat the command."
                )
        merged = merged_outcome(outcome for _, outcome in reported)
        by_driver = [driver.progress for driver in self._drivers]
        parts = [progress[name] for progress in by_driver if name in progress]
        merge_progress(merged.progress, parts, are_all=True)
        lost = [driver for driver in self._drivers if name not in (driver.outcomes or ())]
        if lost:
            reasons = [driver.lost or f"{driver} was stopped" for driver in lost]
            merged.stopped = "; ".join(filter(None, [merged.stopped, *reasons]))
            merged.interrupted = merged.interrupted or bool(self._interrupts)
        return merged


def _names(runs: Sequence[Progress]) -> list[RunName]:
    names: list[RunName] = []
    for run in runs:
        names.append((run.name, sum(name == run.name for name, _ in names)))
    return names
