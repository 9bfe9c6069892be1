"""Similarities of texts by edit distance, shared by benchmarks about documents."""

from __future__ import annotations


def similarity(answer: str, right: str) -> float:
    """1 minus the edit distance over the length of the longer text in uppercase. Two empty texts
    are equal.

    Uppercase matters for letters such as "ß", which becomes two letters:

    >>> similarity("ab", "ax"), similarity("", ""), similarity("ß", "x")
    (0.5, 1.0, 0.5)
    """
    from rapidfuzz.distance import Levenshtein

    length = max(len(answer.upper()), len(right.upper()))
    return 1 - Levenshtein.distance(answer, right) / length if length else 1.0


def plain_similarity(answer: str, right: str) -> float:
    """1 minus the edit distance over the length of the longer text. Two empty texts are equal.

    >>> plain_similarity("ab", "ax"), plain_similarity("ß", "x")
    (0.5, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    length = max(len(answer), len(right))
    return 1 - Levenshtein.distance(answer, right) / length if length else 1.0
