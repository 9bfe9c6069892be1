"""The mean of scores that come in clusters, with its interval."""

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
"""Below this many there is no interval."""
ENOUGH_CLUSTERS = 30
"""Below this many an interval within [0, 1] has the full width of Student's t."""
Z = normal_quantile(0.975)


def mean(
    score: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None = None,
    *,
    signed: bool = False,
) -> Estimate:
    """The mean score, with a standard error and an interval that know which rows share a cluster.

    `score`, `cluster` and `weight` are (n,); all weigh the same without `weight`. With w the
    weights, W their sum and G the number of clusters:

        m = Σ w·score / W        u_g = Σ_{i in g} w_i·(score_i - m)
        stderr² = G/(G-1) · Σ_g u_g² / W²

    which is the linearised variance of a ratio (Cochran 1977, 3.12). The interval is Wilson's for
    an effective n where all scores are in [0, 1], and m ± t·stderr elsewhere;
    `docs/decisions/intervals.md` says what n and t are and what coverage comes out. `stderr` is
    None where the clusters do not differ: nothing is to be learnt about the error from them.
    `signed` scores are differences, and no shares whatever values they happen to have.

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
    return known(stderr=stderr, ci95=_wilson(value, effective))


def _check(
    score: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    weight: NDArray[np.float64] | None,
) -> None:
    """Raise a ValueError for rows that have no mean."""
    import numpy as np

    n = len(score)
    if len(cluster) != n or (weight is not None and len(weight) != n):
        raise ValueError("a mean needs one cluster, and one weight if any, for each score")
    if not np.isfinite(score).all():
        raise ValueError("a score is not a finite number: leave out what has no score")
    if weight is not None and not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("a weight is not above 0: leave out what must not count")


@dataclass(frozen=True)
class _ClusteredRows:
    """Scores and weights (n,), and the number of each row's cluster, from 0 to G-1."""

    score: NDArray[np.float64]
    weight: NDArray[np.float64]
    codes: NDArray[np.intp]

    def by_cluster(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the rows' values in each cluster, (G,)."""
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
        """The weight of each cluster, (G,)."""
        return self.by_cluster(self.weight)

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)

    @cached_property
    def residuals(self) -> NDArray[np.float64]:
        """The weighted residual of each row, (n,)."""
        return self.weight * (self.score - self.value)

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The sum of the residuals in each cluster, (G,)."""
        return self.by_cluster(self.residuals)

    @cached_property
    def stderr(self) -> float | None:
        """The standard error of the mean; None where all clusters have the same mean."""
        import numpy as np

        most = float(np.abs(self.score).max())
        # What is left of equal sums by rounding is not a spread.
        if float(np.abs(self.sums).max()) <= 1e-12 * float(self.sizes.max()) * most:
            return None
        g = self.n_clusters
        return math.sqrt(g / (g - 1) * float(self.sums @ self.sums)) / self.total


def _effective_n(of: _ClusteredRows, *, right_or_wrong: bool) -> float:
    """How many independent scores of 0 and 1 tell as much about the mean as these rows do.

    `right_or_wrong`: all scores are 0 or 1.
    """
    import numpy as np

    n, value = len(of.score), of.value
    squares = of.by_cluster(of.weight * of.weight)
    rows = of.total**2 / float(squares.sum())  # how many rows of equal weight they are worth
    equal = of.total**2 / float(of.sizes @ of.sizes)  # and how many clusters
    variance = float(of.residuals @ (of.score - value)) / of.total
    if not 0 < value < 1:
        effective = equal  # nothing shows how alike a cluster's rows are: each counts as one
    elif of.stderr is None:
        effective = rows
    else:
        # CR2, Bell and McCaffrey 2002; no cluster weighs all there is, but for rounding.
        others = np.maximum(1 - of.sizes / of.total, 1e-9)
        effective = variance * n / (n - 1) * of.total**2 / float((of.sums / others) @ of.sums)
    # Never worth more than the rows. Korn and Graubard 1998: the fewer degrees of freedom, the less
    # the effective n is worth.
    exact = t_quantile(0.975, n - 1) if of.n_clusters >= ENOUGH_CLUSTERS else Z
    df = min(
        degrees(of.sums, of.n_clusters, of.residuals if right_or_wrong else None),
        _degrees_of_sizes(of.sizes, squares, effective=effective, rows=rows, equal=equal),
    )
    effective = min(rows, effective * (exact / t_quantile(0.975, df)) ** 2)
    if 0 < value < 1:
        effective *= value * (1 - value) / variance  # so many scores of 0 and 1 tell as much
    return effective


def too_few(n_clusters: int) -> str:
    """Why there is no interval."""
    what = "1 independent cluster" if n_clusters == 1 else f"{n_clusters} independent clusters"
    return f"{what}: an interval needs at least {FEWEST_CLUSTERS}"


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n trials: Wilson 1927; Brown, Cai and DasGupta 2001."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    # At shares of 0 and 1 one end is that share, but for rounding.
    return (
        0.0 if share == 0 else middle - half,
        1.0 if share == 1 else middle + half,
    )


def degrees(
    sums: NDArray[np.float64], n_clusters: int, rows: NDArray[np.float64] | None = None
) -> float:
    """Degrees of freedom of the variance that the clusters' sums (G,) give, from 1 to G-1.

    A variance estimated with d degrees of freedom has a relative variance of 2/d, and how much the
    squares of the sums differ estimates it (Pan and Wall 2002). Few clusters with large sums thus
    leave few degrees. `rows` (n,) are the residuals of 0/1 scores: what single rows make the
    squares differ by is left out, since Wilson's interval knows it from the mean.
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
    """Degrees of freedom that clusters of these `sizes` (G,) leave, from 1 to G-1: Satterthwaite
    1946.

    Rows of a cluster that have nothing in common make its sum vary as the sum of their squared
    weights, `squares` (G,), and as `rows` independent rows the mean; rows that have all in common
    as its squared size, and the mean as `equal` clusters. `effective` says where between they are.
    What single rows vary is left out below the line, as in `degrees`.
    """
    most = len(sizes) - 1.0
    most_alike = 1 / equal - 1 / rows
    if most_alike * rows < 1e-9:
        return most  # a row each
    alike = min(1.0, max(0.0, (1 / effective - 1 / rows) / most_alike))
    of_rows, of_clusters = (1 - alike) * squares, alike * sizes * sizes
    varies = of_rows + of_clusters
    spread = float(varies @ varies - of_rows @ of_rows)
    return most if spread <= 0 else max(1.0, min(most, float(varies.sum()) ** 2 / spread))


def _fourth(sums: NDArray[np.float64]) -> float:
    """The sum of squared deviations of squares."""
    squares = sums * sums
    return float(((squares - squares.mean()) ** 2).sum())
