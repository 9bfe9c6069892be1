"""Chance-corrected agreement between judges of the same items.

The formulas are implemented here, since scikit-learn and krippendorff would be large dependencies
for one short formula each.
"""

from __future__ import annotations

from collections.abc import Sequence


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of numeric ratings, one sequence per item. Items with fewer than two
    ratings are left out. Alpha is 1 if all ratings of each item agree, and 0 if they agree no more
    than by chance. The result is None if all ratings are equal, or if no item has two ratings.

        alpha = 1 - D_o/D_e
        D_o = 1/n Σ_u 1/(m_u-1) Σ_{i≠j in u} (x_i - x_j)²     D_e = 1/(n(n-1)) Σ_{i≠j} (x_i - x_j)²

    with m_u ratings of item u and n ratings in total. The formula is alpha with the interval
    difference (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability). For ratings of 0 and
    1, the nominal difference gives the same alpha.

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
    """The sum of (x_i - x_j)² over all ordered pairs. The sum is computed from deviations from the
    mean, since the difference of two large sums would lose precision."""
    mean = sum(ratings) / len(ratings)
    return 2 * len(ratings) * sum((rating - mean) ** 2 for rating in ratings)


def cohen_kappa(both: int, first: int, second: int, neither: int) -> float | None:
    """Cohen's kappa of two yes/no raters. The arguments are the numbers of items to which both
    raters, only the first rater, only the second rater, or neither rater said yes. The result is
    None if there are no items, or if the raters would always agree by chance.

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
