"""How runs ended that several processes have asked, each a part of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from snellen.run.progress import Progress
from snellen.run.scheduler import Job

COUNTED = (
    *("reused", "requests", "retries", "input_tokens", "output_tokens", "reasoning_tokens"),
    *("cost", "priced", "unpriced", "score_sum", "score_n", "drawn", "refused"),
)
"""The fields of a progress that count events. They are added up when a process continues the work
of another one."""
SUMMED = (*COUNTED, "kept", "done", "failed", "in_flight", "videos")
"""The fields of a progress that are added up over the parts of a run."""


class Outcome(msgspec.Struct):
    """How a run ended in one process, or in all processes together."""

    run: str
    """The path of the run folder, relative to the folder that contains all of them, which may have
    another path on another machine."""
    progress: Progress
    """The progress when the run ended."""
    stopped: str | None = None
    """Why the run stopped early; None if it did not stop early."""
    interrupted: bool = False
    """Whether the user or a budget stopped the run."""

    def applied_to(self, job: Job) -> Job:
        """The job with this outcome, as if it had been run in this process."""
        if self.stopped is not None:
            job.stop.set(self.stopped, interrupted=self.interrupted)
        return replace(job, progress=self.progress)


def merged_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """Merge the outcomes of a run in several processes, of which there is at least one."""
    parts = [*outcomes]
    progress = Progress(name="")
    merge_progress(progress, [part.progress for part in parts], are_all=True)
    reasons = dict.fromkeys(part.stopped for part in parts if part.stopped is not None)
    return Outcome(
        run=parts[0].run,
        progress=progress,
        stopped="; ".join(reasons) or None,
        interrupted=any(part.interrupted for part in parts),
    )


def merge_progress(into: Progress, parts: list[Progress], *, are_all: bool) -> None:
    """Set `into` to the combined progress of one or more parts.

    `are_all` says whether these are all parts of the run.
    """
    for name in SUMMED:
        setattr(into, name, sum(getattr(part, name) for part in parts))
    first = parts[0]
    into.name, into.prices = first.name, first.prices
    into.total = _sum(part.total for part in parts)
    into.videos_total = _sum(part.videos_total for part in parts)
    into.notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    into.started = min(part.started for part in parts)
    ends = [part.finished for part in parts if part.finished is not None]
    into.finished = max(ends) if are_all and len(ends) == len(parts) else None


def continued(progress: Progress, before: Progress) -> Progress:
    """The progress of a process that continues the work of a process that was killed. Pairs that
    the killed process finished count as done, although the new process finds them in the store."""
    both = replace(progress)
    for name in COUNTED:
        setattr(both, name, getattr(progress, name) + getattr(before, name))
    done = min(before.done, progress.kept)
    both.kept -= done
    both.done += done
    both.started = min(progress.started, before.started)
    return both


def _sum(totals: Iterable[int | None]) -> int | None:
    """The sum of the totals; None if a total is not known."""
    known = [*totals]
    numbers = [total for total in known if total is not None]
    return sum(numbers) if len(numbers) == len(known) else None
