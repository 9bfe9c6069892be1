"""The result that `compare` returns."""

from __future__ import annotations

import msgspec

from snellen.analysis.comparing._document import Comparison, Comparisons
from snellen.analysis.comparing._words import summary


class ComparisonResult:
    """A comparison's document. It prints itself."""

    def __init__(self, comparisons: Comparisons) -> None:
        self.comparisons = comparisons

    @property
    def first(self) -> Comparison:
        """The comparison of the first two sides."""
        return self.comparisons.comparisons[0]

    def json(self) -> bytes:
        """The document as JSON."""
        return msgspec.json.encode(self.comparisons)

    def __str__(self) -> str:
        return summary(self.comparisons)

    __repr__ = __str__
