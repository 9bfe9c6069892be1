"""Progress on standard error: on a terminal a line a run, drawn in place; else plain lines now and then."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence

from snellen.runner import Progress

EVERY = 10.0
"""Seconds between two plain lines."""


class Shown:
    """Called by the runner at most four times a second."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._lines = 0
        self._next = time.monotonic() + 1.0

    def __call__(self, runs: Sequence[Progress]) -> None:
        done = all(run.finished for run in runs)
        if self._terminal:
            self._redraw(runs)
        elif done or time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            for run in runs:
                print(line(run), file=sys.stderr, flush=True)

    def _redraw(self, runs: Sequence[Progress]) -> None:
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self._lines}A" if self._lines else ""
        body = "".join(f"\x1b[2K{line(run)[:width]}\n" for run in runs)
        self._lines = len(runs)
        sys.stderr.write(up + body)
        sys.stderr.flush()


def line(run: Progress) -> str:
    """`mathvision × openai/m  120/304  31.2/s  6 s left  2 failed  8 in flight  41.2 %`"""
    finished = run.kept + run.done + run.failed
    parts = [run.name, f"{finished:,}/{run.total:,}" if run.total is not None else f"{finished:,}"]
    if run.kept:
        parts.append(f"{run.kept:,} kept")
    parts.append(f"{run.rate:.1f}/s")
    if run.finished is None and run.seconds_left is not None:
        parts.append(f"{duration(run.seconds_left)} left")
    if run.failed:
        parts.append(f"{run.failed:,} failed")
    if run.retries:
        parts.append(f"{run.retries:,} asked again")
    if run.in_flight:
        parts.append(f"{run.in_flight} in flight")
    if run.score is not None:
        parts.append(f"{run.score:.2%}" if 0 <= run.score <= 1 else f"{run.score:.3g}")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """
    >>> [duration(seconds) for seconds in (7, 75, 7500)]
    ['7 s', '1 min 15 s', '2 h 5 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
