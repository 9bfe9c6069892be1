"""Spans of text between delimiters, in linear time.

A regular expression such as `\\\\tag\\{.*?\\}` takes quadratic time on a text with many openings
and no closing. The functions here give the same spans and read the text once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


class Finder:
    """Finds the next occurrence of a text. Positions must be ascending."""

    def __init__(self, text: str, sought: str) -> None:
        self._text = text
        self._sought = sought
        self._next = -1

    def after(self, position: int) -> int:
        """The first occurrence at or after a position; the length of the text if there is none."""
        if self._next < position:
            match = self._text.find(self._sought, position)
            self._next = len(self._text) if match < 0 else match
        return self._next


class Pairs:
    """Openings and closings that delimit spans. An earlier pair takes precedence where two pairs
    begin at the same position."""

    def __init__(self, *pairs: tuple[str, str], single_line: bool = False) -> None:
        self._pairs = pairs
        self._single_line = single_line
        self._opening = re.compile("|".join(re.escape(first) for first, _ in pairs))

    def __call__(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The start, the end, and the number of the pair of each span, delimiters included.

        >>> list(Pairs(("$$", "$$"), ("$", "$"))("a $$b$$ $$"))
        [(2, 7, 0), (8, 10, 1)]
        """
        closings = [Finder(text, closing) for _, closing in self._pairs]
        lines = Finder(text, "\n")
        position = 0
        while match := self._opening.search(text, position):
            start = match.start()
            position = start + 1
            for number, (opening, closing) in enumerate(self._pairs):
                if not text.startswith(opening, start):
                    continue
                content = start + len(opening)
                end = closings[number].after(content)
                if end < len(text) and not (self._single_line and lines.after(content) < end):
                    position = end + len(closing)
                    yield start, position, number
                    break


def without(text: str, spans: Sequence[tuple[int, int]], filler: str = "") -> str:
    """The text without some spans. `filler` replaces each character of a span."""
    parts, position = [], 0
    for start, end in spans:
        parts += [text[position:start], filler * (end - start)]
        position = end
    return "".join([*parts, text[position:]])
