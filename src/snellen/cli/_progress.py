"""Progress on standard error: on a terminal drawn in place, else plain lines now and then."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from time import monotonic

from snellen.result import plain
from snellen.runner import Progress

FIRST, EVERY = 1.0, 10.0
"""Seconds to the first plain line, and between two of them."""


class ProgressLines:
    """Called by `run_plan` four times a second, and once when all runs have ended."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._said: set[int] = set()
        self._next = monotonic() + FIRST
        self._begun = False

    def __call__(self, runs: Sequence[Progress]) -> None:
        if not self._begun:
            self._begun = True
            for run in runs:
                for note in run.notes:
                    print(plain(f"{run.name}: {note}"), file=sys.stderr, flush=True)
        if self._terminal:
            self._draw(runs)
            return
        due = monotonic() >= self._next
        if due:
            self._next = monotonic() + EVERY
        for place, run in enumerate(runs):
            ended = run.finished is not None
            if place not in self._said and (due or ended):
                print(line(run), file=sys.stderr, flush=True)
                if ended:
                    self._said.add(place)

    def _draw(self, runs: Sequence[Progress]) -> None:
        """Ended runs stay above; the others are drawn below an empty line, where the cursor waits.

        So whatever else is printed meanwhile lands on that line, whole, and is not drawn over.
        """
        ended = [
            place for place, run in enumerate(runs) if run.finished and place not in self._said
        ]
        self._said.update(ended)
        alive = [run for place, run in enumerate(runs) if place not in self._said]
        room = max(1, shutil.get_terminal_size().lines - 3)
        below = [line(run) for run in alive[:room]]
        if len(alive) > room:
            below.append(f"and {len(alive) - room} more")
        above = "".join(f"{line(runs[place])}\n" for place in ended)
        # No line may wrap, or the way up would be longer than the lines are many.
        park = "\n" + "".join(f"{text}\n" for text in below) + f"\x1b[{len(below) + 1}F"
        sys.stderr.write(f"\x1b[?7l\x1b[J{above}{park if below else ''}\x1b[?7h")
        sys.stderr.flush()


def line(run: Progress) -> str:
    """`mathvision × openai/m  120/304  31.2/s  6 s left  2 failed  8 in flight  score 0.412`"""
    finished = run.kept + run.done + run.failed
    parts = [plain(run.name)]
    parts.append(f"{finished:,}" if run.total is None else f"{finished:,}/{run.total:,}")
    if run.videos_total is not None:
        parts.append(f"{run.videos:,}/{run.videos_total:,} videos")
    if run.kept:
        parts.append(f"{run.kept:,} kept")
    if run.reused:
        parts.append(f"{run.reused:,} reused")
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
        parts.append(f"score {run.score:.3f}{' of the new ones' if run.kept else ''}")
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
