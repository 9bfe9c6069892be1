"""Metrics as functions of sums over clusters, so that the clusters of two models can be matched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """How a metric is computed from sums over clusters."""

    cluster: NDArray[np.integer[Any]]
    """The labels of the clusters, all different, (G,). The clusters of two models are matched by
    these labels."""
    sums: NDArray[np.float64]
    """The sums of each cluster, (G, k)."""
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """A function of totals (R, k) that returns values (R,), nan where undefined."""


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the first total by the second: (R, 2) to (R,). A metric whose `Sums` have this
    aggregate is treated as a mean, so that its paired differences are tested with a t-test."""
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values
