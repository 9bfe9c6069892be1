"""What a benchmark's samples can show: the smallest difference that is found, and how many samples
another takes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
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
    """Two models that disagree on this share of the samples (one is right, the other is not): the
    standard error of their difference, the smallest one that is found (None: not even if the same
    one is right in all of them), and how many samples and clusters find the one that was asked for.
    """

    disagree: float
    stderr: float
    smallest: float | None
    samples_needed: int | None = None
    clusters_needed: int | None = None


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """Two sets of replies, compared by a metric: the standard error of their difference on the
    samples that both have, and what it comes to on as many as the benchmark has."""

    a: str
    b: str
    metric: str
    unit: str
    samples: int
    clusters: int
    difference: float
    stderr: float
    smallest: float
    smallest_of_all: float
    disagree: float | None
    samples_needed: int | None = None


class Power(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What differences the samples of a benchmark can show.

    `samples` have a known answer, in `clusters`; of a sample's cluster there are `cluster_size` on
    average, so that all are worth `samples` / `design_effect` independent ones. `unrelated` is how
    often two models of this accuracy disagree whose errors have nothing in common. A difference is
    a share, of scores from 0 to 1.
    """

    benchmark: str
    samples: int
    hidden: int
    clusters: int
    cluster_size: float
    icc: float
    design_effect: float
    accuracy: float
    unrelated: float
    power: float
    level: float
    rows: list[Detectable]
    difference: float | None = None
    observed: Observed | None = None
    notes: list[str] = []


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
    """What differences between two models the samples of a benchmark, or the first `limit` of its
    rows, can show with this `power` at this `level`.

    Both models answer the same samples and `disagree` on a share of them, some shares unless any
    are given. Their difference is tested as `stats.detectable_share` says, where clusters cost the
    design effect

        1 + (m - 1) icc        m = Σ m_g² / Σ m_g over clusters of m_g samples

    (Kish 1965, Survey Sampling, 5.4; Eldridge, Ashby and Kerry 2006, International Journal of
    Epidemiology 35, for clusters of different sizes), `icc` being how alike the differences within
    a cluster are. Scores between 0 and 1 scatter less than right and wrong ones do: what is said of
    these is then an upper bound. `runs` are two runs of the benchmark, whose observed standard
    error is taken to samples such as theirs instead: it shrinks with the root of their number.

    Raises:
        SnellenError: the rows cannot be read; the runs are not two of this benchmark.
        UsageError: a share is none, or two models cannot disagree so often.
    """
    shares = {"accuracy": accuracy, "power": power, "level": level}
    shares |= {f"disagree {place}": one for place, one in enumerate(disagree, 1)}
    if difference is not None and not runs:
        shares["difference"] = difference
    for name, share in shares.items():
        if not 0 < share < 1:
            raise UsageError(f"{name.split()[0]} lies between 0 and 1, such as 0.05; not {share}.")
    if power <= level:
        raise UsageError(f"power {power} is no more than level {level}: what chance alone finds.")
    if not 0 <= icc <= 1:
        raise UsageError(f"icc lies between 0 and 1; not {icc}.")
    if difference is not None and not (0 < difference < math.inf):
        raise UsageError(f"difference is above 0, in the metric's unit; not {difference}.")
    if len(runs) not in (0, 2):
        raise UsageError(f"two runs are compared, not {len(runs)}.")
    most = 2 * min(accuracy, 1 - accuracy)
    for one in disagree:
        if one > most + 1e-12:
            raise UsageError(
                f"two models that are right in {100 * accuracy:.0f} % cannot disagree on more than "
                f"{100 * most:.0f} % of the samples; disagree is {100 * one:.0f} %."
            )
    sizes, hidden = _sizes(benchmark, limit)
    n, notes = sum(sizes), []
    if not n:
        raise UsageError(
            f"{benchmark.name}: the answers to all {hidden:,} samples are hidden, so nothing here "
            "can tell two models apart. Is there a split with answers?"
        )
    seen = sum(size**2 for size in sizes) / n
    effect = 1 + (seen - 1) * icc
    unrelated = 2 * accuracy * (1 - accuracy)
    asked = sorted({*disagree}) or sorted({*(x for x in DISAGREE if x < unrelated), unrelated})
    rows = [_detectable(n, len(sizes), effect, one, difference, power, level) for one in asked]
    if hidden:
        notes.append(f"{hidden:,} more samples have a hidden answer, and tell nothing here")
    if len(sizes) < FEWEST_CLUSTERS:
        notes.append(
            f"{len(sizes)} independent clusters: no interval is given for fewer than "
            f"{FEWEST_CLUSTERS}, so no difference is found whatever its size"
        )
    elif len(sizes) < n and not icc and not runs:
        notes.append(
            f"samples share {len(sizes):,} clusters: with --icc above 0 differences must be larger"
        )
    first, metric = next(iter(benchmark.scorings[benchmark.headline].metrics.items()))
    if not metrics.is_mean(metric) and not runs:
        notes.append(
            f"this is for the mean score; the headline metric, {first}, may be another one: "
            "--from takes its standard error from two runs"
        )
    return Power(
        benchmark=benchmark.name,
        samples=n,
        hidden=hidden,
        clusters=len(sizes),
        cluster_size=seen,
        icc=icc,
        design_effect=effect,
        accuracy=accuracy,
        unrelated=unrelated,
        power=power,
        level=level,
        rows=[] if runs else rows,
        difference=difference,
        observed=_observed(benchmark, runs, n, difference, power, level) if runs else None,
        notes=notes,
    )


def _sizes(benchmark: Benchmark, limit: int | None) -> tuple[list[int], int]:
    """How many samples with a known answer each cluster has, and how many others there are."""
    selection = select(benchmark, benchmark.data.facts().rows, limit=limit, sample=None, seed=0)
    sizes: Counter[str] = Counter()
    hidden = 0
    for row in chosen(benchmark, selection):
        sample = benchmark.read(row)
        if sample.hidden:
            hidden += 1
        else:
            sizes[benchmark.cluster_by(sample) if benchmark.cluster_by else sample.id] += 1
    return [*sizes.values()], hidden


def _detectable(
    n: int,
    clusters: int,
    effect: float,
    disagree: float,
    difference: float | None,
    power: float,
    level: float,
) -> Detectable:
    worth = n / effect
    enough = clusters >= FEWEST_CLUSTERS
    pairs = difference and stats.needed_pairs(difference, disagree, power, level)
    # Nothing is tested on fewer clusters, however large the difference.
    samples = math.ceil(max(pairs * effect, FEWEST_CLUSTERS * n / clusters)) if pairs else None
    return Detectable(
        disagree=disagree,
        stderr=math.sqrt(disagree / worth),
        smallest=stats.detectable_share(worth, disagree, power, level) if enough else None,
        samples_needed=samples,
        clusters_needed=None if samples is None else math.ceil(samples * clusters / n),
    )


def _observed(
    benchmark: Benchmark,
    runs: Sequence[str | Path],
    n: int,
    difference: float | None,
    power: float,
    level: float,
) -> Observed:
    """The first metric of two runs, compared."""
    mine = None if benchmark.provenance.from_catalog else benchmark
    document = compare(*runs, benchmark=mine).comparisons
    if len(document.comparisons) != 1:
        raise UsageError(
            f"--from takes two runs; {runs[0]} and {runs[1]} hold {len(document.sides)}."
        )
    found = document.comparisons[0]
    theirs = document.sides[0].identity["benchmark"]
    if theirs != benchmark.name:
        raise UsageError(
            f"{runs[0]} is of {theirs}, not of {benchmark.name}: name that benchmark, or take runs "
            "of this one."
        )
    metric, one = next(iter(found.metrics.items()))
    stderr = _stderr(one, runs)
    smallest = stats.detectable(stderr, power, level)
    assert one.difference.value is not None
    return Observed(
        a=found.a,
        b=found.b,
        metric=metric,
        unit=one.difference.unit,
        samples=found.samples,
        clusters=found.clusters,
        difference=one.difference.value,
        stderr=stderr,
        smallest=smallest,
        smallest_of_all=smallest * math.sqrt(found.samples / n),
        disagree=None
        if found.flips is None
        else (found.flips.only_a + found.flips.only_b) / found.samples,
        samples_needed=None
        if difference is None
        else math.ceil(
            found.samples * max((smallest / difference) ** 2, FEWEST_CLUSTERS / found.clusters)
        ),
    )


def _stderr(one: MetricDifference, runs: Sequence[str | Path]) -> float:
    if one.difference.stderr is None:
        raise UsageError(
            f"{runs[0]} and {runs[1]} have no standard error to go by: {one.difference.reason}."
        )
    return one.difference.stderr
