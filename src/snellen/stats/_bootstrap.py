"""Bootstrap intervals of aggregates, computed by resampling clusters.

scipy's bootstrap is not used, since it resamples rows, not clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, too_few
from snellen.stats._quantiles import t_quantile
from snellen.stats._sums import Sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Aggregate = Callable[[NDArray[np.float64]], NDArray[np.float64]]

MOST_UNDEFINED = 0.05
"""The maximum share of undefined resamples. If the share is larger, there is no interval."""
BLOCK = 1 << 20
"""The maximum number of draws whose totals are computed at the same time."""
PIECE = 1 << 16
"""The maximum number of draws that are kept in memory while their clusters are counted."""


def bootstrap_sums(
    sums: NDArray[np.float64],
    aggregate: Aggregate,
    *,
    n: int,
    unit: str = "fraction",
    seed: int = 0,
    resamples: int = 10_000,
    clusters: NDArray[np.integer[Any]] | None = None,
) -> Estimate:
    """Estimate an aggregate that is a function of sums over clusters, such as F1 or an average of
    averages.

    `sums` (G, k) has one row per cluster. `aggregate` maps totals (R, k) to values (R,), which are
    nan where the aggregate is undefined. `n` is the number of samples that the sums cover. The
    interval is computed as in `bootstrap`, but hundreds of times faster. The interval does not
    depend on the order or the numbering of the clusters. `clusters` (G,) contains the labels of the
    clusters. If labels are given, `difference` can compare the estimate with another estimate.
    """
    import numpy as np

    # Clusters with equal sums are interchangeable. Sorting removes any trace of their order.
    kinds, multiples = np.unique(sums, axis=0, return_counts=True)

    def resampled() -> NDArray[np.float64]:
        return np.concatenate(
            [_values(aggregate, totals) for totals in _totals(kinds, multiples, resamples, seed)]
        )

    def jackknife() -> NDArray[np.float64]:
        return np.repeat(_values(aggregate, total - kinds), multiples)

    total = multiples.astype(np.float64)[np.newaxis] @ kinds  # independent of the order of clusters
    value = float(_values(aggregate, total)[0]) if n else math.nan
    estimate = _estimate(value, len(sums), resampled, jackknife, n=n, unit=unit)
    if clusters is None:
        return estimate
    return replace(estimate, sums=Sums(cluster=clusters, sums=sums, aggregate=aggregate))


def totals_drawn(
    sums: NDArray[np.float64], resamples: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Yield totals of clusters that are drawn with replacement from `sums` (G, k), in blocks
    (block, k) that have `resamples` rows in total."""
    import numpy as np

    kinds, multiples = np.unique(sums, axis=0, return_counts=True)
    yield from _totals(kinds, multiples, resamples, seed)


def _totals(
    kinds: NDArray[np.float64], multiples: NDArray[np.intp], resamples: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    import numpy as np

    rng = np.random.default_rng(seed)
    kind_of = np.repeat(np.arange(len(kinds)), multiples)
    rows = min(resamples, max(1, BLOCK // len(kind_of)))
    counts = np.empty((rows, len(kinds)))
    for start in range(0, resamples, rows):
        size, counted = min(rows, resamples - start), 0
        for drawn in _draws(rng, len(kind_of), size, most=PIECE):
            cells = kind_of[drawn]
            cells += np.arange(len(drawn))[:, np.newaxis] * len(kinds)
            of_piece = np.bincount(cells.ravel(), minlength=len(drawn) * len(kinds))
            counts[counted : counted + len(drawn)] = of_piece.reshape(-1, len(kinds))
            counted += len(drawn)
        yield counts[:size] @ kinds


def _values(aggregate: Aggregate, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return aggregate(totals)


def bootstrap(
    aggregate: Callable[[NDArray[np.intp]], float | None],
    cluster: NDArray[np.integer[Any]],
    *,
    unit: str = "fraction",
    seed: int = 0,
    resamples: int = 1_000,
) -> Estimate:
    """Estimate any aggregate of rows, with an interval from resampling whole clusters.

    `aggregate` maps row indices to a value, or to None or nan if the aggregate is undefined. If a
    cluster is drawn twice, its rows occur twice. `aggregate` is called once for each resample and
    once for each cluster. Use `bootstrap_sums` wherever possible, since it is faster.
    `bootstrap_sums` is required for an aggregate that groups rows by cluster (such as "both
    questions about an image are right"), because `bootstrap` would merge a cluster that is drawn
    twice into a single group.

    The interval is BCa (Efron 1987). If there are few clusters, the interval is widened by
    adjusting its levels, as Hesterberg 2015 does for the percentile interval. `stderr` is
    √(G/(G-1)) times the standard deviation of the resamples. Undefined resamples are left out. If
    more than 5 % of resamples are undefined, or if the aggregate is undefined when one of the
    clusters is left out, there is no interval, and `reason` says why.
    """
    import numpy as np

    n = len(cluster)
    _, codes = np.unique(cluster, return_inverse=True)
    by_cluster = np.argsort(codes, kind="stable")
    parts = np.split(by_cluster, np.cumsum(np.bincount(codes))[:-1]) if n else []
    n_clusters = len(parts)

    def value_of(rows: NDArray[np.intp]) -> float:
        result = aggregate(rows)
        return math.nan if result is None else result

    def resampled() -> NDArray[np.float64]:
        return np.array(
            [
                value_of(np.concatenate([parts[g] for g in resample]))
                for drawn in _draws(np.random.default_rng(seed), n_clusters, resamples, most=BLOCK)
                for resample in drawn
            ]
        )

    def jackknife() -> NDArray[np.float64]:
        return np.array([value_of(by_cluster[codes[by_cluster] != g]) for g in range(n_clusters)])

    value = value_of(np.arange(n)) if n else math.nan
    return _estimate(value, n_clusters, resampled, jackknife, n=n, unit=unit)


def _draws(
    rng: np.random.Generator, n_clusters: int, resamples: int, *, most: int
) -> Iterator[NDArray[np.int64]]:
    """Yield cluster indices that are drawn with replacement, in blocks (block, G) that have
    `resamples` rows in total. A block has at most `most` indices, or a single row. The indices do
    not depend on the size of the blocks."""
    size = max(1, most // n_clusters)
    for start in range(0, resamples, size):
        yield rng.integers(n_clusters, size=(min(size, resamples - start), n_clusters))


def _estimate(
    value: float,
    n_clusters: int,
    resampled: Callable[[], NDArray[np.float64]],
    jackknife: Callable[[], NDArray[np.float64]],
    *,
    n: int,
    unit: str,
) -> Estimate:
    """Compute the estimate with its BCa interval. `resampled` returns the values (R,) of all
    resamples, and `jackknife` returns the values (G,) that result if each cluster is left out in
    turn."""
    import numpy as np

    if math.isnan(value):
        return Estimate(value=None, unit=unit, n=n, reason="undefined" if n else "no scores")
    if n_clusters < FEWEST_CLUSTERS:
        return Estimate(value=value, unit=unit, n=n, reason=too_few(n_clusters))
    left = jackknife()
    if np.isnan(left).any():
        reason = "undefined without one of its clusters: a part of it comes from that cluster alone"
        return Estimate(value=value, unit=unit, n=n, reason=reason)
    drawn = resampled()
    undefined = float(np.isnan(drawn).mean())
    if undefined > MOST_UNDEFINED:
        often = f"undefined in {100 * undefined:.0f} % of resamples"
        reason = f"{often}: part of it depends on too few clusters"
        return Estimate(value=value, unit=unit, n=n, reason=reason)
    drawn = np.sort(drawn[~np.isnan(drawn)])
    spread = float(drawn.std())
    if spread <= 1e-12 * abs(value):
        return Estimate(value=value, unit=unit, n=n, reason="all resamples have the same value")

    normal = NormalDist()
    below = float((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = normal.inv_cdf(min(max(below, 1 / len(drawn)), 1 - 1 / len(drawn)))
    pull = left.mean() - left
    scale = float((pull**2).sum()) ** 1.5
    acceleration = float((pull**3).sum()) / (6 * scale) if scale else 0.0
    few = math.sqrt(n_clusters / (n_clusters - 1))
    reach = few * t_quantile(0.975, n_clusters - 1)

    def end(z: float) -> float:
        level = normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        return float(np.quantile(drawn, level))

    return Estimate(
        value=value, unit=unit, n=n, stderr=few * spread, ci95=(end(-reach), end(reach))
    )
