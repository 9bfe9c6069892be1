"""How far each cluster moves an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Influence:
    """How far each cluster moves an estimate, up to a positive factor that is the same for all
    clusters."""

    cluster: NDArray[np.integer[Any]]
    """The labels (G,) of the clusters, all of them different. The clusters of two models are
    matched by these labels."""
    values: NDArray[np.float64]
    """The influence (G,) of each cluster, positive if more of the cluster makes the estimate
    larger."""
