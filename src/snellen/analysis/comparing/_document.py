"""What comparing gives: differences of pairs, standings of many, what the best of several is worth.

A difference is always b minus a: the side that is named first is the baseline.
"""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.metrics import Direction
from snellen.scoring import CostReport, MetricReport


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One set of replies: a run, or a file of predictions."""

    name: str
    """Its name among the sides of its benchmark: the model, with the settings that distinguish
    it."""
    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    model: str
    """The model."""
    where: str
    """The run folder, or the file of predictions."""
    n: int
    """The number of replies."""
    replies: dict[str, int]
    """The number of replies by state, such as `ok` and `failed`."""
    identity: dict[str, Any]
    """The identity of the run; of predictions, the benchmark and its options."""
    notes: list[str] = []
    """What limits the value: for example that the run is partial."""
    cost: CostReport | None = None
    """The tokens, money, and time of the run when it was last scored; None of predictions."""


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that are left out of a difference."""

    why: str
    """The reason."""
    n: int
    """The number of samples."""
    examples: list[str]
    """The ids of the first few."""


class MetricDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One metric of both sides on the paired samples, and their difference, b minus a."""

    a: MetricReport
    """The metric of side a."""
    b: MetricReport
    """The metric of side b."""
    difference: MetricReport
    """b minus a, with its 95 % interval."""
    method: str
    """How the interval and p were computed."""
    p: float | None = None
    """The two-sided p value; None if there is no test."""
    adjusted: float | None = None
    """p adjusted by Holm's method over the tests that the document counts."""
    detectable: float | None = None
    """The smallest true difference that these samples detect with 80 % probability at a level of 5
    %."""


class Flips(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Samples that are right on both sides, on one, or on neither, if scores are 0 or 1 and every
    sample has one reply."""

    both: int
    """Right on both sides."""
    only_a: int
    """Right only on side a."""
    only_b: int
    """Right only on side b."""
    neither: int
    """Right on neither side."""
    examples_a: list[str]
    """Ids of samples that only side a has right."""
    examples_b: list[str]
    """Ids of samples that only side b has right."""
    p: float | None = None
    """The exact p of McNemar's test; None if samples are not independent."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two sides under one scoring."""

    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    scoring: str
    """The scoring."""
    a: str
    """The name of the first side."""
    b: str
    """The name of the second side."""
    samples: int
    """The number of paired samples."""
    clusters: int
    """The number of independent clusters of these samples."""
    unpaired: list[Unpaired]
    """The samples that are left out, by reason."""
    settings: list[str]
    """The settings that differ between the two sides."""
    metrics: dict[str, MetricDifference]
    """The metrics, the first one of the scoring first. Without details, only the first."""
    breakdown: dict[str, dict[str, MetricDifference]]
    """The first metric for each category of each tag."""
    capabilities: dict[str, MetricDifference] = {}
    """The mean score for each capability that samples require."""
    flips: Flips | None = None
    """The samples that only one side has right; None if scores are not 0 or 1."""
    notes: list[str] = []
    """What limits the comparison."""
    direction: Direction | None = None
    """Whether a higher or a lower value of the first metric is better; None if unknown."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a leaderboard."""

    name: str
    """The name of the side."""
    value: MetricReport
    """Its first metric, on the samples that all sides share."""
    rank: int | None
    """Its rank, 1 for the best; None if it is unknown whether higher is better."""
    ranks: tuple[int, int] | None
    """The lowest and the highest rank in 95 % of resamples; None like `rank`."""
    group: str
    """Letters. Sides that share a letter do not differ significantly at 5 %, by Holm over all
    pairs; empty if a pair has no test."""


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several sides by the first metric of the headline scoring, on the samples that all share."""

    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    scoring: str
    """The scoring."""
    metric: str
    """The metric."""
    samples: int
    """The number of samples that all sides share."""
    clusters: int
    """The number of independent clusters of these samples."""
    standings: list[Standing]
    """The sides, the best first; without a direction, in the given order."""
    notes: list[str] = []
    """What limits the leaderboard."""
    direction: Direction | None = None
    """Whether a higher or a lower value of the first metric is better; None if unknown."""

    @property
    def is_ranked(self) -> bool:
        """Whether the sides have ranks."""
        return self.direction is not None

    @property
    def is_tested(self) -> bool:
        """Whether every pair has a test, so that the sides have groups."""
        return all(standing.group for standing in self.standings)


class BestOf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The best of several prompts or settings of one model. Its value is too high, because chance
    took part in choosing it."""

    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    scoring: str
    """The scoring."""
    metric: str
    """The metric."""
    model: str
    """The model."""
    values: dict[str, MetricReport]
    """The metric of each setting, by the name of its side."""
    best: str
    """The side with the highest value, or with the lowest if lower is better."""
    held_out: MetricReport
    """The value of this choice on samples that took no part in it."""
    spread: float | None
    """The standard deviation between settings; None if it cannot be computed."""
    notes: list[str] = []
    """What limits the figure."""


class RankFlip(msgspec.Struct, frozen=True, kw_only=True):
    """Two models whose order depends on the setting."""

    benchmark: str
    """The benchmark."""
    models: tuple[str, str]
    """The two models."""
    first_above: list[str]
    """The settings in which the first is above the second."""
    second_above: list[str]
    """The settings in which the second is above the first."""
    significant: bool
    """Whether each is significantly above the other at 5 % in some setting."""


class Comparisons(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document of `compare`, which `--json` prints."""

    format: int
    """The number of the format."""
    sides: list[Side]
    """The sides."""
    comparisons: list[Comparison]
    """The pairs."""
    leaderboards: list[Leaderboard] = []
    """A leaderboard for each benchmark with more than two sides."""
    best_of: list[BestOf] = []
    """The best of several settings, for each model that has them."""
    rank_flips: list[RankFlip] = []
    """Models whose order depends on the setting."""
    tests: int = 0
    """The number of tests over which the first metrics' p values are adjusted."""
    notes: list[str] = []
    """Notes on all of it."""
