"""The mean of scores that come in clusters, with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from snellen.stats._estimate import Estimate
from snellen.stats._quantiles import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_CLUSTERS = 10


def mean(
    score: NDArray[np.float64],
    cluster: NDArray[np.integer],
    weight: NDArray[np.float64] | None = None,
) -> Estimate:
    """The (weighted) mean of scores; its standard error and interval count clusters, not rows."""
    import numpy as np

    n = len(score)
    if n == 0:
        return Estimate(value=None, n=0, reason="no scores")
    weights = np.ones(n) if weight is None else weight
    total = float(weights.sum())
    value = float(weights @ score) / total
    _, codes = np.unique(cluster, return_inverse=True)
    size = np.bincount(codes, weights=weights)
    residual = np.bincount(codes, weights=weights * (score - value))
    n_clusters = len(size)
    if n_clusters < FEWEST_CLUSTERS:
        return Estimate(
            value=value,
            n=n,
            reason=f"{n_clusters} clusters: an interval needs at least {FEWEST_CLUSTERS}",
        )
    squares = float(residual @ residual)
    if not np.isin(score, (0.0, 1.0)).all():
        stderr = math.sqrt(n_clusters / (n_clusters - 1) * squares) / total
        half = t_quantile(0.975, n_clusters - 1) * stderr
        return Estimate(value=value, n=n, stderr=stderr, ci95=(value - half, value + half))
    rows = total**2 / float(weights @ weights)
    if 0 < value < 1:
        effective = min(rows, value * (1 - value) * total**2 / squares) if squares else rows
    else:
        effective = total**2 / float(size @ size)
    stderr = math.sqrt(n_clusters / (n_clusters - 1) * squares) / total
    t = t_quantile(0.975, n_clusters - 1)
    middle = (value + t * t / (2 * effective)) / (1 + t * t / effective)
    half = (
        t
        * math.sqrt(value * (1 - value) / effective + t * t / (4 * effective**2))
        / (1 + t * t / effective)
    )
    return Estimate(
        value=value, n=n, stderr=stderr, ci95=(max(0.0, middle - half), min(1.0, middle + half))
    )
