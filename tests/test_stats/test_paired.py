import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.stats import (
    Difference,
    Sums,
    bootstrap_sums,
    difference,
    holm,
    mcnemar,
    mean,
    ratio,
)


def f1_of(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    both, answers, right = totals.T
    values: NDArray[np.float64] = 2 * both / (answers + right)
    return values


def means(*scores: float, weight: float = 1, first: int = 0) -> Sums:
    rows = [(weight * score, weight) for score in scores]
    return Sums(cluster=first + np.arange(len(rows)), sums=np.array(rows), aggregate=ratio)


def yes_no(seed: int, clusters: int = 60, same: float = 0.7) -> tuple[Sums, Sums]:
    """F1 of two models that agree on this share of images, each with three questions."""
    rng = np.random.default_rng(seed)
    ours = rng.integers(0, 4, (clusters, 3)).astype(float)
    ours[:, 0] = np.minimum(ours[:, 0], np.minimum(ours[:, 1], ours[:, 2]))
    theirs = np.where(rng.random((clusters, 1)) < same, ours, np.roll(ours, 1, axis=0))
    labels = np.arange(clusters)
    a, b = (Sums(cluster=labels, sums=side, aggregate=f1_of) for side in (ours, theirs))
    return a, b


def lacks_zero(result: Difference) -> bool:
    assert result.estimate.ci95 is not None
    low, high = result.estimate.ci95
    return low > 0 or high < 0


# -- differences of means


def test_a_difference_of_means_is_the_mean_of_the_paired_differences() -> None:
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 40, 200)
    scores_a, scores_b = rng.random(200), rng.random(200)
    a, b = mean(scores_a, cluster).sums, mean(scores_b, cluster).sums
    assert a is not None and b is not None
    result = difference(a, b, n=200)
    paired = mean(scores_b - scores_a, cluster, signed=True)
    assert result.estimate.ci95 is not None and paired.ci95 is not None
    assert result.estimate.value == pytest.approx(paired.value, abs=1e-12)
    assert result.estimate.stderr == pytest.approx(paired.stderr, abs=1e-12)
    assert result.estimate.ci95 == pytest.approx(paired.ci95, abs=1e-12)


def test_with_as_many_degrees_as_clusters_less_one_it_is_the_paired_t_test() -> None:
    # Differences of which half are 1 and half -0.5 have squares about their mean that are all
    # equal, so G-1 degrees. Expected: scipy 1.17.1, stats.ttest_rel(scores_b, scores_a).
    scores_a = [0.5] * 20
    scores_b = [1.5, 0.0] * 10
    result = difference(means(*scores_a), means(*scores_b), n=20)
    assert result.method == "paired t by cluster, 19 degrees of freedom"
    assert result.p == pytest.approx(0.1625499990297271, abs=1e-9)
    assert result.estimate.ci95 == pytest.approx(
        (-0.11012948708811554, 0.6101294870881155), abs=1e-7
    )


def test_the_order_of_the_sides_is_the_sign() -> None:
    a, b = means(*[0.0, 1.0, 0.5] * 10), means(*[0.0, 1.0, 1.0] * 10)
    there, back = difference(a, b, n=30), difference(b, a, n=30)
    assert there.estimate.ci95 is not None
    low, high = there.estimate.ci95
    assert back.estimate.ci95 == pytest.approx((-high, -low), abs=1e-15)
    assert back.p == there.p


def test_equal_sides_differ_by_nothing_and_say_so() -> None:
    for a in (means(*[0.0, 1.0, 1.0] * 5), yes_no(1)[0]):
        result = difference(a, a, n=15)
        assert (result.estimate.value, result.p, result.estimate.ci95) == (0.0, 1.0, None)
        assert result.estimate.reason == "both sides are the same in every cluster"


def test_the_same_difference_in_all_clusters_has_a_p_and_no_interval() -> None:
    result = difference(means(*[0.1] * 12), means(*[0.3] * 12), n=12)
    assert result.estimate.value == pytest.approx(0.2)
    assert result.estimate.ci95 is None
    assert result.p == 2 / 2**12  # all twelve of one sign: 2 of the 2^12 ways to deal them


def test_what_rounding_leaves_between_equal_means_is_no_difference() -> None:
    # 33 clusters of seven rows with 0.95 and of one row: the two means differ in their 16th digit
    a = mean(np.full(7 * 33, 0.95), np.repeat(np.arange(33), 7)).sums
    b = mean(np.full(33, 0.95), np.arange(33)).sums
    assert a is not None and b is not None
    result = difference(a, b, n=33)
    assert (result.estimate.value, result.p, result.method) == (0.0, 1.0, "none")
    assert result.estimate.reason == "both sides are the same in every cluster"


def test_below_ten_clusters_there_is_neither_interval_nor_p() -> None:
    a, b = means(*[0.0, 1.0, 1.0] * 3), means(*[1.0, 0.0, 1.0] * 3)
    result = difference(a, b, n=9)
    assert (result.estimate.ci95, result.p, result.method) == (None, None, "none")
    assert result.estimate.reason == "9 independent clusters: an interval needs at least 10"


def test_sides_without_a_common_cluster_are_not_paired() -> None:
    with pytest.raises(ValueError, match="share no cluster"):
        difference(means(1, 0), means(1, 0, first=2), n=2)


def test_a_cluster_that_one_side_lacks_adds_nothing_to_it() -> None:
    a, b = yes_no(2)
    there = np.append(a.sums[:-1], np.zeros((1, 3)), axis=0)
    short = Sums(cluster=a.cluster[:-1], sums=a.sums[:-1], aggregate=f1_of)
    full = Sums(cluster=a.cluster, sums=there, aggregate=f1_of)
    assert difference(short, b, n=180) == difference(full, b, n=180)


# -- differences of other aggregates


def test_a_composite_has_the_linearised_standard_error_of_its_difference() -> None:
    # F1 = 2 both / (answers + right): the move of a cluster is its derivative, by hand
    a, b = yes_no(3, clusters=200)
    moves = np.zeros(200)
    for side, sign in ((a, -1), (b, 1)):
        both, answers, right = side.sums.sum(axis=0)
        f1 = 2 * both / (answers + right)
        own = 2 * side.sums[:, 0] - f1 * (side.sums[:, 1] + side.sums[:, 2])
        moves += sign * own / (answers + right)
    result = difference(a, b, n=600)
    assert result.estimate.value == pytest.approx(
        f1_of(b.sums.sum(0)[None])[0] - f1_of(a.sums.sum(0)[None])[0]
    )
    assert result.estimate.stderr == pytest.approx(math.sqrt(200 / 199 * (moves @ moves)), rel=1e-3)


def test_an_average_of_averages_has_the_variance_of_its_categories() -> None:
    # Ten categories of three clusters of one row: the mean of d_c has Σ_c s_c² / 3 / 10², with
    # s_c² over 3 - 1 degrees, of which there are 10 (3 - 1) and not 29.
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(2, 10, 3))
    sides = []
    for score in scores:
        sums = np.zeros((30, 20))
        sums[np.arange(30), np.repeat(np.arange(10), 3)] = score.ravel()
        sums[np.arange(30), 10 + np.repeat(np.arange(10), 3)] = 1
        sides.append(Sums(cluster=np.arange(30), sums=sums, aggregate=average_of_ten))
    result = difference(*sides, n=30)
    by_category = (scores[1] - scores[0]).var(axis=1, ddof=1) / 3
    # half a cluster's step is not the derivative: 3²/(3² - 1/4) of the variance, 1.4 % of its root
    assert result.estimate.stderr == pytest.approx(
        math.sqrt(by_category.sum() / 100 * 9 / (9 - 1 / 4)), rel=1e-12
    )
    plain = difference(*(means(*side.ravel()) for side in scores), n=30)
    assert degrees_of(result) == pytest.approx(degrees_of(plain) * 20 / 29, rel=0.25)


def average_of_ten(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    value: NDArray[np.float64] = (totals[:, :10] / totals[:, 10:]).mean(axis=1)
    return value


def degrees_of(result: Difference) -> int:
    return int(result.method.split(", ")[1].split()[0])


def test_an_aggregate_that_rounds_all_steps_away_has_no_interval() -> None:
    def rounded(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.round(totals[:, 0] / totals[:, 1])

    sides = [
        Sums(
            cluster=np.arange(40),
            sums=np.stack([np.full(40, score) + np.arange(40) % 2, np.ones(40)], axis=1),
            aggregate=rounded,
        )
        for score in (3.0, 5.0)
    ]
    result = difference(*sides, n=40)
    assert (result.estimate.value, result.estimate.ci95, result.p) == (2.0, None, None)


def test_an_aggregate_that_rounds_what_leaving_out_makes_away_has_no_interval() -> None:
    def rounded(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.round(totals[:, 0] / totals[:, 1])

    # Eleven clusters of 3.3 and one of 5.4: 3.475, and 3.552 with half of the large one more; but
    # 3.49 at most without any one of them.
    every = np.array([5.4, *[3.3] * 11]), np.ones(12)
    a, b = (
        Sums(cluster=np.arange(12), sums=np.stack(columns, axis=1), aggregate=rounded)
        for columns in ((np.ones(12), np.ones(12)), every)
    )
    result = difference(a, b, n=12)
    assert (result.estimate.value, result.estimate.ci95, result.p) == (2.0, None, None)
    assert result.estimate.reason == "the clusters do not show how much the difference varies"


def test_a_composite_has_about_the_interval_of_a_paired_bootstrap() -> None:
    a, b = yes_no(5, clusters=400)
    both = np.concatenate([a.sums, b.sums], axis=1)
    drawn = bootstrap_sums(both, lambda t: f1_of(t[:, 3:]) - f1_of(t[:, :3]), n=1200)
    result = difference(a, b, n=1200)
    assert result.method.startswith("paired jackknife by cluster")
    assert result.estimate.stderr is not None and drawn.ci95 is not None
    assert result.estimate.ci95 == pytest.approx(drawn.ci95, abs=0.15 * result.estimate.stderr)


def test_a_composite_that_rests_on_one_cluster_has_no_interval() -> None:
    a, b = yes_no(6, clusters=20)
    alone = np.concatenate([a.sums, np.eye(20)[:, :1]], axis=1)

    def f1_and_another(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = f1_of(totals[:, :3]) + totals[:, 3] / totals[:, 3]
        return values

    rests = Sums(cluster=a.cluster, sums=alone, aggregate=f1_and_another)
    result = difference(rests, b, n=60)
    assert (result.estimate.ci95, result.p) == (None, None)
    assert result.estimate.reason is not None
    assert result.estimate.reason.startswith("undefined without one of its clusters")


def test_neither_order_nor_labels_of_clusters_change_a_composite() -> None:
    a, b = yes_no(4)
    order = np.random.default_rng(0).permutation(60)
    shuffled = Sums(cluster=a.cluster[order] + 7, sums=a.sums[order], aggregate=f1_of)
    moved = Sums(cluster=b.cluster + 7, sums=b.sums, aggregate=f1_of)
    assert difference(shuffled, moved, n=180) == difference(a, b, n=180)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 0.95))
def test_p_is_below_a_twentieth_where_the_interval_lacks_zero(seed: int, same: float) -> None:
    a, b = yes_no(seed, clusters=30, same=same)
    scored = [Sums(cluster=s.cluster, sums=s.sums[:, :2] + [0, 1], aggregate=ratio) for s in (a, b)]
    flat = [
        Sums(cluster=s.cluster, sums=np.stack([s.sums[:, 0], np.ones(30)], axis=1), aggregate=ratio)
        for s in (a, b)
    ]
    for side_a, side_b in ((a, b), scored, flat):
        result = difference(side_a, side_b, n=90)
        if result.estimate.ci95 is not None:
            assert result.p is not None
            assert (result.p < 0.05) == lacks_zero(result)


# -- p values


@pytest.mark.parametrize(
    ("only_a", "only_b", "expected"),
    [  # scipy 1.17.1: stats.binomtest(only_a, only_a + only_b).pvalue
        (0, 0, 1.0),
        (7, 7, 1.0),
        (0, 6, 0.03125),
        (3, 9, 0.14599609375),
        (30, 12, 0.007915897334896727),
        (49_500, 50_500, 0.0015823598788515154),
        (1000, 1, 9.351301457402253e-299),
    ],
)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int, expected: float) -> None:
    assert mcnemar(only_a, only_b) == pytest.approx(expected, rel=1e-9)


def test_a_negative_count_is_no_count() -> None:
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 3)


def test_holm_adjusts_as_statsmodels_does() -> None:
    # statsmodels 0.15.0: multipletests(..., method="holm")
    ps = [0.01, 0.04, 0.03, 0.005, 0.5, 0.04]
    assert holm(ps) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.5, 0.12], abs=1e-15)
    assert holm([]) == []
