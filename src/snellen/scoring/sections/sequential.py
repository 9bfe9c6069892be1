"""A note on runs that stopped once their headline was precise enough (`--until-stderr`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base


class SequentialSection(Base):
    """Says how the rows of a sequential sample were drawn, and what this means for the interval."""

    def summarize(self, draft: Draft) -> Part:
        source, n = draft.source, len(draft.table)
        if source.run is None or n >= source.of:
            return NOTHING  # of a complete run, the order does not matter
        sessions: Sequence[Mapping[str, Any]] = source.run.manifest().get("sessions", [])
        limits = [session.get("until_stderr") for session in sessions]
        known = [limit for limit in limits if limit is not None]
        if not known:
            return NOTHING
        if len(known) < len(limits):
            return {}, [
                "some calls asked rows until the standard error was small enough, and others in "
                "the order of the data, so that the rows are not a random sample"
            ]
        return {}, [
            f"{n:,} of {source.of:,} questions were asked in a random order, until the standard "
            f"error of the headline was at most {known[-1]:g}. In simulations, the intervals "
            "of such runs cover the truth in 94 to 97 % of runs, and the value is off by up to "
            "0.15 of that error, away from the middle of the scale"
        ]
