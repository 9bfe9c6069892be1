"""Statistical power of a benchmark: the smallest detectable difference, and the samples that a
given difference needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from snellen import metrics, stats
from snellen.analysis.comparing import MetricDifference
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.run import chosen, select
from snellen.run.compare_runs import compare
from snellen.stats import FEWEST_CLUSTERS

DISAGREE = (0.02, 0.05, 0.1, 0.2, 0.3)


class Detectable(msgspec.Struct, frozen=True, kw_only=True):
    """The differences that can be detected between two models that disagree on a given share of the
    samples."""

    disagree: float
    """The share of the samples on which one model is right and the other is not."""
    stderr: float
    """The standard error of their difference."""
    smallest: float | None
    """The smallest detectable difference; None if even the largest possible one is not
    detectable."""
    samples_needed: int | None = None
    """The samples that the requested difference needs; None if none was requested or none
    suffice."""
    clusters_needed: int | None = None
    """The clusters that it needs; None like `samples_needed`."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """Two sets of replies, compared by a metric."""

    a: str
    """The first set."""
    b: str
    """The second set."""
    metric: str
    """The metric."""
    unit: str
    """Its unit."""
    samples: int
    """The shared samples."""
    clusters: int
    """The clusters of these samples."""
    difference: float
    """b minus a, in the unit."""
    stderr: float
    """The standard error of the difference."""
    smallest: float
    """The smallest difference that these samples detect."""
    smallest_of_all: float
    """The smallest difference that all samples of the benchmark would detect."""
    disagree: float | None
    """The share of the samples on which they disagree; None if scores are not 0 or 1."""
    samples_needed: int | None = None
    """The samples that the requested difference needs; None if none was requested."""


class Power(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The differences that a benchmark can detect. Differences are fractions, for scores from 0 to
    1."""

    benchmark: str
    """The benchmark."""
    samples: int
    """The samples with a public answer."""
    hidden: int
    """The samples without a public answer."""
    clusters: int
    """The clusters of `samples`."""
    cluster_size: float
    """The mean size of a sample's cluster."""
    icc: float
    """The assumed correlation of scores within a cluster."""
    design_effect: float
    """`samples` are worth `samples / design_effect` independent samples."""
    accuracy: float
    """The assumed accuracy of both models."""
    unrelated: float
    """The share of the samples on which two models of this accuracy disagree if their errors are
    independent."""
    power: float
    """The probability of detecting the difference."""
    level: float
    """The level of the two-sided test."""
    rows: list[Detectable]
    """A row for each assumed rate of disagreement."""
    difference: float | None = None
    """The requested difference; None if none was requested."""
    observed: Observed | None = None
    """The figures of two given runs; None without runs."""
    notes: list[str] = []
    """What limits the figures."""


def power(
    benchmark: Benchmark,
    *,
    runs: Sequence[str | Path] = (),
    limit: int | None = None,
    accuracy: float = 0.7,
    disagree: Sequence[float] = (),
    icc: float = 0.0,
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> Power:
    """The differences between two models that a benchmark, or its first `limit` rows, can detect
    with this `power` at this `level`.

    Both models answer the same samples and `disagree` on a fraction of them; without it, typical
    fractions are used. Their difference is tested as in `stats.detectable_share`, and clusters have
    the design effect

        1 + (m - 1) icc        m = Σ m_g² / Σ m_g over clusters of m_g samples

    (Kish 1965, Survey Sampling, 5.4; Eldridge, Ashby and Kerry 2006, International Journal of
    Epidemiology 35, for clusters of different sizes), where `icc` is
    the correlation of differences within a cluster. Scores between 0 and 1 vary less than scores of
    0 or 1, so for them the results are upper bounds. If `runs` gives two runs of the benchmark,
    their observed standard error is used instead and scaled with the root of the sample size.

    Raises:
        SnellenError: the rows cannot be read; the runs are not two of this benchmark.
        UsageError: a fraction is not between 0 and 1, or two models cannot disagree so often.
    """
    assumed = _Assumptions(
        accuracy=accuracy,
        disagree=disagree,
        icc=icc,
        difference=difference,
        power=power,
        level=level,
    )
    if len(runs) not in (0, 2):
        raise UsageError(f"two runs are compared, not {len(runs)}.")
    assumed.check(is_share=not runs)
    return _power(benchmark, _samples(benchmark, limit), assumed, runs)


@dataclass(frozen=True, kw_only=True)
class _Assumptions:
    """The assumptions about two models, and the required certainty of detection."""

    accuracy: float
    disagree: Sequence[float]
    icc: float
    difference: float | None
    power: float
    level: float

    @property
    def unrelated(self) -> float:
        """How often they disagree if their errors are independent."""
        return 2 * self.accuracy * (1 - self.accuracy)

    @property
    def disagreements(self) -> list[float]:
        """The fractions to report: the caller's, or typical ones."""
        usual = {*(share for share in DISAGREE if share < self.unrelated), self.unrelated}
        return sorted({*self.disagree} or usual)

    def check(self, *, is_share: bool) -> None:
        """Check all bounds; the difference `is_share` unless two runs give its unit.

        Raises:
            UsageError: a value is beyond its bounds, or two models cannot disagree so often.
        """
        shares = [("accuracy", self.accuracy), ("power", self.power), ("level", self.level)]
        shares += [("disagree", share) for share in self.disagree]
        if self.difference is not None and is_share:
            shares.append(("difference", self.difference))
        for name, share in shares:
            if not 0 < share < 1:
                raise UsageError(f"{name} lies between 0 and 1, such as 0.05; not {share}.")
        if self.power <= self.level:
            raise UsageError(
                f"power {self.power} is no more than level {self.level}: what chance alone finds."
            )
        if not 0 <= self.icc <= 1:
            raise UsageError(f"icc lies between 0 and 1; not {self.icc}.")
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise UsageError(f"difference is above 0, in the metric's unit; not {self.difference}.")
        most = 2 * min(self.accuracy, 1 - self.accuracy)
        for share in self.disagree:
            if share > most + 1e-12:
                raise UsageError(
                    f"two models that are right in {100 * self.accuracy:.0f} % cannot disagree on "
                    f"more than {100 * most:.0f} % of the samples; disagree is {100 * share:.0f} %."
                )


@dataclass(frozen=True, kw_only=True)
class _SampleCounts:
    """The numbers of a benchmark's samples and clusters."""

    known: int
    """Samples with a known answer."""
    hidden: int
    """Other samples."""
    clusters: int
    """Clusters of the samples with a known answer."""
    cluster_size: float
    """The mean size of the cluster of such a sample."""

    def effect(self, icc: float) -> float:
        """The design effect."""
        return 1 + (self.cluster_size - 1) * icc


def _samples(benchmark: Benchmark, limit: int | None) -> _SampleCounts:
    """Count the samples of the first `limit` rows.

    Raises:
        UsageError: no sample has a known answer.
    """
    selection = select(benchmark, benchmark.data.facts().rows, limit=limit, sample=None, seed=0)
    sizes: Counter[str] = Counter()
    hidden = 0
    for row in chosen(benchmark, selection):
        sample = benchmark.read(row)
        if sample.hidden:
            hidden += 1
        else:
            sizes[benchmark.cluster_by(sample) if benchmark.cluster_by else sample.id] += 1
    known = sizes.total()
    if not known:
        raise UsageError(
            f"{benchmark.name}: the answers to all {hidden:,} samples are hidden, so nothing here "
            "can tell two models apart. Is there a split with answers?"
        )
    return _SampleCounts(
        known=known,
        hidden=hidden,
        clusters=len(sizes),
        cluster_size=sum(size**2 for size in sizes.values()) / known,
    )


def _power(
    benchmark: Benchmark, samples: _SampleCounts, assumed: _Assumptions, runs: Sequence[str | Path]
) -> Power:
    detectable = [_detectable(samples, assumed, share) for share in assumed.disagreements]
    return Power(
        benchmark=benchmark.name,
        samples=samples.known,
        hidden=samples.hidden,
        clusters=samples.clusters,
        cluster_size=samples.cluster_size,
        icc=assumed.icc,
        design_effect=samples.effect(assumed.icc),
        accuracy=assumed.accuracy,
        unrelated=assumed.unrelated,
        power=assumed.power,
        level=assumed.level,
        rows=[] if runs else detectable,
        difference=assumed.difference,
        observed=_observed(benchmark, runs, samples, assumed) if runs else None,
        notes=[*_notes(benchmark, samples, assumed.icc, has_runs=bool(runs))],
    )


def _notes(
    benchmark: Benchmark, samples: _SampleCounts, icc: float, *, has_runs: bool
) -> Iterator[str]:
    if samples.hidden:
        yield f"{samples.hidden:,} more samples have a hidden answer, and tell nothing here"
    if samples.clusters < FEWEST_CLUSTERS:
        yield (
            f"{samples.clusters} independent clusters: no interval is given for fewer than "
            f"{FEWEST_CLUSTERS}, so no difference is found whatever its size"
        )
    elif samples.clusters < samples.known and not icc and not has_runs:
        yield (
            f"samples share {samples.clusters:,} clusters: with --icc above 0 differences must be "
            "larger"
        )
    name, metric = next(iter(benchmark.scorings[benchmark.headline].metrics.items()))
    if not metrics.is_mean(metric) and not has_runs:
        yield (
            f"this is for the mean score; the headline metric, {name}, may be another one: --from "
            "takes its standard error from two runs"
        )


def _detectable(samples: _SampleCounts, assumed: _Assumptions, disagree: float) -> Detectable:
    power, level, difference = assumed.power, assumed.level, assumed.difference
    effect = samples.effect(assumed.icc)
    independent = samples.known / effect
    smallest = None
    if samples.clusters >= FEWEST_CLUSTERS:
        smallest = stats.detectable_share(independent, disagree, power, level)
    pairs = difference and stats.needed_pairs(difference, disagree, power, level)
    needed = None
    if pairs:
        # With fewer clusters there is no test, even for a large difference.
        fewest = FEWEST_CLUSTERS * samples.known / samples.clusters
        needed = math.ceil(max(pairs * effect, fewest))
    return Detectable(
        disagree=disagree,
        stderr=math.sqrt(disagree / independent),
        smallest=smallest,
        samples_needed=needed,
        clusters_needed=None
        if needed is None
        else math.ceil(needed * samples.clusters / samples.known),
    )


def _observed(
    benchmark: Benchmark, runs: Sequence[str | Path], samples: _SampleCounts, assumed: _Assumptions
) -> Observed:
    """The first metric of two runs, compared."""
    mine = None if benchmark.provenance.from_catalog else benchmark
    document = compare(*runs, benchmark=mine).comparisons
    if len(document.comparisons) != 1:
        raise UsageError(
            f"--from takes two runs; {runs[0]} and {runs[1]} hold {len(document.sides)}."
        )
    pair = document.comparisons[0]
    theirs = document.sides[0].identity["benchmark"]
    if theirs != benchmark.name:
        raise UsageError(
            f"{runs[0]} is of {theirs}, not of {benchmark.name}: name that benchmark, or take runs "
            "of this one."
        )
    metric, compared = next(iter(pair.metrics.items()))
    stderr = _stderr(compared, runs)
    smallest = stats.detectable(stderr, assumed.power, assumed.level)
    assert compared.difference.value is not None
    flips = pair.flips
    needed = None
    if assumed.difference is not None:
        share = max((smallest / assumed.difference) ** 2, FEWEST_CLUSTERS / pair.clusters)
        needed = math.ceil(pair.samples * share)
    return Observed(
        a=pair.a,
        b=pair.b,
        metric=metric,
        unit=compared.difference.unit,
        samples=pair.samples,
        clusters=pair.clusters,
        difference=compared.difference.value,
        stderr=stderr,
        smallest=smallest,
        smallest_of_all=smallest * math.sqrt(pair.samples / samples.known),
        disagree=None if flips is None else (flips.only_a + flips.only_b) / pair.samples,
        samples_needed=needed,
    )


def _stderr(compared: MetricDifference, runs: Sequence[str | Path]) -> float:
    difference = compared.difference
    if difference.stderr is None:
        raise UsageError(
            f"{runs[0]} and {runs[1]} have no standard error to go by: {difference.reason}."
        )
    return difference.stderr
