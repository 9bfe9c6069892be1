"""The base class of most sections."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.scoring.columns import Column
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding


class Base:
    """A section without columns of its own."""

    def __init__(self, scorer: Scorer) -> None:
        self.columns: Sequence[Column] = ()

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Collect nothing, since the section needs only the table's own columns."""
