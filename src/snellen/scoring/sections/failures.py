"""Why replies failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from snellen.scoring.columns import Sparse
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

REASONS = 3
LONGEST_REASON = 300
FILE = re.compile(r"at byte \d+ of \S+|\S*/\S+|\S+\.\w{2,5}(?![\w.])")
"""What tells apart failures that have one reason: a path, a file's name, a place in a file."""


class Failure(NamedTuple):
    """A failed question."""

    sample: str
    error: str


class FailuresSection:
    """Notes on the commonest reasons."""

    def __init__(self, scorer: Scorer) -> None:
        self._failures = Sparse()
        self.columns = (self._failures,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        if scored.error is not None:
            self._failures.append(row, Failure(scored.sample.id, scored.error))

    def summarize(self, draft: Draft) -> Part:
        by_reason: dict[str, list[Failure]] = {}
        for failure in self._failures.data:
            by_reason.setdefault(FILE.sub("FILE", failure.error), []).append(failure)
        common = sorted(by_reason.values(), key=lambda failures: -len(failures))
        notes = [
            f"failed {len(failures):,}, such as {failures[0].sample}: "
            f"{failures[0].error[:LONGEST_REASON]}"
            for failures in common[:REASONS]
        ]
        rest = len(common) - REASONS
        if rest > 0:
            notes.append(f"failed for {rest:,} other reasons: see replies.jsonl")
        return {}, notes
