"""The mean of scores that come in clusters, with its interval."""

from __future__ import annotations

import math
from functools import partial
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
"""Below this many the interval of 0/1 scores has the full width of Student's t."""
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

    which is the linearised variance of a ratio (Cochran 1977, 3.12). The interval is Wilson's where
    every score is 0 or 1 and m ± t·stderr elsewhere; `docs/decisions/intervals.md` says what t
    is and what coverage comes out. Where all scores are in [0, 1] it is cut to that range, as the
    mean cannot be elsewhere. `stderr` is None where the clusters do not differ: nothing is
    to be learnt about the error from them. `signed` scores are differences, and no shares whatever
    values they happen to have.

    Raises:
        ValueError: the lengths differ, a score is not finite, or a weight is not above 0.
    """
    import numpy as np

    n = len(score)
    if len(cluster) != n or (weight is not None and len(weight) != n):
        raise ValueError("a mean needs one cluster, and one weight if any, for each score")
    if not np.isfinite(score).all():
        raise ValueError("a score is not a finite number: leave out what has no score")
    if weight is not None and not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("a weight is not above 0: leave out what must not count")
    if n == 0:
        return Estimate(value=None, n=0, reason="no scores")

    weights = np.ones(n) if weight is None else weight
    total = float(weights.sum())
    value = float((weights * score).sum()) / total
    labels, codes = np.unique(cluster, return_inverse=True)
    sizes = np.bincount(codes, weights=weights).astype(np.float64, copy=False)
    n_clusters = len(sizes)
    of_scores = np.bincount(codes, weights=weights * score)
    made_of = Sums(cluster=labels, sums=np.stack([of_scores, sizes], axis=1), aggregate=ratio)
    known = partial(Estimate, value=value, n=n, sums=made_of)
    if n_clusters < FEWEST_CLUSTERS:
        return known(reason=too_few(n_clusters))

    residuals = weights * (score - value)
    sums = np.bincount(codes, weights=residuals).astype(np.float64, copy=False)
    # What is left of equal sums by rounding is not a spread.
    if float(np.abs(sums).max()) <= 1e-12 * float(sizes.max()) * float(np.abs(score).max()):
        stderr = None
    else:
        stderr = math.sqrt(n_clusters / (n_clusters - 1) * float(sums @ sums)) / total

    if signed or not ((score == 0) | (score == 1)).all():
        if stderr is None:
            return known(reason="all clusters have the same mean")
        half = t_quantile(0.975, degrees(sums, n_clusters)) * stderr
        low, high = value - half, value + half
        if not signed and score.min() >= 0 and score.max() <= 1:
            low, high = max(0.0, low), min(1.0, high)  # where the mean cannot be anyway
        return known(stderr=stderr, ci95=(low, high))

    rows = total**2 / float(weights @ weights)  # how many rows of equal weight they are worth
    if not 0 < value < 1:
        # Nothing shows how alike a cluster's rows are: take each cluster for one row.
        effective = total**2 / float(sizes @ sizes)
    elif stderr is None:
        effective = rows
    else:
        # Scores of 0 and 1 have the variance m (1 - m) n / (n - 1).
        effective = value * (1 - value) * n / (n - 1) / stderr**2
    # Never worth more than the rows. Korn and Graubard 1998: the fewer degrees of freedom, the less
    # the effective n is worth.
    exact = t_quantile(0.975, n - 1) if n_clusters >= ENOUGH_CLUSTERS else Z
    found = t_quantile(0.975, degrees(sums, n_clusters, residuals))
    effective = min(rows, effective * (exact / found) ** 2)
    return known(stderr=stderr, ci95=_wilson(value, effective))


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


def _fourth(sums: NDArray[np.float64]) -> float:
    """The sum of squared deviations of squares."""
    squares = sums * sums
    return float(((squares - squares.mean()) ** 2).sum())
