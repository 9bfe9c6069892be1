"""Computes the mean score for each capability that samples require."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.metrics import Category
from snellen.scoring.columns import Codes, Column
from snellen.scoring.document import CapabilityReport
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.rows import share_of_best
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding


class CapabilitiesSection:
    """Computes, for each capability, the number of samples and their mean score by the headline
    scoring."""

    def __init__(self, scorer: Scorer) -> None:
        self._capabilities = scorer.benchmark.presentation.capabilities
        self._leaves = Codes()
        self.columns: Sequence[Column] = () if self._capabilities is None else (self._leaves,)

    @property
    def leaves(self) -> Category | None:
        """The capability of each row (n,); None if the benchmark defines none."""
        if not self._leaves.codes:
            return None
        return Category(codes=self._leaves.values, names=self._leaves.names)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        assert self._capabilities is not None
        self._leaves.append(self._capabilities.leaf(scored.sample))

    def summarize(self, draft: Draft) -> Part:
        leaves = self.leaves
        if leaves is None or draft.scorer.headline is None:
            return NOTHING
        reports = {}
        for code, leaf in enumerate(leaves.names):
            of = leaves.codes == code
            mean = share_of_best(draft.headline_rows, of, draft.best)
            reports[leaf] = CapabilityReport(n=int(of.sum()), mean=mean)
        return {"capabilities": reports}, ()
