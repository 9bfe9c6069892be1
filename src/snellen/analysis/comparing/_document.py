"""What comparing gives: differences of pairs, standings of many, what the best of several is worth.

A difference is always b less a: the first one named is what the other is measured against.
"""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.metrics import Direction
from snellen.scoring import MetricReport


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One set of replies. `name` is its own among those of its benchmark: the model, with what else
    tells it apart; `where` the run's folder or the file; `n` its replies, by `replies` state.
    `notes` are what must be said with its value: that the run is partial, or no result."""

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
    """One metric of both sides on the paired samples alone, and b less a.

    `p` is two-sided, `adjusted` is Holm's over the tests that the document names. `detectable` is
    the smallest difference that so many samples show four times of five (power 0.8, level 0.05).
    `method` says how interval and p were found.
    """

    a: MetricReport
    b: MetricReport
    difference: MetricReport
    method: str
    p: float | None = None
    adjusted: float | None = None
    detectable: float | None = None


class Flips(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Samples that are right or wrong on both sides or on one; of scores of 0 and 1 with one reply
    each. `p` is McNemar's, exact; it takes samples for independent, and is None where they are
    not. The examples are right on that side alone."""

    both: int
    only_a: int
    only_b: int
    neither: int
    examples_a: list[str]
    examples_b: list[str]
    p: float | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two sides under one scoring; `a` and `b` are their names.

    `samples` are paired, in `clusters`. `settings` are the fields of their identities that differ.
    `breakdown` has the first metric for each category of each tag, `capabilities` the mean score
    for what samples ask of a model. Where no details were wanted, there is the first metric alone.
    `direction` says whether a higher or a lower value of the first metric is better, None where
    that is not known.
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
    """One side among several: its value on the samples that all have, its rank (1 is best), the
    ranks that it has in 95 % of resamples, and its groups: sides that share a letter do not differ
    significantly at 5 %, by Holm over all pairs.

    `rank` and `ranks` are None where it is not known whether a higher value is better. `group` is
    "" for all sides where some pair has no test.
    """

    name: str
    value: MetricReport
    rank: int | None
    ranks: tuple[int, int] | None
    group: str


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Several sides by the first metric of the headline scoring, on the samples that all have; the
    best first, or in the order of the sides where `direction` is None.

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
    """Several prompts or settings of one model on one split: the best of them looks better than it
    is, since chance took part in choosing it.

    `values` are by side; `best` is the highest, or the lowest where lower is better. `held_out` is
    what choosing so gives on samples that took no part in the choice; `spread` the standard
    deviation between settings.
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
    """Two models, each of which is above the other in some of the settings that both were asked
    in; `significant` says that each is so at 5 % in one of them."""

    benchmark: str
    models: tuple[str, str]
    first_above: list[str]
    second_above: list[str]
    significant: bool


class Comparisons(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `compare` gives and `--json` prints; p values are adjusted over `tests` of them."""

    format: int
    sides: list[Side]
    comparisons: list[Comparison]
    leaderboards: list[Leaderboard] = []
    best_of: list[BestOf] = []
    rank_flips: list[RankFlip] = []
    tests: int = 0
    notes: list[str] = []
