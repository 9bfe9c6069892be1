"""The pairs of elements of a page that OmniDocBench compares.

The rules are those of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
dataset/OmniDocBench/utils.py#L846-L1636: `quick_match` for texts and formulas, in which several
elements can be merged, and `simple_match` for tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from snellen.benchmarks.families.assignment import assignment

# fmt: off
IGNORED = frozenset((
    "figure_caption", "figure_footnote", "table_caption", "table_footnote", "code_algorithm",
    "code_algorithm_caption", "header", "footer", "page_footnote", "page_number",
    "equation_caption",
))
# fmt: on
"""The categories of texts that are matched and not scored."""
COMPARISONS = 200_000
"""The most comparisons of `quick_match`. The authors' code stops after 30 seconds and takes the
pairs of `simple_match`; here this number decides, so that the same reply has the same score on each
machine."""


@dataclass(frozen=True)
class PageLine:
    """An element as it is compared."""

    source: str
    """Its text in the annotation or in the reply."""
    plain: str
    """Its text without markup."""
    category: str = ""
    """The category of an annotated element."""


@dataclass(frozen=True)
class Match:
    """Annotated elements, and the elements of the reply that were matched with them."""

    references: tuple[int, ...]
    """The positions of the annotated elements; empty if none matches."""
    predictions: tuple[int, ...]
    """The positions of the elements of the reply; empty if none matches."""
    first: int | None
    """The element of the reply whose place counts for the reading order. None if none counts."""


class TooManyComparisons(Exception):
    """The reply has too many elements."""


def merging_pairs(references: Sequence[str], predictions: Sequence[str]) -> list[Match]:
    """The pairs of `quick_match`. No text may be empty.

    >>> merging_pairs(["abcdef"], ["abc", "def"])
    [Match(references=(0,), predictions=(0, 1), first=0)]
    """
    if not references:
        return [Match((), (number,), number) for number in range(len(predictions))]
    if not predictions:
        return [Match((number,), (), None) for number in range(len(references))]
    if len(references) == len(predictions) == 1:
        return [Match((0,), (0,), 0)]
    try:
        return _Merging(references, predictions).pairs()
    except TooManyComparisons:
        return single_pairs(references, predictions)


def single_pairs(references: Sequence[str], predictions: Sequence[str]) -> list[Match]:
    """The pairs of `simple_match`: at most one element of each side, and all other elements of the
    reply together. The first element of the reply has no place in the reading order, as the authors
    take its number 0 for no number."""
    if not references:
        return [Match((), (*range(len(predictions)),), 0)] if predictions else []
    matches = dict(assignment(distances(references, predictions))) if predictions else {}
    pairs = []
    for number in range(len(references)):
        match = matches.get(number)
        pairs.append(Match((number,), () if match is None else (match,), match or None))
    rest = tuple(sorted({*range(len(predictions))} - {*matches.values()}))
    return [*pairs, Match((), rest, rest[0])] if rest else pairs


def category(lines: Sequence[PageLine], pair: Match) -> str:
    """The most frequent category of the annotated elements. Ignored ones count if there is no
    other one."""
    categories = [lines[number].category for number in pair.references]
    scored = [name for name in categories if name not in IGNORED]
    return Counter(scored or categories).most_common(1)[0][0] if categories else ""


def distances(
    references: Sequence[str], predictions: Sequence[str], normalized: bool = True
) -> NDArray[np.float64]:
    """The edit distance of each pair, over the length of the longer text if `normalized`."""
    matrix = cdist(references, predictions, scorer=Levenshtein.distance, dtype=np.int64)
    if not normalized:
        return matrix.astype(np.float64)
    longer = np.maximum.outer(
        [len(text) for text in references], [len(text) for text in predictions]
    )
    quotients: NDArray[np.float64] = matrix / np.maximum(longer, 1)
    return quotients


def has_window(text: str, part: str, most: int) -> bool:
    """Whether a text contains a span of the length of `part` with at most this distance from it.

    Moving the span by one character changes the distance by at most two, so that spans can be
    skipped.
    """
    length = len(part)
    position = 0
    while position <= len(text) - length:
        distance = Levenshtein.distance(text[position : position + length], part)
        if distance <= most:
            return True
        position += (distance - most + 1) // 2
    return False


def largest(length: int, holds: Callable[[float], bool]) -> int:
    """The largest number of edits whose share of a length fulfills a condition."""
    return max((edits for edits in range(length + 1) if holds(edits / length)), default=-1)


class _Merging:
    """The search for pairs in which several elements of the reply, or several annotated elements,
    are merged."""

    def __init__(self, references: Sequence[str], predictions: Sequence[str]) -> None:
        self.references = references
        self.predictions = predictions
        self.count = 0
        self.parts: dict[tuple[int, int], tuple[bool, bool]] = {}

    def pairs(self) -> list[Match]:
        if len(self.references) * len(self.predictions) > COMPARISONS:
            raise TooManyComparisons
        cost = distances(self.references, self.predictions)
        groups = self.merged(cost)
        texts = [" ".join(self.predictions[number] for number in group) for group in groups]
        if len(texts) < len(self.predictions):
            cost = distances(self.references, texts)
        # By the elements of the reply, the annotated elements.
        matches: dict[tuple[int, ...], list[int]] = {}
        unmatched = set(range(len(self.references)))
        for row, column in assignment(cost):
            if cost[row, column] <= 0.7:
                matches[groups[column]] = [row]
                unmatched.discard(row)
        self.add_contained(matches, sorted(unmatched))
        return self.completed(matches)

    # -- merging elements of the reply

    def merged(self, cost: NDArray[np.float64]) -> list[tuple[int, ...]]:
        """The elements of the reply, some of them in groups of neighbors that together look like an
        annotated element."""
        close = cost < 0.25
        rows = np.flatnonzero(~close.any(axis=1))
        columns = np.flatnonzero(~close.any(axis=0))
        candidates: list[tuple[tuple[int, ...], float]] = []
        free = set(map(int, columns))
        for row in map(int, rows):
            best: tuple[int, ...] = ()
            least = np.inf
            for column in map(int, columns):
                group, share = self.grown(row, column, float(cost[row, column]), free)
                if share < least:
                    best, least = group, share
            if best:
                candidates.append((best, float(least)))
        chosen = {group[0]: group for group in _compatible(candidates)}
        groups: list[tuple[int, ...]] = []
        position = 0
        while position < len(self.predictions):
            group = chosen.get(position, (position,))
            groups.append(group)
            position += len(group)
        return groups

    def grown(
        self, row: int, column: int, share: float, free: set[int]
    ) -> tuple[tuple[int, ...], float]:
        """The group that begins with an element of the reply, and its distance from an annotated
        element. Elements are added while they make the distance no larger."""
        reference = self.references[row]
        text, last = self.predictions[column], column
        while last + 1 in free:
            self.spend()
            longer = f"{text} {self.predictions[last + 1]}"
            distance = Levenshtein.distance(reference, longer) / max(len(reference), len(longer))
            if distance > share or not self.is_part(row, column)[1]:
                break
            if not self.is_part(row, last + 1)[0]:
                break
            text, share, last = longer, distance, last + 1
            if len(longer) > len(reference):
                break
        return tuple(range(column, last + 1)), share

    def is_part(self, row: int, column: int) -> tuple[bool, bool]:
        """Whether an element of the reply resembles a part of an annotated element: with a distance
        below 0.6, and with one of at most 0.6."""
        if (row, column) not in self.parts:
            self.spend()
            text, part = self.references[row], self.predictions[column]
            below = largest(len(part), lambda share: share < 0.6)
            at_most = largest(len(part), lambda share: share <= 0.6)
            is_below = has_window(text, part, below)
            self.parts[row, column] = (is_below, is_below or has_window(text, part, at_most))
        return self.parts[row, column]

    def spend(self) -> None:
        self.count += 1
        if self.count > COMPARISONS:
            raise TooManyComparisons

    # -- annotated elements inside elements of the reply

    def add_contained(
        self, matches: dict[tuple[int, ...], list[int]], unmatched: Iterable[int]
    ) -> None:
        """Add annotated elements that resemble a part of an element of the reply to its match. An
        element of the reply may be in a group of another match too."""
        limits = {
            row: largest(len(self.references[row]), lambda share: share < 0.4) for row in unmatched
        }
        used: set[int] = set()
        for column, text in enumerate(self.predictions):
            contained = []
            for row, most in limits.items():
                if len(text) >= len(self.references[row]):
                    self.spend()
                    if has_window(text, self.references[row], most):
                        contained.append(row)
            if contained:
                match = matches.setdefault((column,), [])
                match += [row for row in contained if row not in used]
                used.update(contained)

    # -- the rest

    def completed(self, matches: dict[tuple[int, ...], list[int]]) -> list[Match]:
        """The pairs, with those of the elements that have no match.

        The authors' sets are kept as sets, as their order decides which of equal pairs comes first.
        """
        matched_rows = set().union(*[set(rows) for rows in matches.values()])
        matched_columns = set(column for columns in matches for column in columns)
        rows = set(range(len(self.references))) - matched_rows
        columns = set(range(len(self.predictions))) - matched_columns
        pairs = [
            Match(tuple(sorted(set(numbers))), group, group[0])
            for group, numbers in matches.items()
            if numbers
        ]
        paired = set(matched_rows)
        if columns and rows:
            row_list, column_list = list(rows), list(columns)
            texts = [self.references[row] for row in row_list]
            others = [self.predictions[column] for column in column_list]
            for i, j in assignment(distances(texts, others, normalized=False)):
                pairs.append(Match((row_list[i],), (column_list[j],), column_list[j]))
                paired.add(row_list[i])
        elif columns:
            rest = tuple(columns)
            pairs.append(Match((), rest, rest[0]))
        else:
            # These elements count twice.
            pairs += [Match((row,), (), None) for row in rows]
        rest_rows = (row for row in range(len(self.references)) if row not in paired)
        return [*pairs, *(Match((row,), (), None) for row in rest_rows)]


def _compatible(candidates: list[tuple[tuple[int, ...], float]]) -> list[tuple[int, ...]]:
    """Groups that have no element in common. Among overlapping groups, those with the least mean
    distance are taken."""
    clusters: list[list[tuple[tuple[int, ...], float]]] = []
    for group, share in sorted(candidates, key=lambda candidate: candidate[0][0]):
        if clusters and any(not {*group}.isdisjoint(other) for other, _ in clusters[-1]):
            clusters[-1].append((group, share))
        else:
            clusters.append([(group, share)])
    chosen: list[tuple[int, ...]] = []
    for cluster in clusters:
        paths = [[cluster[0]]]
        for candidate in cluster[1:]:
            _add(paths, candidate)
        best = min(paths, key=lambda path: sum(share for _, share in path) / len(path))
        chosen += [group for group, _ in best]
    return chosen


def _add(
    paths: list[list[tuple[tuple[int, ...], float]]], candidate: tuple[tuple[int, ...], float]
) -> None:
    """Add a group to each path without its elements. If a path has the group already, the one with
    the smaller distance stays. If no path takes it, it begins another one."""
    group, share = candidate
    is_new = True
    for path in paths:
        same = next((item for item in path if item[0] == group), None)
        if same is not None:
            is_new = False
            if same[1] > share:
                path.remove(same)
                path.append(candidate)
        elif all({*group}.isdisjoint(other) for other, _ in path):
            path.append(candidate)
            is_new = False
    if is_new:
        paths.append([candidate])
