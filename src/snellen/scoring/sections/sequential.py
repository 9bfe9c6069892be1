"""Reports that a run stopped when its headline was precise enough (`--until-stderr`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base


class SequentialSection(Base):
    """Adds a note on how the rows were drawn, and on the consequences for the interval."""

    def summarize(self, draft: Draft) -> Part:
        source, n = draft.source, len(draft.table)
        if source.run is None or n >= source.of:
            return NOTHING  # the order of rows does not matter in a complete run
        sessions: Sequence[Mapping[str, Any]] = source.run.manifest().get("sessions", [])
        limits = [session.get("until_stderr") for session in sessions]
        known = [limit for limit in limits if limit is not None]
        if not known:
            return NOTHING
        if len(known) < len(limits):
            return {}, [
                "some calls of this run asked rows in a random order until the standard error was "
                "small enough, and other calls did not, so the rows are not a random sample"
            ]
        return {}, [
            f"{n:,} of {source.of:,} questions were asked in a random order, until the standard "
            f"error of the headline was at most {known[-1]:g}. In simulations, the intervals "
            "of such runs contain the true value in 94 to 97 % of runs, and the value is biased by "
            "up to 0.15 of that standard error, away from the middle of the scale"
        ]
