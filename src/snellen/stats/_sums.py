"""A metric as a function of sums over clusters, so that two models' clusters can be matched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """How a metric follows from clusters.

    `cluster` (G,) has the clusters' labels, all different; the sums of two models are joined by
    them. `sums` (G, k) has a row per cluster. `aggregate` maps totals (R, k) to values (R,), nan
    where undefined.
    """

    cluster: NDArray[np.integer[Any]]
    sums: NDArray[np.float64]
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first total divided by the second: (R, 2) to (R,). As the aggregate of `Sums` it marks
    the metric as a mean, so that paired differences have a t-test."""
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values
