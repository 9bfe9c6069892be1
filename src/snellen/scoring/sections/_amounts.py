"""The mean of amounts, such as tokens, steps, or seconds per question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def mean_amount(
    amounts: NDArray[np.float64], clusters: NDArray[np.integer[Any]], unit: str
) -> Estimate:
    """The mean of amounts (n,), none of which is negative, with an interval that takes clusters
    (n,) into account. Amounts in [0, 1], such as fractions of a second, are not shares: their
    interval is m ± t·stderr, as for all amounts, and not Wilson's (see `stats.mean`)."""
    estimate = replace(stats.mean(amounts, clusters, signed=True), unit=unit)
    if estimate.ci95 is None:
        return estimate
    return replace(estimate, ci95=(max(0.0, estimate.ci95[0]), estimate.ci95[1]))
