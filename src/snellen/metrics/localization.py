"""How precisely a model localizes things: the median distance from the right answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import FEWEST_CLUSTERS, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Distance = Callable[[Any, Any], float]
"""The distance between a parsed answer and the target of its row, at least 0."""


def median_distance(
    distance: Distance, tag: str, category: str, *, name: str, unit: str = "pixels"
) -> Metric:
    """The distance within which half of the answers lie. At least 0; lower is better.

    A reply without an answer is farther away than any answer, so a model gains nothing by leaving
    questions out. If that makes the median infinite, the estimate has a reason instead of a value.
    If a sample was asked several times, the median of its distances counts. Only rows are counted
    whose tag `tag` is `category`. `n` counts these rows.

    The interval consists of two order statistics, d(k) and d(m+1-k) for m clusters, where k is the
    largest rank with P(B < k) <= 2.5 % for B ~ Binomial(m, 1/2). It is exact for any distribution
    of distances (Conover 1999, Practical Nonparametric Statistics, 3.2). It needs at least 10
    clusters, as all intervals do.

    Three points are 1, 2, and 4 pixels away, and another reply has no point:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, codes = np.empty(4, dtype=object), np.zeros(4, dtype=np.int32)
    >>> answers = np.array([11.0, 12.0, 14.0, None], dtype=object)
    >>> columns = Columns(score=None, cluster=np.arange(4), answer=answers,
    ...     tags={"task": Category(codes=codes, names=("point",))},
    ...     target=np.array([10.0] * 4, dtype=object), references=none,
    ...     state=Category(codes=codes, names=("answered",)))
    >>> metric = median_distance(lambda a, b: abs(a - b), "task", "point", name="localization")
    >>> metric(columns).value
    3.0
    """

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        rows = columns.tagged(tag, [category])
        far = np.array(
            [
                math.inf if answer is None else distance(answer, target)
                for answer, target in zip(rows.answer, rows.target, strict=True)
            ],
            dtype=np.float64,
        )
        return _median(_by_cluster(far, rows.cluster), unit, len(far))

    return Metric(compute, better="lower", unit=unit, name=name)


def _by_cluster(distances: NDArray[np.float64], cluster: NDArray[np.int32]) -> list[float]:
    """The median distance of each cluster, in ascending order."""
    import numpy as np

    return sorted(_middle(sorted(distances[cluster == key].tolist())) for key in np.unique(cluster))


def _middle(rising: list[float]) -> float:
    half = len(rising) // 2
    return rising[half] if len(rising) % 2 else (rising[half - 1] + rising[half]) / 2


def _median(rising: list[float], unit: str, n: int) -> Estimate:
    if not rising:
        return Estimate(value=None, unit=unit, n=0, reason="no scores")
    value = _middle(rising)
    if math.isinf(value):
        return Estimate(value=None, unit=unit, n=n, reason="half of the replies have no answer")
    if len(rising) < FEWEST_CLUSTERS:
        reason = f"{len(rising)} clusters: an interval needs at least {FEWEST_CLUSTERS}"
        return Estimate(value=value, unit=unit, n=n, reason=reason)
    rank = _lower_rank(len(rising))
    low, high = rising[rank - 1], rising[-rank]
    if math.isinf(high):
        reason = "too many replies have no answer for an upper end of the interval"
        return Estimate(value=value, unit=unit, n=n, reason=reason)
    return Estimate(value=value, unit=unit, n=n, ci95=(low, high))


def _lower_rank(m: int) -> int:
    """The largest k with P(B < k) <= 2.5 % for B ~ Binomial(m, 1/2)."""
    log_half = m * math.log(0.5)
    below, k = 0.0, 0
    while True:
        log_choose = math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)
        below += math.exp(log_choose + log_half)
        if below > 0.025:
            return k
        k += 1
