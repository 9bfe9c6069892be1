"""Agreement between judges of the same items, beyond what chance gives.

The formulas are written out here: scikit-learn and krippendorff are large dependencies for one
short formula each.
"""

from __future__ import annotations

from collections.abc import Sequence


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of numeric ratings, one sequence per item. Items with fewer than two
    ratings are left out. 1: all agree; 0: they agree as by chance; None: all ratings are equal.

        alpha = 1 - D_o/D_e
        D_o = 1/n Σ_u 1/(m_u-1) Σ_{i≠j in u} (x_i - x_j)²     D_e = 1/(n(n-1)) Σ_{i≠j} (x_i - x_j)²

    with m_u ratings of item u and n ratings in all: Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability, with the interval difference. For ratings of 0 and 1 it equals the nominal
    difference.

    >>> krippendorff_alpha([[0, 0], [1, 1], [0, 1], [1, 1]])
    0.5333333333333333
    """
    groups = [group for group in ratings if len(group) > 1]
    every = [rating for group in groups for rating in group]
    expected = _squares(every) / (len(every) - 1) if groups else 0.0
    if not expected:
        return None
    return 1 - sum(_squares(group) / (len(group) - 1) for group in groups) / expected


def _squares(ratings: Sequence[float]) -> float:
    """The sum of (x_i - x_j)² over all ordered pairs, computed from the mean, since large sums
    cancel."""
    mean = sum(ratings) / len(ratings)
    return 2 * len(ratings) * sum((rating - mean) ** 2 for rating in ratings)


def cohen_kappa(both: int, first: int, second: int, neither: int) -> float | None:
    """Cohen's kappa of two yes/no raters, from the counts of items to which both said yes, only the
    first, only the second, and neither. None if there are no items or chance agreement is certain.

        kappa = (p_o - p_e) / (1 - p_e)

    Cohen 1960, A Coefficient of Agreement for Nominal Scales.

    >>> cohen_kappa(20, 5, 10, 15)
    0.4
    """
    n = both + first + second + neither
    if not n:
        return None
    expected = (both + first) * (both + second) + (neither + first) * (neither + second)
    if expected == n * n:
        return None
    return (n * (both + neither) - expected) / (n * n - expected)
