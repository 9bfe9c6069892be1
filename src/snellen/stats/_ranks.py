"""Computes the uncertainty of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations, pairwise
from string import ascii_letters
from typing import TYPE_CHECKING

from snellen.stats._bootstrap import MOST_UNDEFINED, totals_drawn
from snellen.stats._paired import sums_by_label
from snellen.stats._sums import Sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


GREEK = 0x3B1


def ranks(
    sides: Sequence[Sums],
    seed: int = 0,
    resamples: int = 10_000,
    *,
    lower_is_better: bool = False,
) -> list[tuple[int, int]] | None:
    """For each side, such as a model, the interval that contains its rank in 95 % of resamples. The
    highest value has rank 1, or the lowest value if `lower_is_better`. Equal values share the
    better rank.

    Each resample draws the same clusters for all sides (Goldstein and Spiegelhalter 1996, Journal
    of the Royal Statistical Society A 159). Resamples in which a side has no value are left out.
    The result is None if more than 5 % of resamples are left out, which is the same limit as in
    `bootstrap`.
    """
    import numpy as np

    values = side_values(sides, seed=seed, resamples=resamples)
    undefined = np.isnan(values).any(axis=1)
    if undefined.mean() > MOST_UNDEFINED:
        return None
    values = -values[~undefined] if lower_is_better else values[~undefined]
    above = values - 1e-12 * np.abs(values)  # a rounding error must not decide a rank
    # (R, M): the rank of each side in each resample.
    rank = np.stack([1 + (above > values[:, [m]]).sum(axis=1) for m in range(len(sides))], axis=1)
    low = np.quantile(rank, 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(rank, 0.975, axis=0, method="inverted_cdf")
    return [(int(best), int(worst)) for best, worst in zip(low, high, strict=True)]


def side_values(sides: Sequence[Sums], *, seed: int, resamples: int) -> NDArray[np.float64]:
    """The values (R, M) of M sides in R resamples. A resample draws the same clusters for all
    sides."""
    import numpy as np

    labels = reduce(np.union1d, [side.cluster for side in sides])
    parts = [sums_by_label(labels, side) for side in sides]
    ends = [0, *np.cumsum([part.shape[1] for part in parts]).tolist()]
    blocks = []
    for totals in totals_drawn(np.concatenate(parts, axis=1), resamples, seed):
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [
                side.aggregate(totals[:, start:end])
                for side, (start, end) in zip(sides, pairwise(ends), strict=True)
            ]
        blocks.append(np.stack(values, axis=1))
    return np.concatenate(blocks)


def letters(n: int, same: Callable[[int, int], bool]) -> list[str]:
    """Assign letters to n sides that are sorted by value. Two sides share a letter if and only if
    `same` returns True for them. `same` is called for each pair i < j. The first sides get the
    first letters of the alphabet.

    The method is from Piepho 2004, Journal of Computational and Graphical Statistics 13. The method
    starts with a single column of all sides. For each pair of sides that differ, it splits the
    columns that contain both sides, and drops any column that is contained in another column.

    >>> letters(3, lambda i, j: j - i < 2)
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(n))]
    for i, j in combinations(range(n), 2):
        if same(i, j):
            continue
        split = [part for column in columns for part in _without(column, i, j)]
        columns = [
            column for column in dict.fromkeys(split) if not any(column < other for other in split)
        ]
    columns.sort(key=sorted)
    return [
        "".join(_letter(index) for index, column in enumerate(columns) if side in column)
        for side in range(n)
    ]


def _without(column: frozenset[int], i: int, j: int) -> list[frozenset[int]]:
    """Split a column that contains both i and j into two columns, one without i and one without j.
    Other columns are returned unchanged."""
    return [column - {i}, column - {j}] if {i, j} <= column else [column]


def _letter(index: int) -> str:
    """The letter with this index: a to z, then A to Z, then Greek letters and the characters after
    them."""
    after = index - len(ascii_letters)
    return ascii_letters[index] if after < 0 else chr(GREEK + after)
