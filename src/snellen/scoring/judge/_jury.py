"""Chooses the judges whose verdicts are used in a run's score, which are the judges with a verdict
on nearly every reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snellen.store import Run

ENOUGH = 0.95
"""A judge counts if its number of readable verdicts is at least this share of the number that the
judge with the most readable verdicts has. A few unreadable verdicts, which are common, do not
exclude a judge, but an outage of the judge's service does."""


@dataclass(frozen=True, eq=False)
class JudgeRepeat:
    """One repeat of one judge."""

    model: str
    """The judge model."""
    run: Run
    """The judge's own run."""
    repeat: int
    """The number of the repeat, counted from 0."""
    started: str
    """The time at which the judge's run was last started (ISO 8601)."""
    verdicts: int = 0
    """The number of replies on which this judge has a readable verdict."""


@dataclass(frozen=True)
class Jury:
    """The judges of a scoring, divided into those with enough verdicts and those with too few."""

    members: Sequence[JudgeRepeat]
    """The judges whose verdicts are used in the score."""
    absentees: Sequence[JudgeRepeat]
    """The judges that are left out because they have too few verdicts."""


def select_jury(slots: Sequence[JudgeRepeat]) -> Jury:
    """Choose the slots (repeats of judges) that have enough verdicts.

    If a judge has several runs (for example, with different temperatures), only the latest run with
    enough verdicts counts. A failed run therefore does not replace an earlier successful one.
    """
    least = ENOUGH * max((slot.verdicts for slot in slots), default=0)
    able = [slot for slot in slots if slot.verdicts >= least]
    run_of, latest = _latest_runs(able), _latest_runs(slots)
    return Jury(
        members=[slot for slot in able if run_of[slot.model] is slot.run],
        absentees=[
            slot for slot in slots if slot.verdicts < least and latest[slot.model] is slot.run
        ],
    )


def _latest_runs(slots: Iterable[JudgeRepeat]) -> dict[str, Run]:
    """The latest run of each judge."""
    by_model: dict[str, JudgeRepeat] = {}
    for slot in slots:
        by_model[slot.model] = max(by_model.get(slot.model, slot), slot, key=_started)
    return {model: slot.run for model, slot in by_model.items()}


def _started(slot: JudgeRepeat) -> str:
    return slot.started
