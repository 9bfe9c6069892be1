"""The option `pages` of benchmarks on documents: which pages of a document a model is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from snellen.errors import UsageError


@dataclass(frozen=True)
class PagePolicy:
    """All pages, the first pages, or the pages that a benchmark itself can choose."""

    name: str
    """`all`, `first`, or a word of the benchmark, such as `oracle`."""
    most: int | None = None
    """The number of pages that are shown at most; None: no limit."""

    @classmethod
    def of(cls, text: str, benchmark: str, *words: str) -> PagePolicy:
        """Parse the value of the option. `words` are the benchmark's own values.

        >>> PagePolicy.of("first:20", "mp-docvqa")
        PagePolicy(name='first', most=20)

        Raises:
            UsageError: the benchmark has no such value.
        """
        if text in ("all", *words):
            return cls(text)
        if match := re.fullmatch("first:([1-9][0-9]{0,3})", text):
            return cls("first", int(match[1]))
        known = ", ".join(("all", "first:N", *words))
        raise UsageError(f"{benchmark}:pages must be one of {known}, not {text!r}.")

    @property
    def notes(self) -> tuple[str, ...]:
        """What results of this policy must state."""
        if self.most is None:
            return ()
        pages = "page is" if self.most == 1 else f"{self.most:,} pages are"
        return (
            f"only the first {pages} shown of each document, so the page with the answer may be "
            "missing",
        )
