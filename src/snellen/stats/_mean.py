"""Computes the mean of clustered scores, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from snellen.stats._estimate import Estimate
from snellen.stats._quantiles import normal_quantile, t_quantile
from snellen.stats._sums import Sums, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_CLUSTERS = 10
"""The minimum number of clusters for which there is an interval."""
ENOUGH_CLUSTERS = 30
"""Decides the width of the interval of scores in [0, 1]. With fewer clusters than this, the width
is the one that Student's t gives. With this many or more, that width is multiplied by z/t, where z
is the normal quantile, and t is Student's quantile for n rows."""
Z = normal_quantile(0.975)


def mean(
    score: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None = None,
    *,
    signed: bool = False,
) -> Estimate:
    """The mean score, with a standard error and an interval that take clusters into account.

    `score`, `cluster`, and `weight` are (n,). If `weight` is None, all rows have the same weight.
    With the weights w, their sum W, and the number of clusters G:

        m = Σ w·score / W        u_g = Σ_{i in g} w_i·(score_i - m)
        stderr² = G/(G-1) · Σ_g u_g² / W²

    The formula for stderr² is the linearized variance of a ratio (Cochran 1977, 3.12). If all
    scores are in [0, 1], the interval is Wilson's for an effective n; otherwise it is m ± t·stderr.
    `docs/decisions/intervals.md` defines the effective n and t, and gives the coverage of the
    interval. `stderr` is None if all clusters have the same mean, since the clusters then contain
    no information about the error. With `signed`, scores are treated as differences, not as shares,
    even if all are in [0, 1].

    Raises:
        ValueError: the lengths differ, a score is not finite, or a weight is not above 0.
    """
    import numpy as np

    _check(score, cluster, weight)
    n = len(score)
    if n == 0:
        return Estimate(value=None, n=0, reason="no scores")
    labels, codes = np.unique(cluster, return_inverse=True)
    rows = _ClusteredRows(score, np.ones(n) if weight is None else weight, codes)
    value = rows.value
    sums = np.stack([rows.by_cluster(rows.weight * score), rows.sizes], axis=1)
    known = partial(
        Estimate, value=value, n=n, sums=Sums(cluster=labels, sums=sums, aggregate=ratio)
    )
    if rows.n_clusters < FEWEST_CLUSTERS:
        return known(reason=too_few(rows.n_clusters))
    stderr = rows.stderr
    right_or_wrong = not signed and bool(((score == 0) | (score == 1)).all())
    if stderr is None and not right_or_wrong:
        return known(reason="all clusters have the same mean")
    if stderr is not None and (signed or score.min() < 0 or score.max() > 1):
        half = t_quantile(0.975, degrees(rows.sums, rows.n_clusters)) * stderr
        return known(stderr=stderr, ci95=(value - half, value + half))
    effective = _effective_n(rows, right_or_wrong=right_or_wrong)
    return known(stderr=stderr, ci95=wilson(value, effective))


def _check(
    score: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None,
) -> None:
    """Check the arguments of `mean`.

    Raises:
        ValueError: the lengths differ, a score is not finite, or a weight is not above 0.
    """
    import numpy as np

    n = len(score)
    if len(cluster) != n or (weight is not None and len(weight) != n):
        raise ValueError("there must be as many clusters (and weights, if given) as scores")
    if not np.isfinite(score).all():
        raise ValueError("a score is not a finite number: leave out rows without a score")
    if weight is not None and not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("a weight is not above 0: leave out rows that must not count")


@dataclass(frozen=True)
class _ClusteredRows:
    """Scores and weights (n,), and the number of each row's cluster, from 0 to G-1."""

    score: NDArray[np.float64]
    weight: NDArray[np.float64]
    codes: NDArray[np.intp]

    def by_cluster(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums (G,) of `values` (n,) in each cluster."""
        import numpy as np

        return np.bincount(self.codes, weights=values).astype(np.float64, copy=False)

    @cached_property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.weight.sum())

    @cached_property
    def value(self) -> float:
        """The mean."""
        return float((self.weight * self.score).sum()) / self.total

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """The total weight of each cluster (G,)."""
        return self.by_cluster(self.weight)

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)

    @cached_property
    def residuals(self) -> NDArray[np.float64]:
        """The weighted residual of each row (n,)."""
        return self.weight * (self.score - self.value)

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The sum of the residuals in each cluster (G,)."""
        return self.by_cluster(self.residuals)

    @cached_property
    def stderr(self) -> float | None:
        """The standard error of the mean; None if all clusters have the same mean."""
        import numpy as np

        most = float(np.abs(self.score).max())
        # Ignore rounding errors: sums that differ only by them are equal.
        if float(np.abs(self.sums).max()) <= 1e-12 * float(self.sizes.max()) * most:
            return None
        g = self.n_clusters
        return math.sqrt(g / (g - 1) * float(self.sums @ self.sums)) / self.total


def _effective_n(of: _ClusteredRows, *, right_or_wrong: bool) -> float:
    """The number of independent 0/1 scores that determine the mean as precisely as these rows do.

    `right_or_wrong` says whether all scores are 0 or 1.
    """
    import numpy as np

    n, value = len(of.score), of.value
    squares = of.by_cluster(of.weight * of.weight)
    rows = of.total**2 / float(squares.sum())  # the equivalent number of equally weighted rows
    equal = of.total**2 / float(of.sizes @ of.sizes)  # the same for clusters
    variance = float(of.residuals @ (of.score - value)) / of.total
    if not 0 < value < 1:
        effective = equal  # similarity within clusters is unknown: count each cluster as one row
    elif of.stderr is None:
        effective = rows
    else:
        # CR2 of Bell and McCaffrey 2002. The minimum only guards against rounding errors: no
        # cluster has all the weight.
        others = np.maximum(1 - of.sizes / of.total, 1e-9)
        effective = variance * n / (n - 1) * of.total**2 / float((of.sums / others) @ of.sums)
    # Fewer degrees of freedom reduce the effective n (Korn and Graubard 1998). It is at most the
    # number of rows.
    exact = t_quantile(0.975, n - 1) if of.n_clusters >= ENOUGH_CLUSTERS else Z
    df = min(
        degrees(of.sums, of.n_clusters, of.residuals if right_or_wrong else None),
        _degrees_of_sizes(of.sizes, squares, effective=effective, rows=rows, equal=equal),
    )
    effective = min(rows, effective * (exact / t_quantile(0.975, df)) ** 2)
    if 0 < value < 1:
        effective *= value * (1 - value) / variance  # the equivalent number of 0/1 scores
    return effective


def too_few(n_clusters: int) -> str:
    """The reason that is given if there are too few clusters for an interval."""
    what = "1 independent cluster" if n_clusters == 1 else f"{n_clusters} independent clusters"
    return f"{what}: an interval needs at least {FEWEST_CLUSTERS}"


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of successes in n trials (Wilson 1927; Brown, Cai and
    DasGupta 2001)."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    # For shares of 0 and 1, one end equals the share. Return it without a rounding error.
    return (
        0.0 if share == 0 else middle - half,
        1.0 if share == 1 else middle + half,
    )


def degrees(
    sums: NDArray[np.float64], n_clusters: int, rows: NDArray[np.float64] | None = None
) -> float:
    """The degrees of freedom, from 1 to G-1, of a variance that is estimated from the sums (G,) of
    clusters.

    A variance estimated with d degrees of freedom has a relative variance of 2/d. The spread of the
    squared sums estimates that relative variance (Pan and Wall 2002), so a few clusters with large
    sums leave few degrees of freedom. `rows` (n,) contains the residuals of 0/1 scores. If `rows`
    is given, the spread due to single rows is left out, since Wilson's interval derives this spread
    from the mean.
    """
    spread = _fourth(sums) - (0.0 if rows is None else _fourth(rows))
    most = n_clusters - 1.0
    if spread <= 0:
        return most
    return max(1.0, min(most, 2 * float(sums @ sums) ** 2 / spread))


def _degrees_of_sizes(
    sizes: NDArray[np.float64],
    squares: NDArray[np.float64],
    *,
    effective: float,
    rows: float,
    equal: float,
) -> float:
    """The degrees of freedom, from 1 to G-1, of a mean over clusters of these `sizes` (G,)
    (Satterthwaite 1946).

    If the rows of a cluster are independent, the variance of the cluster's sum is proportional to
    the sum of the squared weights, `squares` (G,), and the mean varies like the mean of `rows`
    independent rows. If the rows of a cluster are identical, the variance of the cluster's sum is
    proportional to the cluster's squared size, and the mean varies like the mean of `equal`
    clusters. The effective n, `effective`, lies between `equal` and `rows`. The variance of single
    rows is left out of the denominator, as in `degrees`.
    """
    most = len(sizes) - 1.0
    most_alike = 1 / equal - 1 / rows
    if most_alike * rows < 1e-9:
        return most  # one row per cluster
    alike = min(1.0, max(0.0, (1 / effective - 1 / rows) / most_alike))
    of_rows, of_clusters = (1 - alike) * squares, alike * sizes * sizes
    varies = of_rows + of_clusters
    spread = float(varies @ varies - of_rows @ of_rows)
    return most if spread <= 0 else max(1.0, min(most, float(varies.sum()) ** 2 / spread))


def _fourth(sums: NDArray[np.float64]) -> float:
    """The sum of squared deviations of the squared sums from their mean."""
    squares = sums * sums
    return float(((squares - squares.mean()) ** 2).sum())
