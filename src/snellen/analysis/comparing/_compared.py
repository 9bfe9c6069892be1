"""The result that `compare` returns."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from snellen.analysis.comparing._document import Comparison, Comparisons
from snellen.analysis.comparing._words import summary


class ComparisonResult:
    """The result of a comparison. Printing it shows a summary."""

    def __init__(self, comparisons: Comparisons) -> None:
        self.comparisons = comparisons

    @property
    def first(self) -> Comparison:
        """The comparison of the first two sides."""
        return self.comparisons.comparisons[0]

    def json(self) -> str:
        """The result as JSON."""
        return msgspec.json.encode(self.comparisons).decode()

    def asdict(self) -> dict[str, Any]:
        """The result as a dictionary of plain Python types, with the same content as `json`."""
        document: dict[str, Any] = msgspec.json.decode(self.json())
        return document

    def _repr_html_(self) -> str:
        """The summary as HTML, for notebooks."""
        return f"<pre>{escape(summary(self.comparisons))}</pre>"

    def __str__(self) -> str:
        return summary(self.comparisons)

    __repr__ = __str__
