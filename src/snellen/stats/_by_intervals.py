"""Compares two estimates by the interval of each, for metrics that are not functions of sums over
clusters, such as a fitted threshold."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from snellen.stats._estimate import Estimate
from snellen.stats._influence import Influence
from snellen.stats._paired import NONE, SAME, Difference
from snellen.stats._quantiles import t_beyond, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def difference_by_intervals(a: Estimate, b: Estimate, *, n: int) -> Difference:
    """Estimate the value of b minus the value of a, on the same `n` samples. Both estimates have an
    interval and an `influence`.

        d = b - a
        lower end = d - √(p² - 2 r p q + q²),    p = b - lower end of b,    q = upper end of a - a
        upper end = d + √(p² - 2 r p q + q²),    p = upper end of b - b,    q = a - lower end of a

    This is the method of variance estimates recovery (Zou 2007, Psychological Methods 12, 399, and
    Zou and Donner 2008, Statistics in Medicine 27, 1693), which keeps the asymmetry of the two
    intervals. r is the correlation of the influences of the clusters, matched by label: a cluster
    that makes both values larger contributes positively. p is the significance level at which an
    end of the interval is 0, if the distance of this end from d is proportional to Student's t with
    one degree of freedom fewer than there are clusters. `docs/decisions/acuity.md` gives the
    coverage.
    """
    import numpy as np

    assert a.value is not None and b.value is not None
    assert a.ci95 is not None and b.ci95 is not None
    assert a.influence is not None and b.influence is not None
    of_a, of_b = _matched(a.influence, b.influence)
    groups, value = len(of_a), b.value - a.value
    known = partial(Estimate, value=value, unit=a.unit, n=n)
    result = partial(Difference, p=None, clusters=groups, method=NONE)
    if not value and np.array_equal(of_a, of_b):
        return result(estimate=known(reason=SAME), p=1.0)
    correlation = _correlation(of_a, of_b)
    low = _distance(b.value - b.ci95[0], a.ci95[1] - a.value, correlation)
    high = _distance(b.ci95[1] - b.value, a.value - a.ci95[0], correlation)
    toward_zero = low if value > 0 else high
    t = t_quantile(0.975, groups - 1)
    return result(
        estimate=known(ci95=(value - low, value + high)),
        p=2 * t_beyond(t * abs(value) / toward_zero, groups - 1) if toward_zero else None,
        method=f"paired intervals by cluster, correlation {correlation:.2f}",
    )


def _matched(a: Influence, b: Influence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The influences (G,) of the clusters of both sides; 0 for a cluster that a side lacks."""
    import numpy as np

    labels = np.union1d(a.cluster, b.cluster)
    rows = np.zeros((2, len(labels)))
    for row, side in zip(rows, (a, b), strict=True):
        row[np.searchsorted(labels, side.cluster)] = side.values
    return rows[0], rows[1]


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The correlation of two sets of influences, whose expected value is 0; 0 if one of them has no
    influence at all."""
    squares = float(a @ a) * float(b @ b)
    return float(a @ b) / math.sqrt(squares) if squares > 0 else 0.0


def _distance(p: float, q: float, correlation: float) -> float:
    return math.sqrt(max(0.0, p * p - 2 * correlation * p * q + q * q))
