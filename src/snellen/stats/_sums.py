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
    """How a metric follows from sums over clusters."""

    cluster: NDArray[np.integer[Any]]
    """The labels of the clusters, all different, (G,). Two models are joined by them."""
    sums: NDArray[np.float64]
    """The sums of each cluster, (G, k)."""
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """A function of totals (R, k) that returns values (R,), nan where undefined."""


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first total divided by the second: (R, 2) to (R,). As the aggregate of `Sums` it marks
    the metric as a mean, so that paired differences have a t-test."""
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values
