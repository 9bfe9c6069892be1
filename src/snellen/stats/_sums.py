"""What a metric is a function of: sums over clusters, which two models' samples share."""

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

    `cluster` (G,) has their labels, none twice, by which the sums of two models are joined; `sums`
    (G, k) has a row for each; `aggregate` takes totals (R, k) to values (R,), nan where it is
    undefined.
    """

    cluster: NDArray[np.integer[Any]]
    sums: NDArray[np.float64]
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first total by the second: of totals (R, 2), (R,). As the aggregate of `Sums` it says
    that the metric is a mean, whose paired differences have a t-test."""
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values
