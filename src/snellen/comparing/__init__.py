"""Which of two is better, and is it so: pairs of runs, standings of many."""

from snellen.comparing._report import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    Leaderboard,
    MetricDifference,
    Side,
    Standing,
    Unpaired,
)

__all__ = [
    "BestOf",
    "Comparison",
    "Comparisons",
    "Flips",
    "Leaderboard",
    "MetricDifference",
    "Side",
    "Standing",
    "Unpaired",
]
