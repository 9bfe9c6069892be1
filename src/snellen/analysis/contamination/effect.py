"""Measures whether a run has higher scores on samples that a corpus contains than on other
samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from snellen import stats
from snellen.analysis.contamination._document import Effect
from snellen.analysis.contamination._read import BenchmarkContent
from snellen.analysis.contamination.search import SampleMatch
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.scoring import metric_report
from snellen.stats import Estimate
from snellen.store import Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

By = Literal["text", "picture", "both"]
CRITERIA: Mapping[By, Callable[[SampleMatch], bool]] = {
    "text": lambda match: match.text > 0,
    "picture": lambda match: match.picture > 0,
    "both": lambda match: match.both,
}


def effects(
    run: Run, benchmark: Benchmark, read: BenchmarkContent, matches: Mapping[int, SampleMatch]
) -> tuple[list[Effect], list[str]]:
    """For each kind of match, compare the run's headline scores on matched samples with its scores
    on all other samples. `matches` maps the indices of samples to their matches. Returns the
    effects, and notes on them.

    Raises:
        UsageError: the run has no headline score for any of the samples.
    """
    import numpy as np

    indices = {sample.id: index for index, sample in enumerate(read.samples)}
    scores: list[float] = []
    of: list[int] = []
    others = 0
    version = benchmark.scorings[benchmark.headline].version
    versions: set[int] = set()
    for row in run.scores():
        if row.scoring != benchmark.headline or row.score is None:
            continue
        index = indices.get(row.sample)
        if index is None:
            others += 1
            continue
        versions.add(row.version)
        scores.append(row.score / benchmark.scorings[row.scoring].best)
        of.append(index)
    if not scores:
        raise UsageError(
            f"{run.path} has no {benchmark.headline} score for a sample of {read.name}. Check that "
            f"the run is of this benchmark and split, and score it: `{run.command('score')}`."
        )
    notes = [
        f"{others:,} scores of {run.path} belong to samples that were not looked up, so they are "
        "left out of the means"
    ] * bool(others)
    if versions != {version}:
        notes.append(
            f"the scores of {run.path} are out of date: they were computed by version "
            f"{', '.join(map(str, sorted(versions)))} of {benchmark.headline}, whose current "
            f"version is {version}. `{run.command('score')}` scores the run again"
        )
    notes += run.notes
    names: dict[str, int] = {}
    cluster_of = [names.setdefault(sample.cluster, len(names)) for sample in read.samples]
    score, sample_indices = np.array(scores), np.array(of)
    cluster = np.array(cluster_of)[sample_indices]
    results = []
    for by, criterion in CRITERIA.items():
        which = np.zeros(len(read.samples), np.bool_)
        which[[index for index, match in matches.items() if criterion(match)]] = True
        results.append(_effect(by, score, cluster, which[sample_indices]))
    return results, notes


def _effect(
    by: By,
    score: NDArray[np.float64],
    cluster: NDArray[np.int64],
    is_match: NDArray[np.bool_],
) -> Effect:
    """Compare the scores of matched rows with those of other rows. All arrays are (n,)."""
    ours, theirs = (stats.mean(score[which], cluster[which]) for which in (is_match, ~is_match))
    return Effect(
        by=by,
        found=metric_report(ours),
        clean=metric_report(theirs),
        difference=metric_report(mean_difference(ours, theirs)),
    )


def mean_difference(matched: Estimate, clean: Estimate) -> Estimate:
    """The mean of matched samples minus the mean of clean samples, with Newcombe's interval. The
    interval is computed from the lower ends l and the upper ends u of the two means' intervals. A
    standard error is not used because it would be 0 if all matched samples are right, which is
    common.

        d - √((m_f - l_f)² + (u_c - m_c)²)  to  d + √((u_f - m_f)² + (m_c - l_c)²)

    The method is method 10 of Newcombe 1998, Statistics in Medicine 17, which Zou and Donner 2008,
    Statistics in Medicine 27, extended to any two intervals. If a cluster has both matched and
    clean samples, the interval is wider than necessary.
    """
    n = matched.n + clean.n
    if matched.value is None or clean.value is None:
        side = "contaminated" if matched.value is None else "clean"
        return Estimate(value=None, n=n, reason=f"no sample is {side}")
    value = matched.value - clean.value
    if matched.ci95 is None or clean.ci95 is None:
        return Estimate(value=value, n=n, reason=matched.reason or clean.reason)
    (low_f, high_f), (low_c, high_c) = matched.ci95, clean.ci95
    return Estimate(
        value=value,
        n=n,
        stderr=matched.stderr and clean.stderr and math.hypot(matched.stderr, clean.stderr),
        ci95=(
            value - math.hypot(matched.value - low_f, high_c - clean.value),
            value + math.hypot(high_f - matched.value, clean.value - low_c),
        ),
    )
