import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.stats import Sums, letters, ranks, ratio


def side(scores: object) -> Sums:
    rows = np.asarray(scores, dtype=float)
    sums = np.stack([rows, np.ones(len(rows))], axis=1)
    return Sums(cluster=np.arange(len(rows)), sums=sums, aggregate=ratio)


def test_one_that_is_better_everywhere_is_first_in_all_resamples() -> None:
    rng = np.random.default_rng(1)
    low = rng.random(50) / 4
    assert ranks([side(low), side(low + 0.5), side(low + 0.25)]) == [(3, 3), (1, 1), (2, 2)]


def test_two_that_are_alike_change_places_and_a_worse_one_does_not() -> None:
    rng = np.random.default_rng(2)
    first, second, worse = rng.random(80), rng.random(80), rng.random(80) / 5
    assert ranks([side(first), side(worse), side(second)]) == [(1, 2), (3, 3), (1, 2)]


def test_equal_sides_share_the_better_rank() -> None:
    scores = np.random.default_rng(3).random(20)
    assert ranks([side(scores), side(scores), side(scores / 9)]) == [(1, 1), (1, 1), (3, 3)]
    # (x + x + x) / 3 is not always x.
    thrice = side(scores + scores + scores)
    thrice.sums[:, 1] = 3
    assert ranks([side(scores), thrice, side(scores / 9)]) == [(1, 1), (1, 1), (3, 3)]


def macro(seed: int, categories: int, clusters_per_category: int) -> Sums:
    """The mean over categories of their means, each of so many clusters."""
    category = np.repeat(np.arange(categories), clusters_per_category)
    sums = np.zeros((len(category), 2 * categories))
    right = np.random.default_rng(seed).integers(0, 2, len(category))
    sums[np.arange(len(category)), category] = right
    sums[np.arange(len(category)), categories + category] = 1

    def average(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        of_scores, of_rows = np.split(totals, 2, axis=1)
        means: NDArray[np.float64] = (of_scores / of_rows).mean(axis=1)
        return means

    return Sums(cluster=np.arange(len(category)), sums=sums, aggregate=average)


def test_sides_that_often_have_no_value_have_no_rank() -> None:
    empty = Sums(cluster=np.arange(12), sums=np.zeros((12, 2)), aggregate=ratio)
    assert ranks([empty, side(np.ones(12))]) is None
    # A category of two clusters of twenty is missing in (18/20)^20 = 12 % of resamples, one of
    # seven of fourteen in (1/2)^14: both are 1 in 8,000 for the two of them.
    assert ranks([macro(1, 10, 2), macro(2, 10, 2)]) is None
    assert ranks([macro(1, 2, 7), macro(2, 2, 7)]) is not None


def test_four_of_which_the_first_differs_from_two_and_the_second_from_one() -> None:
    differ = {(0, 2), (0, 3), (1, 3)}
    assert letters(4, lambda i, j: (i, j) not in differ) == ["a", "ab", "bc", "c"]


def test_all_the_same_share_one_letter_and_all_different_none() -> None:
    assert letters(3, lambda i, j: True) == ["a", "a", "a"]
    assert letters(3, lambda i, j: False) == ["a", "b", "c"]
    assert letters(0, lambda i, j: True) == []
    many = letters(60, lambda i, j: False)
    assert many[:2] == ["a", "b"] and len({*many}) == 60 and {*map(len, many)} == {1}


@given(st.integers(2, 7), st.data())
def test_two_share_a_letter_if_and_only_if_they_are_the_same(n: int, data: st.DataObject) -> None:
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    same = {pair for pair in pairs if data.draw(st.booleans())}
    letters_by_side = letters(n, lambda i, j: (i, j) in same)
    assert all(letters_by_side)
    for i, j in pairs:
        assert bool({*letters_by_side[i]} & {*letters_by_side[j]}) == ((i, j) in same)
