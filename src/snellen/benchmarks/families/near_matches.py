"""Where a text has near matches of another one, as the library fuzzysearch 0.8 finds them.

Its search is heuristic: it looks for exact matches of equal parts of the sought text, or of its
first characters if it is short, and extends them. A match that has no such part is not seen, and
the end of an extension depends on when it stops. The functions here follow the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

MOST_STEPS = 1_000_000
"""How many steps the search for a short text may take."""
MOST_PARTS = 10_000
"""How many exact matches of parts are extended. Only texts that repeat themselves have more."""


class NearMatch(NamedTuple):
    """A span of a text that resembles the sought text."""

    start: int
    """The position of its first character."""
    end: int
    """The position after its last character."""
    distance: int
    """Its edit distance from the sought text."""


def near_matches(sought: str, text: str, most: int) -> list[NearMatch]:
    """The best match of each group of overlapping matches, by position. A match has at most this
    many edits. If there may be no edits, each match is a group.

    >>> [match.start for match in near_matches("abcdefgh", "xxabcdXfgh abcdefgh", 1)]
    [2, 11]
    """
    if most == 0:
        return [NearMatch(start, start + len(sought), 0) for start in _starts(sought, text)]
    if len(sought) // (most + 1) >= 3:
        return _best(_by_parts(sought, text, most))
    return _best(_by_characters(sought, text, most))


def _starts(sought: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """The positions of a text, which may overlap."""
    position = text.find(sought, start, end)
    while position >= 0:
        yield position
        position = text.find(sought, position + 1, end)


def _best(matches: Iterator[NearMatch]) -> list[NearMatch]:
    """The match with the fewest edits of each group of overlapping matches, and the longest among
    several."""
    groups: list[tuple[int, int, NearMatch]] = []
    for match in sorted(set(matches)):
        start, end, best = groups[-1] if groups else (0, -1, match)
        # A match overlaps a group if neither ends before the other one begins.
        if groups and (match.start < end or match.start == match.end == end):
            better = min(best, match, key=lambda other: (other.distance, other.start - other.end))
            groups[-1] = (start, max(end, match.end), better)
        else:
            groups.append((match.start, match.end, match))
    return sorted(best for _, _, best in groups)


def _by_parts(sought: str, text: str, most: int) -> Iterator[NearMatch]:
    """The matches around exact matches of parts of the sought text, one of which must be exact."""
    length = len(sought) // (most + 1)
    left_parts = MOST_PARTS
    for start in range(0, len(sought) - length + 1, length):
        end = start + length
        first = max(0, start - most)
        last = min(len(text), len(text) - len(sought) + end + most)
        for position in _starts(sought[start:end], text, first, last):
            left_parts -= 1
            if left_parts < 0:
                return
            after = text[position + length : max(position - start + len(sought) + most, 0)]
            right = _extended(sought[end:], after, most)
            if right is None:
                continue
            rest = most - right[0]
            before = text[max(0, position - start - rest) : position]
            left = _extended(sought[:start][::-1], before[::-1], rest)
            if left is not None:
                yield NearMatch(
                    position - left[1], position + length + right[1], left[0] + right[0]
                )


def _extended(sought: str, text: str, most: int) -> tuple[int, int] | None:
    """The fewest edits between a text and a beginning of another one, and the length of that
    beginning, the longest of several. None if there are more edits than allowed."""
    if not sought:
        return 0, 0
    narrow = len(sought) > max(most * 2, 10)
    scores = list(range(1, len(sought) + 1))
    best, length = len(sought), 0
    limit, start, stop = most, 0, len(sought)
    for index, sign in enumerate(text):
        corner, score = index, index + 1
        first, last = (start, min(len(sought), stop)) if narrow else (0, len(sought))
        # In a narrow search, only scores within the limit count, and those that can become so.
        start, stop = (0, 1) if score <= limit else (-1, 0)
        for number in range(first, last):
            above = scores[number]
            score = min(corner + (sign != sought[number]), above + 1, score + 1)
            scores[number], corner = score, above
            if score <= limit:
                start = number if start < 0 else start
                stop = max(stop, number + 2 + limit - score)
        if narrow and start < 0:
            break
        if last == len(sought) and score <= best:
            best, length = score, index + 1
            limit = min(limit, best) if narrow else limit
        elif not narrow and min(scores) >= best:
            break
    return (best, length) if best <= most else None


def _by_characters(sought: str, text: str, most: int) -> Iterator[NearMatch]:
    """The matches that begin with one of the first characters of the sought text, read from left to
    right: each state is a start, a position in the sought text, and the edits so far."""
    if most >= len(sought):
        for index in range(len(text) + 1):
            yield NearMatch(index, index, len(sought))
        return
    firsts = {sign: index for index, sign in reversed([*enumerate(sought[: most + 1])])}
    states: dict[tuple[int, int, int], None] = {}
    steps = 0
    for index, sign in enumerate(text):
        following: dict[tuple[int, int, int], None] = {}
        if sign in firsts:
            skipped = firsts[sign]
            if skipped + 1 == len(sought):
                yield NearMatch(index, index + 1, skipped)
            else:
                following[index, skipped + 1, skipped] = None
        for start, position, edits in states:
            steps += 1
            if sought[position] == sign:
                if position + 1 == len(sought):
                    yield NearMatch(start, index + 1, edits)
                else:
                    following[start, position + 1, edits] = None
                continue
            if edits == most:
                continue
            following[start, position, edits + 1] = None
            if index + 1 < len(text) and position + 1 < len(sought):
                following[start, position + 1, edits + 1] = None
            for skipped in range(1, most - edits + 1):
                if position + skipped == len(sought):
                    yield NearMatch(start, index + 1, edits + skipped)
                    break
                if sought[position + skipped] == sign:
                    if position + skipped + 1 == len(sought):
                        yield NearMatch(start, index + 1, edits + skipped)
                    else:
                        following[start, position + skipped + 1, edits + skipped] = None
                    break
        states = following
        if steps > MOST_STEPS:
            return
    for start, position, edits in states:
        if edits + len(sought) - position <= most:
            yield NearMatch(start, len(text), edits + len(sought) - position)
