"""Shows the progress of a run in one line of text, in Python and in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import monotonic
from typing import Any

from snellen.errors import plain
from snellen.run.progress import Progress
from snellen.text.amounts import counted, duration, money

FIRST, EVERY = 1.0, 10.0
"""Seconds until the first line is printed, and between two lines."""


def line(run: Progress) -> str:
    """`mathvision × openai/m  120/304  31.2/s  6 s left  0.0412 USD of 0.104 USD  2 failed
    8 in flight  score 0.412  tokens 36,120 in, 480 out`"""
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
    if run.prices is not None and run.priced:
        at_least = "at least " if run.unpriced else ""
        parts.append(f"{at_least}{_money(run)}")
    if run.failed:
        parts.append(f"{run.failed:,} failed")
    if run.retries:
        parts.append(counted(run.retries, "retry", "retries"))
    if run.in_flight:
        parts.append(f"{run.in_flight} in flight")
    if run.score is not None:
        about = "about " if run.drawn else ""
        parts.append(f"score {about}{run.score:.3f}{' of the new ones' if run.kept else ''}")
    if run.input_tokens or run.output_tokens:
        thought = f" ({run.reasoning_tokens:,} reasoning)" if run.reasoning_tokens else ""
        parts.append(f"tokens {run.input_tokens:,} in, {run.output_tokens:,} out{thought}")
    return "  ".join(parts)


def _money(run: Progress) -> str:
    """The cost so far, and while the run is in progress also the estimated total cost."""
    currency = run.prices.currency if run.prices else None
    cost, expected = money(run.cost, currency), run.cost_at_the_end
    if run.finished is not None or expected is None:
        return cost
    return f"{cost} of {money(expected, currency)}"


class ShownProgress:
    """Shows runs in progress, for `evaluate(..., show=ShownProgress())`. A notebook shows one text
    that is updated. Elsewhere, a line is printed to standard error every ten seconds and when a run
    has ended."""

    def __init__(self) -> None:
        self._handle = _notebook_display()
        self._next = monotonic() + FIRST
        self._ended: set[int] = set()

    def __call__(self, runs: Sequence[Progress]) -> None:
        if self._handle is not None:
            text = "\n".join(line(run) for run in runs)
            self._handle.update({"text/plain": text}, raw=True)
            return
        due = monotonic() >= self._next
        if due:
            self._next = monotonic() + EVERY
        for run in runs:
            has_ended = run.finished is not None
            if id(run) not in self._ended and (due or has_ended):
                print(line(run), file=sys.stderr, flush=True)
                if has_ended:
                    self._ended.add(id(run))


def _notebook_display() -> Any:
    """In a Jupyter notebook, a display that can be updated; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)
