"""The metric of the plug-in."""

from collections.abc import Sequence


def share_of_zeros(scores: Sequence[float]) -> float:
    """The share of scores that are 0. It is an example."""
    return sum(score == 0 for score in scores) / len(scores)
