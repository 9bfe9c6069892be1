"""Represents metrics as functions of sums over clusters, so that the clusters of two models can be
matched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """The sums over clusters from which a metric is computed, and the function that computes it."""

    cluster: NDArray[np.integer[Any]]
    """The labels (G,) of the clusters, all of them different. The clusters of two models are
    matched by these labels."""
    sums: NDArray[np.float64]
    """The sums (G, k) of each cluster."""
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """A function that maps totals (R, k) to values (R,), which are nan where the metric is
    undefined."""


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map totals (R, 2) to values (R,) by dividing the first total by the second. A metric whose
    `Sums` have this aggregate is treated as a mean, so that its paired differences are tested with
    a t-test."""
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values
