"""The calibration error of replies that state how confident they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics import Columns, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BIN = 100
"""The number of replies in a bin."""


@metric(better="lower", unit="fraction")
def calibration_error(columns: Columns) -> Estimate:
    """The root mean square difference between mean confidence and accuracy, in bins of 100 replies
    in the order of confidence. The last bin is left out, as in the authors' code."""
    import numpy as np

    if columns.score is None or columns.n < 2 * BIN:
        reason = f"{columns.n} replies: the authors' bins need at least {2 * BIN}"
        return Estimate(value=None, n=columns.n, reason=reason)
    right = columns.score
    confidence = np.array([float(percent) for _, percent in columns.answer]) / 100

    def error(rows: NDArray[np.intp]) -> float:
        used = len(rows) // BIN * BIN - BIN
        in_order = rows[np.argsort(confidence[rows], kind="stable")[:used]].reshape(-1, BIN)
        gaps = confidence[in_order].mean(axis=1) - right[in_order].mean(axis=1)
        return float(np.sqrt((gaps**2).sum() * BIN / len(rows)))

    return stats.bootstrap(error, columns.cluster)
