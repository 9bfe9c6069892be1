"""Reports why replies failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from snellen.scoring.columns import Sparse
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

FAILED = "failed "
"""The beginning of the notes which say why replies failed."""
REASONS = 3
LONGEST_REASON = 300
FILE = re.compile(r"at byte \d+ of \S+|\S*/\S+|\S+\.\w{2,5}(?![\w.])")
"""Matches paths, file names, and positions in files. Error messages that differ only in these have
the same reason."""


def is_failure(note: str) -> bool:
    """Whether a note of a report says why replies failed."""
    return note.startswith(FAILED)


class FailuresSection:
    """Adds notes on the most common reasons for failures."""

    def __init__(self, scorer: Scorer) -> None:
        self._failures = Sparse()
        self.columns = (self._failures,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        if scored.error is not None:
            self._failures.append(row, (scored.sample.id, scored.error))

    def summarize(self, draft: Draft) -> Part:
        by_reason: dict[str, list[tuple[str, str]]] = {}
        for sample, error in self._failures.data:
            by_reason.setdefault(FILE.sub("FILE", error), []).append((sample, error))
        common = sorted(by_reason.values(), key=len, reverse=True)
        notes = []
        for failures in common[:REASONS]:
            sample, error = failures[0]
            notes.append(f"{FAILED}{len(failures):,}, such as {sample}: {error[:LONGEST_REASON]}")
        rest = len(common) - REASONS
        if rest > 0:
            notes.append(f"{FAILED}for {rest:,} other reasons: see replies.jsonl")
        return {}, notes
