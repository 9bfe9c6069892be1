"""Which of two is better, and is it so: pairs of runs, standings of many."""

from snellen.analysis.comparing._compare import compare
from snellen.analysis.comparing._compared import ComparisonResult
from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    Leaderboard,
    MetricDifference,
    RankFlip,
    Side,
    Standing,
    Unpaired,
)
from snellen.analysis.comparing._names import benchmark_names, side_names
from snellen.analysis.comparing._words import (
    adjustments,
    best,
    flipped,
    lines,
    notes_of,
    p_value,
    significant,
    verdict,
)
from snellen.analysis.comparing._words import shown as shown_difference
from snellen.analysis.comparing.sides import Loaded, load

__all__ = [
    "BestOf",
    "Comparison",
    "ComparisonResult",
    "Comparisons",
    "Flips",
    "Leaderboard",
    "Loaded",
    "MetricDifference",
    "RankFlip",
    "Side",
    "Standing",
    "Unpaired",
    "adjustments",
    "benchmark_names",
    "best",
    "compare",
    "flipped",
    "lines",
    "load",
    "notes_of",
    "p_value",
    "shown_difference",
    "side_names",
    "significant",
    "verdict",
]
