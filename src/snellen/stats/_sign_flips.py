"""An exact test that paired differences are 0 on average: the permutation test of their signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARTS = (1, 2, 3, 4, 6, 12)
"""Differences that are multiples of 1/PARTS are not rounded."""
STEPS = 30_000_000
"""The most additions of a test, on which the rounding of other differences depends."""
TIE = 1e-9
"""Sums that differ by less, relative to the largest possible sum, count as equal."""


def sign_flips(difference: NDArray[np.float64]) -> float:
    """The two-sided p value of the permutation test of paired differences: the share of all sign
    changes whose sum is at least as far from 0. `difference` is (G,), a sum for each independent
    cluster.

        p = #{s in {-1, 1}^G : |Σ_g s_g d_g| >= |Σ_g d_g|} / 2^G

    Fisher 1935, The Design of Experiments, section 21. It is exact if the two sides of a pair can
    be exchanged, and needs no form of distribution. If all differences are -1, 0, or 1, it is
    McNemar's exact test. The distribution of the sum is computed cluster by cluster, not sampled
    (the shift algorithm: Streitberg and Röhmel 1986, Statistical Software Newsletter 12). For that,
    differences that are no multiples of 1/12 are rounded to a fraction of the largest: to a
    thousandth of it, or more coarsely for more than about 170 clusters.

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
    # The probability of each sum of the positive differences, from 0 to the total.
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
    """The differences as whole numbers, in proportion."""
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
