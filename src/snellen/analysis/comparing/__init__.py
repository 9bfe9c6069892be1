"""Compares runs: which side is better, and whether the difference is significant."""

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
    cost_lines,
    lines,
    notes_of,
    p_value,
    rank_flip_text,
    significant,
    verdict,
)
from snellen.analysis.comparing._words import shown as shown_difference
from snellen.analysis.comparing.sides import LoadedSide, load

__all__ = [
    "BestOf",
    "Comparison",
    "ComparisonResult",
    "Comparisons",
    "Flips",
    "Leaderboard",
    "LoadedSide",
    "MetricDifference",
    "RankFlip",
    "Side",
    "Standing",
    "Unpaired",
    "adjustments",
    "benchmark_names",
    "best",
    "compare",
    "cost_lines",
    "lines",
    "load",
    "notes_of",
    "p_value",
    "rank_flip_text",
    "shown_difference",
    "side_names",
    "significant",
    "verdict",
]
