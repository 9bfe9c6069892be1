"""Reports how many of the benchmark's questions have a reply."""

from __future__ import annotations

from snellen.scoring.draft import Draft, Part
from snellen.scoring.sections._base import Base


class CoverageSection(Base):
    """Counts the replies in each state, and notes whether the report is partial or incomplete."""

    def summarize(self, draft: Draft) -> Part:
        import numpy as np

        table, source = draft.table, draft.source
        n, of, states = len(table), source.of, table.states
        failed = states.get("failed", 0)
        # A conversation is one row of the data set, even if each of its turns is scored.
        in_turns = draft.benchmark.procedure.conversation.by_turn is not None
        conversations = len(np.unique(table.conversations)) if in_turns else 0
        rows = conversations if in_turns else n
        notes = []
        if of > rows:
            notes.append(f"partial: {rows:,} of {of:,}")
        if failed:
            wrong = draft.scorer.missing == "wrong"
            how = "count as wrong" if wrong else "are left out of the means"
            notes.append(
                f"incomplete: {failed:,} of {n:,} have no reply and {how}; the same command "
                "asks them again"
            )
        waiting = any(table.findings[name].waiting for name in draft.reported)
        fields = {
            "replies": states,
            "incomplete": bool(source.incomplete or failed or waiting),
            "asked_of": of if of > rows else None,
            "conversations": conversations or None,
        }
        return fields, notes
