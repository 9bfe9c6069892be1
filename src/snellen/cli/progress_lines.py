"""Shows progress on standard error: on a terminal as lines that are redrawn in place, otherwise as
plain lines from time to time."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from snellen.errors import plain
from snellen.run.progress_text import EVERY, FIRST, line

if TYPE_CHECKING:
    from snellen.run import Progress


def can_draw() -> bool:
    """Whether standard error is a terminal that can move its cursor (not TERM=dumb)."""
    if not sys.stderr.isatty():
        return False
    from rich.console import Console

    return not Console(stderr=True).is_dumb_terminal


@dataclass
class RunLines:
    """The state of the output about one run."""

    progress: Progress
    """The run's progress."""
    notes: int = 0
    """The number of the run's notes that have been printed."""
    is_complete: bool = False
    """Whether the run's last line has been printed."""


class ProgressLines:
    """Prints the progress of runs. `run_plan` calls an instance four times a second, and once when
    all runs have ended.

    Runs are identified by their `Progress` objects, not by their positions, because each setting of
    a sweep and each scoring of a judge has runs of its own.
    """

    def __init__(self) -> None:
        self._terminal = can_draw()
        self._next = monotonic() + FIRST
        self._lines: dict[int, RunLines] = {}

    def __call__(self, runs: Sequence[Progress]) -> None:
        printed = [self._lines.setdefault(id(run), RunLines(run)) for run in runs]
        for lines in printed:
            run = lines.progress
            for note in run.notes[lines.notes :]:
                print(plain(f"{run.name}: {note}"), file=sys.stderr, flush=True)
            lines.notes = len(run.notes)
        if self._terminal:
            self._draw(printed)
            return
        due = monotonic() >= self._next
        if due:
            self._next = monotonic() + EVERY
        for lines in printed:
            ended = lines.progress.finished is not None
            if not lines.is_complete and (due or ended):
                print(line(lines.progress), file=sys.stderr, flush=True)
                lines.is_complete = ended

    def _draw(self, printed: Sequence[RunLines]) -> None:
        """Redraw the lines. The lines of finished runs are at the top. An empty line with the
        cursor follows, and then come the lines of the other runs. Any other output appears on the
        empty line and is not overwritten.
        """
        open_runs = [lines for lines in printed if not lines.is_complete]
        ended = [lines for lines in open_runs if lines.progress.finished is not None]
        for lines in ended:
            lines.is_complete = True
        alive = [lines.progress for lines in open_runs if not lines.is_complete]
        room = max(1, shutil.get_terminal_size().lines - 3)
        below = [line(run) for run in alive[:room]]
        if len(alive) > room:
            below.append(f"and {len(alive) - room} more")
        above = "".join(f"{line(lines.progress)}\n" for lines in ended)
        # Wrapping is off: the cursor moves up by the number of lines, and a wrapped line is higher.
        park = "\n" + "".join(f"{text}\n" for text in below) + f"\x1b[{len(below) + 1}F"
        sys.stderr.write(f"\x1b[?7l\x1b[J{above}{park if below else ''}\x1b[?7h")
        sys.stderr.flush()
