"""Searches long replies for patterns, and tries each pattern only where it can match.

A pattern with many alternatives costs Python's `re` about 100 ns for each character. Finding a word
costs less than 1 ns.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from snellen.lazy import lazy_pattern

_CAPITAL = lazy_pattern(
    r"[A-Z](?<![A-Za-z0-9_\u00c0-\u024f'\\][A-Z])(?![A-Za-z0-9_\u00c0-\u024f#+♭♯])"
)


Value = TypeVar("Value")


class lazy(Generic[Value]):
    """An attribute that is computed on first use. It is `functools.cached_property` without the
    lock of Python 3.11, which costs more than most of these attributes."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...
    def __get__(self, owner: object | None, kind: type) -> "Value | lazy[Value]":
        if owner is None:
            return self
        value = self._compute(owner)
        owner.__dict__[self._compute.__name__] = value
        return value


class SearchText:
    """A text, with its lowercase form and the positions of its capital letters, which several
    searches use."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The text."""
        self.lower = lowercase(text)
        """The text in lowercase. It has the same length as the text."""

    @lazy
    def capitals(self) -> list[int]:
        """The positions of the capital letters that are not part of a word, and of the opening
        brackets directly before such letters."""
        starts = []
        for match in _CAPITAL.finditer(self.text):
            if self.text[max(0, match.start() - 1) : match.start()] in ("(", "[", "{"):
                starts.append(match.start() - 1)
            starts.append(match.start())
        return starts

    def positions(self, words: Sequence[str]) -> set[int]:
        """The positions at which one of these lowercase words begins."""
        positions = set()
        lower = self.lower
        for word in words:
            if word in lower:
                position = lower.find(word)
                while position >= 0:
                    positions.add(position)
                    position = lower.find(word, position + 1)
        return positions


def lowercase(text: str) -> str:
    """The text in lowercase. It has the same length as the text."""
    lower = text.lower()
    # Only one character, the dotted capital I, becomes longer.
    return lower if len(lower) == len(text) else "".join(char.lower()[0] for char in text)


def matches_at(
    pattern: re.Pattern[str], text: SearchText, starts: Sequence[int]
) -> Iterator[re.Match[str]]:
    """Like `pattern.finditer`, but try only these positions, which must be in ascending order."""
    end = 0
    for start in starts:
        if start >= end and (match := pattern.match(text.text, start)):
            yield match
            end = match.end()


class WordSearch:
    """A pattern whose matches contain one of a few words within their first characters."""

    def __init__(self, pattern: re.Pattern[str], words: Sequence[str], before: int = 0) -> None:
        self.pattern = pattern
        """The pattern. A match is never empty."""
        self.words = tuple(words)
        """The words, in lowercase. Every match of the pattern contains at least one of these
        words."""
        self.before = before
        """The maximum number of characters between the start of a match and its word."""

    def finditer(self, text: SearchText) -> Iterator[re.Match[str]]:
        """Like `re.Pattern.finditer`."""
        starts = text.positions(self.words)
        if self.before:
            starts = {
                start
                for position in starts
                for start in range(max(0, position - self.before), position + 1)
            }
        return matches_at(self.pattern, text, sorted(starts))

    def search(self, text: SearchText) -> re.Match[str] | None:
        """Like `re.Pattern.search`."""
        return next(self.finditer(text), None)
