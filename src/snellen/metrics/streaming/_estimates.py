"""Means and ratios of values of queries or slots, with intervals that account for clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from snellen import stats
from snellen.stats import Estimate

NO_SLOTS = "no slots"


def mean_of(rows: Iterable[tuple[float, int]]) -> Estimate:
    """The mean of values in [0, 1]. Each row has a value and the integer that identifies its
    cluster."""
    table = np.array(list(rows)).reshape(-1, 2)
    return stats.mean(table[:, 0], table[:, 1].astype(np.intp))


def ratio_of(
    rows: Sequence[tuple[float, float, int]], *, n: int, unit: str = "fraction", nothing: str
) -> Estimate:
    """The sum of the first column divided by the sum of the second column.

    The third column has the integers that identify the clusters. If the second sum is 0, there is
    no value, and `nothing` is the reason.
    """
    table = np.array(rows).reshape(-1, 3)
    if not table[:, 1].sum():
        return Estimate(value=None, unit=unit, n=n, reason=nothing)
    labels, cluster = np.unique(table[:, 2].astype(np.intp), return_inverse=True)
    sums = [np.bincount(cluster, weights=table[:, column]) for column in (0, 1)]
    return stats.bootstrap_sums(
        np.stack(sums, axis=1), stats.ratio, n=n, unit=unit, clusters=labels
    )
