from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.stats import Estimate, mean

# 36 scores from 0 to 1 in 12 clusters of 1 to 4
ROW = np.arange(36)
TENTHS = np.array([(7 * i * i + 3 * i) % 11 / 10 for i in range(36)])
TWELVE = np.where(ROW < 22, ROW // 2, ROW * 5 % 12)


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.ci95 is not None
    return estimate.ci95


def shares(*groups: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Scores and clusters of (how many clusters, rows each, right each)."""
    groups_of_scores = [
        [1.0] * right + [0.0] * (rows - right) for n, rows, right in groups for _ in range(n)
    ]
    score = np.array([x for cluster in groups_of_scores for x in cluster])
    return score, np.repeat(
        np.arange(len(groups_of_scores)), [len(cluster) for cluster in groups_of_scores]
    )


# -- numbers


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [  # statsmodels 0.15.0, proportion_confint(right, n, method="wilson")
        (81, 100, (0.7222115462093562, 0.8748524849023126)),
        (0, 40, (0.0, 0.08762160119728668)),
        (40, 40, (0.9123783988027134, 1.0)),
    ],
)
def test_right_or_wrong_alone_in_their_clusters_have_wilson_s_interval(
    right: int, n: int, expected: tuple[float, float]
) -> None:
    estimate = mean(*shares((right, 1, 1), (n - right, 1, 0)))
    assert estimate.value == right / n
    assert (estimate.stderr is None) == (right in (0, n))
    assert ends(estimate) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [  # the same program, with n × (1.96 / t)² for n: t is scipy 1.17.1's for n - 1 degrees
        (15, 20, (0.5161143588643617, 0.8940453009571403)),
        (0, 12, (0.0, 0.28759434437949916)),
    ],
)
def test_below_thirty_clusters_students_t_widens_wilson_s_interval(
    right: int, n: int, expected: tuple[float, float]
) -> None:
    assert ends(mean(*shares((right, 1, 1), (n - right, 1, 0)))) == pytest.approx(
        expected, abs=1e-8
    )


def test_pairs_that_agree_count_for_less_than_their_rows() -> None:
    # By hand: of 40 pairs 20 are right, 10 wrong, 10 half; m = 50/80, the pairs' residuals 0.75,
    # -1.25 and -0.25, their squares 27.5 in all; stderr² = 40/39 · 27.5 / 80². The effective n is
    # (0.375 · 0.625 · 80/79) / stderr² = 53.855 and times (t79/t39)² = 52.15184; the degrees
    # are 39, since the fourth powers alone would give 141. Wilson for that n: statsmodels 0.15.0.
    estimate = mean(*shares((20, 2, 2), (10, 2, 0), (10, 2, 1)))
    assert estimate.stderr == pytest.approx(0.0663856255679743, abs=1e-12)
    assert ends(estimate) == pytest.approx((0.4893298359926479, 0.7435187429008894), abs=1e-8)


def test_few_clusters_that_carry_all_that_is_right_widen_the_interval() -> None:
    # By hand: m = 12/200; residuals 4.7 twice, 0.7 twice, -0.3; squares S = 48.4, their squared
    # deviations 918.144, those of the rows' squares 8.735232: 2 S² / (918.144 - 8.735232) = 5.15
    # degrees, t = 2.548. Effective n 45.67, and 27.357987 for them. Wilson: statsmodels 0.15.0.
    estimate = mean(*shares((2, 5, 5), (2, 5, 1), (36, 5, 0)))
    assert estimate.stderr == pytest.approx(0.03522819383711917, abs=1e-12)
    assert ends(estimate) == pytest.approx((0.014780860102692472, 0.2135699040506519), abs=1e-8)


def test_where_all_are_right_each_cluster_counts_once() -> None:
    # By hand: 20 clusters of 1 row and 20 of 3 are worth 80² / (20·1 + 20·9) = 32 equal ones, and
    # leave (20·1 + 20·9)² / (20·1 + 20·81) = 24.390 degrees; times (t79/t24.390)² it is 29.81337.
    # Wilson for that n, all right: statsmodels 0.15.0; t here and below: scipy 1.17.1.
    assert ends(mean(*shares((20, 1, 1), (20, 3, 3)))) == pytest.approx(
        (0.8858571292402166, 1.0), abs=1e-8
    )


def test_a_few_large_clusters_of_like_rows_are_worth_less() -> None:
    # By hand: m = 0.5; the sums of ten clusters of 10 rows are ±3, those of 30 single rows ±0.5.
    # stderr² = 40/39 · 97.5 / 130². CR2: 90 / (1 - 10/130) + 7.5 / (1 - 1/130) = 105.058140, so the
    # effective n is 0.25 · 130/129 · 130² / 105.058140 = 40.527578. With nothing in common it would
    # be 130, with all 130² / 1030 = 16.4078: what is in common is (1/40.53 - 1/130) / (1/16.41 -
    # 1/130) = 0.318889. So a sum varies by 0.681111·10 + 0.318889·100 = 38.7 or by 1, and the
    # degrees are (10·38.7 + 30)² / (10·38.7² + 30 - 0.681111² · 1030) = 11.968 (Pan and Wall: 33).
    # Times (t129/t11.968)²: 33.399416. Wilson: statsmodels 0.15.0.
    estimate = mean(*shares((5, 10, 8), (5, 10, 2), (15, 1, 1), (15, 1, 0)))
    assert estimate.stderr == pytest.approx((40 / 39 * 97.5) ** 0.5 / 130, abs=1e-12)
    assert ends(estimate) == pytest.approx((0.3394138243055421, 0.6605861756944579), abs=1e-8)


def test_large_clusters_of_equal_rows_count_for_no_less_than_once() -> None:
    # By hand: as above with sums of ±5; CR2 278.391473, effective n 15.294118, below that of rows
    # with all in common. Degrees (10·100 + 30)² / (10·100² + 30) = 10.606; n is 12.246926.
    estimate = mean(*shares((5, 10, 10), (5, 10, 0), (15, 1, 1), (15, 1, 0)))
    assert ends(estimate) == pytest.approx((0.25567839395223607, 0.744321606047764), abs=1e-8)


def test_scores_between_0_and_1_have_wilson_s_interval_too() -> None:
    # stderr: statsmodels 0.15.0, OLS(score, ones).fit(cov_type="cluster"). By hand: the clusters
    # vary less than their rows do, so n is 36, and as many scores of 0 and 1 as vary like it are
    # 36 · m (1 - m) / 0.12693673 = 67.905659. Wilson: statsmodels.
    estimate = mean(TENTHS, TWELVE)
    assert estimate.value == pytest.approx(0.3972222222222222, abs=1e-12)
    assert estimate.stderr == pytest.approx(0.03866326645653357, abs=1e-12)
    assert ends(estimate) == pytest.approx((0.28936675071848206, 0.5160834765849865), abs=1e-8)


def test_scores_beyond_0_and_1_have_student_s_t() -> None:
    # the same doubled, ± t of 11 degrees
    estimate = mean(TENTHS * 2, TWELVE)
    half = 2.200985160091639 * 2 * 0.03866326645653357
    middle = 2 * 0.3972222222222222
    assert ends(estimate) == pytest.approx((middle - half, middle + half), abs=1e-8)


def test_an_interval_of_scores_from_0_to_1_stays_there() -> None:
    nearly = np.array([1.0] * 11 + [0.5])

    low, high = ends(mean(nearly, np.arange(12)))
    above = ends(mean(nearly * 2, np.arange(12)))

    assert 0.0 < low < nearly.mean() < high < 1.0
    assert above[1] > 2.0, "scores above 1 are not fractions: nobody knows where they end"


def test_few_clusters_that_differ_widen_the_interval_of_other_scores() -> None:
    # By hand: m = 0.868; 48 squares of 0.032² and 2 of 0.768² are S = 1.2288 in all, the squared
    # deviations of the squares 0.665636: 2 S² / 0.665636 = 4.537 degrees. n is 50 · (t49/t4.537)² =
    # 28.719604, as many scores of 0 and 1 are times 0.868 · 0.132 / (S/50): 133.893934. Wilson:
    # statsmodels 0.15.0.
    estimate = mean(np.array([0.9] * 48 + [0.1] * 2), np.arange(50))
    assert ends(estimate) == pytest.approx((0.800283135277098, 0.9151897247319425), abs=1e-8)


def test_weights_weigh() -> None:
    # statsmodels 0.15.0: WLS(score, ones, weights).fit(cov_type="cluster"). By hand: the rows are
    # worth 72² / (12 · 14) = 30.857143 and vary by 0.12597029: n is 58.720855
    estimate = mean(TENTHS, TWELVE, np.array([1.0, 2.0, 3.0] * 12))
    assert estimate.value == pytest.approx(0.398611111111111, abs=1e-12)
    assert estimate.stderr == pytest.approx(0.04979347930686866, abs=1e-12)
    assert ends(estimate) == pytest.approx((0.2833537187613449, 0.526319489276174), abs=1e-8)


def test_a_cluster_that_weighs_nearly_all_leaves_an_interval() -> None:
    estimate = mean(*shares((6, 1, 1), (6, 1, 0)), np.array([1e20] + [1.0] * 11))
    low, high = ends(estimate)
    assert 0 < low < 0.5 < high == 1.0


def test_right_or_wrong_of_unequal_weight_are_worth_fewer_rows() -> None:
    # By hand: pairs of a right and a wrong row leave no residual, so the effective n is that of
    # the weights, 160² / 400 = 64, times (t79/t39)² 61.976003; Wilson: statsmodels 0.15.0
    weight = np.array([1.0] * 40 + [3.0] * 40)
    estimate = mean(np.array([1.0, 0.0] * 40), np.arange(80) // 2, weight)
    assert ends(estimate) == pytest.approx((0.3792053967791764, 0.6207946032208236), abs=1e-8)


@pytest.mark.parametrize("n", range(10, 60))
def test_an_interval_ends_at_0_where_all_are_wrong_and_at_1_where_all_are_right(n: int) -> None:
    assert ends(mean(np.zeros(n), np.arange(n)))[0] == 0
    assert ends(mean(np.ones(n), np.arange(n)))[1] == 1


# -- where there is none


def test_no_scores_have_no_mean() -> None:
    estimate = mean(np.empty(0), np.empty(0, dtype=np.int32))
    assert estimate == Estimate(value=None, n=0, reason="no scores")


def test_nine_clusters_have_a_mean_and_no_interval() -> None:
    estimate = mean(np.array([0.0, 1.0] * 9), np.arange(18) // 2)
    assert (estimate.value, estimate.stderr, estimate.ci95) == (0.5, None, None)
    assert estimate.reason == "9 independent clusters: an interval needs at least 10"


def test_equal_scores_between_0_and_1_have_no_interval() -> None:
    estimate = mean(np.full(100, 0.3), np.arange(100))
    assert (estimate.stderr, estimate.ci95, estimate.reason) == (
        None,
        None,
        "all clusters have the same mean",
    )


@pytest.mark.parametrize(
    ("score", "weight", "message"),
    [
        ([0.5, float("nan")], None, "not a finite number"),
        ([0.5, float("inf")], None, "not a finite number"),
        ([0.5, 0.5], [1.0, 0.0], "not above 0"),
        ([0.5, 0.5], [1.0, float("nan")], "not above 0"),
        ([0.5, 0.5, 0.5], None, "as many clusters .* as scores"),
        ([0.5, 0.5], [1.0], "as many clusters .* as scores"),
    ],
)
def test_what_is_no_score_is_an_error(
    score: list[float], weight: list[float] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        mean(np.array(score), np.arange(2), None if weight is None else np.array(weight))


# -- properties


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_the_order_of_rows_does_not_matter(data: st.DataObject) -> None:
    n = data.draw(st.integers(10, 80))
    score = np.array(data.draw(st.lists(st.sampled_from([0, 0.3, 1]), min_size=n, max_size=n)))
    cluster = np.array(data.draw(st.lists(st.integers(0, 25), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(n))))
    estimate, shuffled = mean(score, cluster), mean(score[order], cluster[order])
    assert shuffled.value == pytest.approx(estimate.value, abs=1e-12)
    assert (shuffled.ci95 is None) == (estimate.ci95 is None)
    if estimate.ci95 is not None:
        assert ends(shuffled) == pytest.approx(estimate.ci95, abs=1e-9)


@given(st.lists(st.booleans(), min_size=10, max_size=120), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_right_or_wrong_always_have_an_interval_with_a_width_inside_0_and_1(
    right: list[bool], rows_per_cluster: int
) -> None:
    score = np.repeat(np.array(right, dtype=float), rows_per_cluster)
    low, high = ends(mean(score, np.repeat(np.arange(len(right)), rows_per_cluster)))
    assert 0 <= low <= score.mean() <= high <= 1
    assert high - low > 0.01


def test_pairs_of_which_one_is_right_are_no_reason_to_be_surer_than_their_rows_allow() -> None:
    score = np.array([0.0, 1.0] * 99 + [1.0, 1.0])
    low, high = ends(mean(score, np.arange(200) // 2))
    plain = ends(mean(score, np.arange(200)))
    assert high - low > 0.99 * (plain[1] - plain[0])


@given(st.integers(60, 200), st.floats(0.2, 0.8), st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_the_same_answers_again_in_the_same_clusters_teach_next_to_nothing(
    n: int, share: float, times: int
) -> None:
    score = (np.arange(n) < share * n).astype(float)
    once = ends(mean(score, np.arange(n)))
    again = ends(mean(np.repeat(score, times), np.repeat(np.arange(n), times)))
    assert again[1] - again[0] == pytest.approx(once[1] - once[0], rel=0.04)


def test_rows_taken_for_independent_are_worth_more_than_in_their_clusters() -> None:
    score, cluster = shares((25, 4, 4), (25, 4, 0))
    together, alone = ends(mean(score, cluster)), ends(mean(score, np.arange(200)))
    assert together[1] - together[0] == pytest.approx(2 * (alone[1] - alone[0]), rel=0.05)


# -- coverage, small; perf/coverage.py does it at length


@pytest.mark.parametrize("p", [0.3, 0.7])
def test_clustered_intervals_hold_the_truth_19_times_of_20(p: float) -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(1000):
        cluster = np.repeat(np.arange(50), rng.integers(1, 10, 50))
        chance = rng.beta(2 * p, 2 * (1 - p), 50)[cluster]  # intra-cluster correlation 1/3
        low, high = ends(mean((rng.random(len(cluster)) < chance).astype(float), cluster))
        held += low <= p <= high
    assert 0.94 - 0.02 <= held / 1000 <= 0.965 + 0.02  # three standard errors of 1,000 draws


def test_differences_are_no_shares_whatever_their_values() -> None:
    """Of 0s and 1s the mean ± t(39)·s/√n, s² = n/(n-1)·m(1-m); of 0s alone nothing is known."""
    estimate = mean(np.tile([0.0, 1.0], 20), np.arange(40), signed=True)
    half = 2.022691 * (0.25 / 39) ** 0.5
    assert estimate.ci95 == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert mean(np.zeros(40), np.arange(40), signed=True).ci95 is None
