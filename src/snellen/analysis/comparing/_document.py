"""The types of a comparison's result: differences between pairs of sides, leaderboards, and the
best of several settings.

A difference is always b minus a, so the first side is the baseline.
"""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.metrics import Direction
from snellen.scoring import CostReport, MetricReport, ToolsReport


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One set of replies: a run, or a file of predictions."""

    name: str
    """The side's name, which is unique within the benchmark. The name consists of the model and the
    settings that distinguish this side from other sides."""
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
    """The identity of the run; for predictions, the benchmark and its options."""
    notes: list[str] = []
    """Limitations of the side's replies, for example that the run is partial."""
    noticed: list[str] = []
    """Warnings that the run raised after its first replies, for example that replies contain
    reasoning although thinking was turned off."""
    cost: CostReport | None = None
    """The tokens, money, and time of the run when it was last scored; None for predictions."""
    tools: ToolsReport | None = None
    """The steps and calls of the run when it was last scored; None if it was asked without tools
    and its model handed over no steps."""


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that are left out of a difference for one reason. A sample that counts on neither
    side appears under one reason for each side."""

    why: str
    """The reason."""
    n: int
    """The number of samples."""
    examples: list[str]
    """The ids of the first few samples."""


class MetricDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One metric of both sides on the paired samples, and their difference, b minus a."""

    a: MetricReport
    """The metric of side a."""
    b: MetricReport
    """The metric of side b."""
    difference: MetricReport
    """The metric of side b minus the metric of side a, with its 95 % interval."""
    method: str
    """The method by which the interval and the p value were computed."""
    p: float | None = None
    """The two-sided p value; None if there is no test."""
    adjusted: float | None = None
    """The p value adjusted by Holm's method; None if it is not adjusted. The p value of the first
    metric is adjusted over all pairs. The p values of categories and capabilities are adjusted
    within each table."""
    other_metric: str = ""
    """In a category that the scoring's first metric does not include, the name of the metric that
    is compared instead; otherwise empty."""
    detectable: float | None = None
    """The smallest true difference that a test at the 5 % level on these samples detects with 80 %
    probability."""


class Flips(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The numbers of samples that both sides, one side, or neither side answered correctly. Samples
    are counted only if all scores are 0 or 1 and every sample has one reply."""

    both: int
    """The number of samples that both sides answered correctly."""
    only_a: int
    """The number of samples that only side a answered correctly."""
    only_b: int
    """The number of samples that only side b answered correctly."""
    neither: int
    """The number of samples that neither side answered correctly."""
    examples_a: list[str]
    """The ids of some samples that only side a answered correctly."""
    examples_b: list[str]
    """The ids of some samples that only side b answered correctly."""
    p: float | None = None
    """The p value of McNemar's exact test; None if samples are not independent. This p value does
    not decide whether the difference is significant: `MetricDifference` has the test that does."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The comparison of two sides by one scoring."""

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
    """The number of independent clusters that these samples form."""
    unpaired: list[Unpaired]
    """The samples that are left out, grouped by reason."""
    settings: list[str]
    """The settings that differ between the two sides."""
    metrics: dict[str, MetricDifference]
    """The metrics by name, starting with the scoring's first metric. Without details, only the
    first metric is included."""
    breakdown: dict[str, dict[str, MetricDifference]]
    """For each tag, the first metric of each category."""
    capabilities: dict[str, MetricDifference] = {}
    """For each capability that the samples require, the mean score."""
    flips: Flips | None = None
    """The numbers of samples that both sides, one side, or neither side answered correctly; None if
    they cannot be counted."""
    notes: list[str] = []
    """Limitations of the comparison."""
    direction: Direction | None = None
    """Whether a higher or a lower value of the first metric is better; None if unknown."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a leaderboard."""

    name: str
    """The name of the side."""
    value: MetricReport
    """The side's first metric, on the samples that all sides share."""
    rank: int | None
    """The side's rank, 1 for the best; None if it is unknown whether higher is better."""
    ranks: tuple[int, int] | None
    """The best and the worst rank of an interval that contains the side's rank in 95 % of
    resamples; None if `rank` is None or a pair has no test."""
    group: str
    """The side's letters; empty if some pair could not be tested. Sides that share a letter do not
    differ significantly at the 5 % level, by the adjusted p value of their pair."""


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several sides, ranked by the first metric of the headline scoring on the samples that all
    sides share."""

    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    scoring: str
    """The scoring."""
    metric: str
    """The metric."""
    samples: int
    """The number of samples that all sides share."""
    clusters: int
    """The number of independent clusters that these samples form."""
    standings: list[Standing]
    """The sides, from best to worst. If it is unknown whether higher is better, the sides keep the
    order of the input."""
    notes: list[str] = []
    """Limitations of the leaderboard."""
    direction: Direction | None = None
    """Whether a higher or a lower value of the first metric is better; None if unknown."""

    @property
    def is_ranked(self) -> bool:
        """Whether the sides have ranks."""
        return self.direction is not None

    @property
    def has_rank_intervals(self) -> bool:
        """Whether the sides have intervals of their ranks."""
        return any(standing.ranks is not None for standing in self.standings)

    @property
    def is_tested(self) -> bool:
        """Whether every pair was tested, so that the sides have letters."""
        return all(standing.group for standing in self.standings)


class BestOf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The best of several prompts or settings of one model. The value of the best setting is too
    optimistic, because the setting was chosen partly by chance."""

    benchmark: str
    """The benchmark, with the options that distinguish its data."""
    scoring: str
    """The scoring."""
    metric: str
    """The metric."""
    model: str
    """The model."""
    values: dict[str, MetricReport]
    """The metric for each setting. Keys are the names of sides."""
    best: str
    """The side with the highest value, or with the lowest if lower is better."""
    held_out: MetricReport
    """The metric of the chosen setting, measured on samples that were not used for the choice."""
    spread: float | None
    """The standard deviation of the metric over the settings; None if it cannot be computed."""
    notes: list[str] = []
    """Limitations of the value."""
    checkpoints: bool = False
    """Whether the settings are checkpoints: they differ only in the revision of the model."""


class RankFlip(msgspec.Struct, frozen=True, kw_only=True):
    """Two models whose order depends on the setting."""

    benchmark: str
    """The benchmark."""
    models: tuple[str, str]
    """The two models."""
    first_above: list[str]
    """The settings in which the first model is above the second."""
    second_above: list[str]
    """The settings in which the second model is above the first."""
    significant: bool
    """Whether each of the two models is significantly above the other in at least one setting, at
    the 5 % level."""


class Comparisons(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a comparison, as `snellen compare --json` prints it."""

    format: int
    """The version of the JSON format."""
    sides: list[Side]
    """The sides."""
    comparisons: list[Comparison]
    """The comparisons of pairs."""
    leaderboards: list[Leaderboard] = []
    """The leaderboard of each benchmark, unless there are only two sides in total."""
    best_of: list[BestOf] = []
    """For each model with several settings, the best setting."""
    rank_flips: list[RankFlip] = []
    """Pairs of models whose order depends on the setting."""
    tests: int = 0
    """The number of tests for which the p values of the first metrics are adjusted."""
    unusable: list[str] = []
    """The runs and files that are not compared, because they cannot be read or none of their
    samples counts."""
    notes: list[str] = []
    """Notes that apply to the whole comparison."""
