"""The statistical power of a benchmark: the smallest detectable difference, and the number of
samples that a given difference needs."""

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
    """The difference that can be detected between two models that disagree on a given share of the
    samples."""

    disagree: float
    """The share of the samples on which one model is right and the other is not."""
    stderr: float
    """The standard error of the difference between the two models."""
    smallest: float | None
    """The smallest detectable difference; None if even the largest possible difference is not
    detectable."""
    samples_needed: int | None = None
    """The number of samples that the requested difference needs; None if none was requested or no
    number suffices."""
    clusters_needed: int | None = None
    """The number of clusters that `samples_needed` samples form; None if `samples_needed` is
    None."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of two sets of replies under one metric."""

    a: str
    """The first set."""
    b: str
    """The second set."""
    metric: str
    """The metric."""
    unit: str
    """The unit of the metric."""
    samples: int
    """The number of shared samples."""
    clusters: int
    """The number of clusters of the shared samples."""
    difference: float
    """The value of b minus the value of a, in `unit`."""
    stderr: float
    """The standard error of the difference."""
    smallest: float
    """The smallest difference that can be detected with the shared samples."""
    smallest_of_all: float
    """The smallest difference that could be detected with all samples of the benchmark."""
    disagree: float | None
    """The share of the samples on which the two sets disagree; None if scores are not all 0 or
    1."""
    samples_needed: int | None = None
    """The number of samples that the requested difference needs; None if none was requested."""


class Power(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The differences that a benchmark can detect. Differences are fractions, as for scores from 0
    to 1."""

    benchmark: str
    """The benchmark."""
    samples: int
    """The number of samples with a public answer."""
    hidden: int
    """The number of samples without a public answer."""
    clusters: int
    """The number of clusters of `samples`."""
    cluster_size: float
    """The size of a sample's cluster, averaged over samples."""
    icc: float
    """The assumed correlation of scores within a cluster."""
    design_effect: float
    """The design effect: `samples` are equivalent to `samples / design_effect` independent
    samples."""
    accuracy: float
    """The assumed accuracy of both models."""
    unrelated: float
    """The share of the samples on which two models of this accuracy disagree if their errors are
    independent."""
    power: float
    """The probability of detecting the difference."""
    level: float
    """The significance level of the two-sided test."""
    rows: list[Detectable]
    """One row for each assumed rate of disagreement."""
    difference: float | None = None
    """The requested difference; None if none was requested."""
    observed: Observed | None = None
    """The figures for two given runs; None if no runs were given."""
    notes: list[str] = []
    """Notes on the limitations of these figures."""


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
    """Compute the differences between two models that a benchmark, or its first `limit` rows, can
    detect with this `power` at this significance `level`.

    Both models answer the same samples and disagree on a fraction of them. `disagree` lists
    fractions to assume; if it is empty, typical fractions are used. The difference is tested as in
    `stats.detectable_share`, and clusters have the design effect

        1 + (m - 1) icc        m = Σ m_g² / Σ m_g over clusters of m_g samples

    (Kish 1965, Survey Sampling, 5.4; Eldridge, Ashby and Kerry 2006, International Journal of
    Epidemiology 35, for clusters of different sizes), where `icc` is the correlation of differences
    within a cluster. Scores between 0 and 1 vary less than scores of 0 or 1, so the results are
    upper bounds for such scores. If `runs` contains two runs of the benchmark, their observed
    standard error is used instead, scaled with the square root of the sample size.

    Raises:
        SnellenError: the rows cannot be read, or the runs are not two runs of this benchmark.
        UsageError: a fraction is not between 0 and 1, or models of this accuracy cannot disagree on
            such a fraction.
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
        raise UsageError(f"runs must be two runs, not {len(runs)}.")
    assumed.check(is_share=not runs)
    return _power(benchmark, _samples(benchmark, limit), assumed, runs)


@dataclass(frozen=True, kw_only=True)
class _Assumptions:
    """The assumptions about two models, and the required power and significance level."""

    accuracy: float
    disagree: Sequence[float]
    icc: float
    difference: float | None
    power: float
    level: float

    @property
    def unrelated(self) -> float:
        """The share of the samples on which the models disagree if their errors are independent."""
        return 2 * self.accuracy * (1 - self.accuracy)

    @property
    def disagreements(self) -> list[float]:
        """The fractions of disagreement to report: the caller's fractions, or else typical
        fractions."""
        usual = {*(share for share in DISAGREE if share < self.unrelated), self.unrelated}
        return sorted({*self.disagree} or usual)

    def check(self, *, is_share: bool) -> None:
        """Check that all values are within their bounds. `is_share` means that the requested
        difference is a fraction. Otherwise, the difference is in the unit of the metric of the two
        runs.

        Raises:
            UsageError: a value is out of bounds, or models of this accuracy cannot disagree on such
                a fraction.
        """
        shares = [("accuracy", self.accuracy), ("power", self.power), ("level", self.level)]
        shares += [("disagree", share) for share in self.disagree]
        if self.difference is not None and is_share:
            shares.append(("difference", self.difference))
        for name, share in shares:
            if not 0 < share < 1:
                raise UsageError(f"{name} must be between 0 and 1, such as 0.05, not {share}.")
        if self.power <= self.level:
            raise UsageError(
                f"power must be above level: {self.power} is not above {self.level}. A "
                "power equal to level is reached by chance alone."
            )
        if not 0 <= self.icc <= 1:
            raise UsageError(f"icc must be between 0 and 1, not {self.icc}.")
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise UsageError(
                f"difference must be above 0, in the metric's unit, not {self.difference}."
            )
        most = 2 * min(self.accuracy, 1 - self.accuracy)
        for share in self.disagree:
            if share > most + 1e-12:
                raise UsageError(
                    f"two models that are right on {100 * self.accuracy:.0f} % of the samples can "
                    f"disagree on at most {100 * most:.0f} % of them, but disagree is "
                    f"{100 * share:.0f} %."
                )


@dataclass(frozen=True, kw_only=True)
class _SampleCounts:
    """The numbers of samples and clusters of a benchmark."""

    known: int
    """The number of samples with a known answer."""
    hidden: int
    """The number of samples without a known answer."""
    clusters: int
    """The number of clusters of the samples with a known answer."""
    cluster_size: float
    """The size of a sample's cluster, averaged over the samples with a known answer."""

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
            f"{benchmark.name}: the answers to all {hidden:,} samples are hidden, so no difference "
            "between models can be detected. Use a split with public answers."
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
        yield f"{samples.hidden:,} more samples have a hidden answer and are not counted"
    if samples.clusters < FEWEST_CLUSTERS:
        yield (
            f"there are only {samples.clusters} independent clusters. With fewer than "
            f"{FEWEST_CLUSTERS}, no interval is computed, so a difference of any size goes "
            "undetected"
        )
    elif samples.clusters < samples.known and not icc and not has_runs:
        yield (
            f"the samples form only {samples.clusters:,} clusters. With --icc above 0, only larger "
            "differences can be detected"
        )
    name, metric = next(iter(benchmark.scorings[benchmark.headline].metrics.items()))
    if not metrics.is_mean(metric) and not has_runs:
        yield (
            f"the figures are for the mean score, and those for the headline metric, {name}, may "
            "differ. With --from, its standard error is taken from two runs"
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
        # With fewer clusters, no difference is tested, however large it is.
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
    """Compare the first metric of two runs."""
    mine = None if benchmark.provenance.from_catalog else benchmark
    document = compare(*runs, benchmark=mine).comparisons
    if len(document.comparisons) != 1:
        raise UsageError(
            f"--from needs two runs, but {runs[0]} and {runs[1]} contain {len(document.sides)}."
        )
    pair = document.comparisons[0]
    theirs = document.sides[0].identity["benchmark"]
    if theirs != benchmark.name:
        raise UsageError(
            f"{runs[0]} is a run of {theirs}, not of {benchmark.name}. Name the benchmark of "
            "the runs, or use other runs."
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
            f"the difference between {runs[0]} and {runs[1]} has no standard error: "
            f"{difference.reason}."
        )
    return difference.stderr
