"""The document of a comparison: differences of pairs, standings of several sides, and the value of
the best of several settings.

A difference is always b minus a: the first side is the one that the other is compared with.
"""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.metrics import Direction
from snellen.scoring import MetricReport


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One set of replies. `name` is unique among the sides of its benchmark: the model, with what
    distinguishes it. `where` is the run's folder or the file. `n` is the number of replies,
    `replies` their number by state. `notes` are caveats of its value, such as that the run is
    partial."""

    name: str
    benchmark: str
    model: str
    where: str
    n: int
    replies: dict[str, int]
    identity: dict[str, Any]
    notes: list[str] = []


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that are in no difference, and why."""

    why: str
    n: int
    examples: list[str]


class MetricDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One metric of both sides, on the paired samples only, and b minus a.

    `p` is two-sided. `adjusted` is p by Holm's method over the tests that the document names.
    `detectable` is the smallest difference that this number of samples detects with power 0.8 at
    level 0.05. `method` says how interval and p were computed.
    """

    a: MetricReport
    b: MetricReport
    difference: MetricReport
    method: str
    p: float | None = None
    adjusted: float | None = None
    detectable: float | None = None


class Flips(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of samples that are right on both sides, on one, or on neither, for scores of 0 and 1
    with one reply each. `p` is McNemar's exact p. It assumes independent samples, and is None if
    they are not. The examples are right on that side only."""

    both: int
    only_a: int
    only_b: int
    neither: int
    examples_a: list[str]
    examples_b: list[str]
    p: float | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two sides under one scoring. `a` and `b` are their names.

    `samples` is the number of paired samples, in `clusters`. `settings` are the fields of the
    identities that differ. `breakdown` has the first metric for each category of each tag,
    `capabilities` the mean score for each capability. Without details, there is only the first
    metric. `direction` says whether a higher or a lower value of the first metric is better, None
    if unknown.
    """

    benchmark: str
    scoring: str
    a: str
    b: str
    samples: int
    clusters: int
    unpaired: list[Unpaired]
    settings: list[str]
    metrics: dict[str, MetricDifference]
    breakdown: dict[str, dict[str, MetricDifference]]
    capabilities: dict[str, MetricDifference] = {}
    flips: Flips | None = None
    notes: list[str] = []
    direction: Direction | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One of several sides: its value on the samples that all sides have, its rank (1 is best), the
    interval of ranks that it has in 95 % of resamples, and its group. Sides that share a letter do
    not differ significantly at 5 %, by Holm's method over all pairs.

    `rank` and `ranks` are None if it is unknown whether a higher value is better. `group` is "" for
    all sides if some pair has no test.
    """

    name: str
    value: MetricReport
    rank: int | None
    ranks: tuple[int, int] | None
    group: str


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several sides by the first metric of the headline scoring, on the samples that all have. The
    best is first; if `direction` is None, sides keep their order.

    `direction` says whether a higher or a lower value is better.
    """

    benchmark: str
    scoring: str
    metric: str
    samples: int
    clusters: int
    standings: list[Standing]
    notes: list[str] = []
    direction: Direction | None = None

    @property
    def is_ranked(self) -> bool:
        """Whether the sides have ranks."""
        return self.direction is not None

    @property
    def is_tested(self) -> bool:
        """Whether every pair has a test, so that the sides have groups."""
        return all(standing.group for standing in self.standings)


class BestOf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several prompts or settings of one model on one split. The best of them looks better than it
    is, since chance took part in choosing it.

    `values` are by side. `best` is the highest, or the lowest if lower is better. `held_out` is the
    value of this choice on samples that were not used for it. `spread` is the standard deviation
    between settings.
    """

    benchmark: str
    scoring: str
    metric: str
    model: str
    values: dict[str, MetricReport]
    best: str
    held_out: MetricReport
    spread: float | None
    notes: list[str] = []


class RankFlip(msgspec.Struct, frozen=True, kw_only=True):
    """Two models, each of which is above the other in some of their common settings. `significant`
    says that each is so at 5 % in at least one setting."""

    benchmark: str
    models: tuple[str, str]
    first_above: list[str]
    second_above: list[str]
    significant: bool


class Comparisons(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document that `compare` returns and `--json` prints. p values are adjusted over `tests`
    of them."""

    format: int
    sides: list[Side]
    comparisons: list[Comparison]
    leaderboards: list[Leaderboard] = []
    best_of: list[BestOf] = []
    rank_flips: list[RankFlip] = []
    tests: int = 0
    notes: list[str] = []
