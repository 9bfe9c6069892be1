"""Computes how well two raters agree on the same items, with intervals from resampled clusters.

We implement the formulas here: scikit-learn and scipy would be large dependencies for one short
formula each, and neither of them resamples clusters.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from snellen.stats._bootstrap import MOST_UNDEFINED, bootstrap_sums, totals_drawn
from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, too_few

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
"""The number of resamples for the interval of a rank agreement."""


def weighted_kappa(
    first: NDArray[np.float64], second: NDArray[np.float64], cluster: NDArray[np.integer[Any]]
) -> Estimate:
    """Cohen's kappa of two raters with quadratic weights, in [-1, 1]. All arrays are (n,). The
    estimate has no value if both raters give the same number to all items.

        kappa_w = 1 - Σ_i (x_i - y_i)² / (1/n Σ_i Σ_j (x_i - y_j)²)

    The denominator is the expected value of the numerator if the raters are independent.
    Cohen 1968, Weighted Kappa, Psychological Bulletin 70:213-220, defines kappa over the cells of a
    table; the formula here is the same sum over items. For scores of 0 and 1, the result is Cohen's
    kappa without weights.
    """
    import numpy as np

    _, codes = np.unique(cluster, return_inverse=True)
    columns = (np.ones(len(first)), first, second, first**2, second**2, first * second)
    sums = np.stack([np.bincount(codes, weights=column) for column in columns], axis=1)
    return bootstrap_sums(sums.astype(np.float64), _kappa, n=len(first), unit="")


def _kappa(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    n, x, y, xx, yy, xy = totals.T
    apart = xx + yy - 2 * xy
    by_chance = xx + yy - 2 * x * y / n
    # Two sums of squares of the same numbers can differ in the last bit.
    kappa: NDArray[np.float64] = 1 - apart / np.where(by_chance > 1e-12, by_chance, np.nan)
    return kappa


def rank_agreement(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    group: NDArray[np.integer[Any]],
    cluster: NDArray[np.integer[Any]],
) -> Estimate:
    """Kendall's tau-b between two rankings of groups, such as models. One ranking is by the mean of
    the first rater's numbers, and the other is by the mean of the second rater's numbers. All
    arrays are (n,). The estimate has no value if a rater gives all groups the same mean.

        tau_b = Σ_{g<h} s(x_g - x_h) s(y_g - y_h) / √(Σ s(x_g - x_h)² · Σ s(y_g - y_h)²)

    Here s is the sign, x_g and y_g are the two means of group g (Kendall 1945, The Treatment of
    Ties in Ranking Problems, Biometrika 33:239-251). Each resample draws the same clusters of items
    for all groups. The interval consists of percentiles of the resamples (Efron 1979). BCa is not
    suitable, since tau takes few values. If tau has its largest possible value, BCa's bias
    correction would move the lower end of the interval up to this value.
    """
    import numpy as np

    groups, of_group = np.unique(group, return_inverse=True)
    clusters, codes = np.unique(cluster, return_inverse=True)
    cell = codes * len(groups) + of_group
    size = len(clusters) * len(groups)
    sums = [
        np.bincount(cell, weights=column, minlength=size).reshape(len(clusters), len(groups))
        for column in (np.ones(len(first)), first, second)
    ]
    table = np.concatenate(sums, axis=1).astype(np.float64)
    value = float(_tau_b(table.sum(axis=0, keepdims=True))[0])
    known = partial(Estimate, n=len(first), unit="")
    if math.isnan(value):
        return known(value=None, reason="a rater gives all groups the same mean")
    if len(clusters) < FEWEST_CLUSTERS:
        return known(value=value, reason=too_few(len(clusters)))
    drawn = np.concatenate([_tau_b(totals) for totals in totals_drawn(table, RESAMPLES, seed=0)])
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - MOST_UNDEFINED) * len(drawn):
        return known(value=value, reason="undefined in too many resamples")
    low, high = np.quantile(defined, (0.025, 0.975))
    return known(value=value, stderr=float(defined.std()), ci95=(float(low), float(high)))


def _tau_b(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    n, x, y = np.split(totals, 3, axis=1)
    a, b = np.triu_indices(n.shape[1], k=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # a group may not be drawn
        # Two means of the same numbers can differ in the last bit.
        signs = [np.sign(np.round(means[:, a] - means[:, b], 12)) for means in (x / n, y / n)]
    ties = np.sqrt((signs[0] ** 2).sum(axis=1) * (signs[1] ** 2).sum(axis=1))
    tau: NDArray[np.float64] = (signs[0] * signs[1]).sum(axis=1) / np.where(ties > 0, ties, np.nan)
    return tau
