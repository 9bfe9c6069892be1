"""Tests whether paired differences are 0 on average, by an exact permutation test of signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARTS = (1, 2, 3, 4, 6, 12)
"""Differences are not rounded if they are all multiples of 1/n for one of these numbers n."""
STEPS = 30_000_000
"""The approximate maximum number of additions in a test. This limit determines how coarsely all
other differences are rounded."""
TIE = 1e-9
"""Sums that differ by less than this share of the largest possible sum count as equal."""


def sign_flips(difference: NDArray[np.float64]) -> float:
    """The two-sided p value of the permutation test of paired differences: the share of all
    assignments of signs for which the sum is at least as far from 0 as the observed sum.
    `difference` (G,) contains the sum of the differences in each independent cluster.

        p = #{s in {-1, 1}^G : |Σ_g s_g d_g| >= |Σ_g d_g|} / 2^G

    The test is from Fisher 1935, The Design of Experiments, section 21. The test is exact if the
    two sides of a pair are exchangeable, and makes no assumption about the distribution. If all
    differences are -1, 0, or 1, the test is McNemar's exact test. The distribution of the sum is
    computed cluster by cluster, not sampled (by the shift algorithm of Streitberg and Röhmel 1986,
    Statistical Software Newsletter 12). This algorithm requires whole numbers. Unless all
    differences are multiples of 1/12, the differences are therefore rounded to a thousandth of the
    largest difference, or more coarsely if there are more than about 170 clusters.

    >>> import numpy as np
    >>> float(sign_flips(np.array([1.0, 1.0, -1.0, 1.0, 1.0, 0.0])))
    0.375
    """
    import numpy as np

    moved = difference[difference != 0]
    if not len(moved):
        return 1.0
    steps = _steps(moved)
    weights = np.abs(steps)
    total = int(weights.sum())
    # chance[k] is the probability that the differences with a positive sign add up to k.
    chance = np.zeros(total + 1)
    chance[0], reach = 1.0, 0
    for weight in np.sort(weights).tolist():
        following = 0.5 * chance[: reach + weight + 1]
        following[weight:] += 0.5 * chance[: reach + 1]
        reach += weight
        chance[: reach + 1] = following
    distance = np.abs(2 * np.arange(total + 1) - total)
    extreme = distance >= abs(int(steps.sum())) - TIE * total
    return min(1.0, float(chance[extreme].sum()))


def _steps(difference: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scale the differences to whole numbers, with rounding if necessary."""
    import numpy as np

    for parts in PARTS:
        exact_steps = np.rint(difference * parts)
        if np.allclose(exact_steps, difference * parts, rtol=0, atol=1e-9):
            exact: NDArray[np.int64] = exact_steps.astype(np.int64)
            return exact
    levels = min(1000.0, max(10.0, STEPS / len(difference) ** 2))
    scaled = np.rint(difference / np.abs(difference).max() * levels)
    rounded: NDArray[np.int64] = scaled[scaled != 0].astype(np.int64)
    return rounded
