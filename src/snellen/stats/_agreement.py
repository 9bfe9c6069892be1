"""How far those who judge the same things agree, beyond what chance gives.

By hand, since scikit-learn is a large dependency for one short formula, and krippendorff another.
"""

from __future__ import annotations

from collections.abc import Sequence


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of numbers: each thing's ratings, by two people or more (others are
    left out); 1 where all agree, 0 where they agree as by chance, None where nothing differs.

        alpha = 1 - D_o/D_e
        D_o = 1/n Σ_u 1/(m_u-1) Σ_{i≠j in u} (x_i - x_j)²     D_e = 1/(n(n-1)) Σ_{i≠j} (x_i - x_j)²

    with m_u ratings of thing u and n of all: Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability, with the interval difference, which of 0 and 1 is the nominal one.

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
    """The sum of (x_i - x_j)² over all ordered pairs; from the mean, as large sums cancel."""
    mean = sum(ratings) / len(ratings)
    return 2 * len(ratings) * sum((rating - mean) ** 2 for rating in ratings)


def cohen_kappa(both: int, first: int, second: int, neither: int) -> float | None:
    """Cohen's kappa of two who say yes or no: of how many both said yes, the first alone, the
    second alone, neither; None where one of them always says the same as the other must.

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
