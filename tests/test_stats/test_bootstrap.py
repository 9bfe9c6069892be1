import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.stats import Estimate, bootstrap, bootstrap_sums, mean

SUMS = np.stack([(np.arange(200) * 37 % 1000 / 1000) ** 4, 1.0 + np.arange(200) % 5], axis=1)


def ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return values


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.ci95 is not None
    return estimate.ci95


@pytest.mark.parametrize(
    ("n", "value", "expected", "stderr"),
    [
        # scipy 1.17.1: stats.bootstrap((a, b), ratio, paired=True, method="BCa"), 100,000 and
        # 200,000 resamples, three seeds, with confidence_level 1 - 2 Φ(-√(n/(n-1)) t_{n-1});
        # standard error times √(n/(n-1)). The seeds differ by 0.0002.
        (200, 0.0677694258871, (0.0551, 0.0827), 0.00695 * 1.0025),
        (20, 0.017575444553766664, (0.00828, 0.03092), 0.005317),
    ],
)
def test_a_ratio_of_sums_has_the_interval_that_scipy_gives(
    n: int, value: float, expected: tuple[float, float], stderr: float
) -> None:
    estimate = bootstrap_sums(SUMS[:n], ratio, n=n, resamples=40_000)
    assert estimate.value == pytest.approx(value, abs=1e-12)
    assert ends(estimate) == pytest.approx(expected, abs=0.0004)
    assert estimate.stderr == pytest.approx(stderr, rel=0.02)


def test_rows_give_the_interval_that_their_sums_give() -> None:
    # 60 clusters of 1 to 3 rows that do not lie together; the last six have nearly all the score
    cluster = np.array([g for turn in range(3) for g in range(60) if g % 3 >= turn])
    score = np.where(cluster >= 54, 0.5 + cluster % 5 / 10, cluster % 7 / 100)
    sums = np.array([[score[cluster == g].sum(), (cluster == g).sum()] for g in range(60)])
    fast = bootstrap_sums(sums, ratio, n=120, seed=3, resamples=20_000)
    slow = bootstrap(lambda rows: float(score[rows].mean()), cluster, seed=4, resamples=20_000)
    assert fast.stderr is not None
    assert slow.value == pytest.approx(fast.value, abs=1e-12)
    assert ends(slow) == pytest.approx(ends(fast), abs=0.15 * fast.stderr)


def test_rows_come_in_whole_clusters_and_each_cluster_is_left_out_once() -> None:
    cluster = np.arange(30) * 7 % 12
    multiples: list[list[int]] = []

    def aggregate(rows: NDArray[np.intp]) -> float:
        multiples.append(np.bincount(rows, minlength=30).tolist())
        return float(rows.mean())

    bootstrap(aggregate, cluster, resamples=50)
    for times in multiples:
        assert all(len({times[i] for i in np.flatnonzero(cluster == g)}) == 1 for g in range(12))
    for g in range(12):
        assert multiples.count((cluster != g).astype(int).tolist()) == 1


def test_a_mean_drawn_again_has_nearly_the_interval_of_the_formula() -> None:
    rng = np.random.default_rng(2)
    score, cluster = rng.random(600), np.arange(600) // 2
    drawn = bootstrap(lambda rows: float(score[rows].mean()), cluster, resamples=2000)
    formula = mean(score, cluster)
    assert formula.stderr is not None
    assert drawn.stderr == pytest.approx(formula.stderr, rel=0.05)
    assert ends(drawn) == pytest.approx(ends(formula), abs=0.15 * formula.stderr)


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    estimate = bootstrap_sums(SUMS, ratio, n=200, seed=1, resamples=500)
    assert bootstrap_sums(SUMS, ratio, n=200, seed=1, resamples=500) == estimate
    assert bootstrap_sums(SUMS, ratio, n=200, seed=2, resamples=500).ci95 != estimate.ci95


def test_the_order_of_clusters_does_not_matter() -> None:
    shuffled = SUMS[np.random.default_rng(0).permutation(200)]
    estimate = bootstrap_sums(SUMS, ratio, n=200, resamples=500)
    assert bootstrap_sums(shuffled, ratio, n=200, resamples=500) == estimate


def test_clusters_with_equal_sums_are_each_counted() -> None:
    equal = np.array([[0.0, 1.0]] * 95 + [[1.0, 1.0]] * 5)
    different = equal + np.arange(100)[:, np.newaxis] * 1e-9
    estimate = bootstrap_sums(equal, ratio, n=100, resamples=40_000)
    assert estimate.value == 0.05
    expected = ends(bootstrap_sums(different, ratio, n=100, resamples=40_000))
    assert ends(estimate) == pytest.approx(expected, abs=0.001)  # a cluster more is 0.01


# -- where there is none


def test_nine_clusters_have_a_value_and_no_interval() -> None:
    estimate = bootstrap_sums(SUMS[:9], ratio, n=9)
    assert (estimate.value is not None, estimate.stderr, estimate.ci95) == (True, None, None)
    assert estimate.reason == "9 independent clusters: an interval needs at least 10"


def test_an_aggregate_that_is_undefined_has_no_value() -> None:
    estimate = bootstrap_sums(np.zeros((20, 2)), ratio, n=20)
    assert (estimate.value, estimate.n, estimate.reason) == (None, 20, "undefined")
    assert bootstrap(lambda rows: None, np.arange(20)).value is None


def test_no_rows_have_no_value() -> None:
    assert bootstrap_sums(np.zeros((0, 2)), ratio, n=0).reason == "no scores"
    assert bootstrap(lambda rows: 1.0, np.empty(0, dtype=np.int32)).reason == "no scores"


def of_both(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of two means."""
    values: NDArray[np.float64] = (totals[:, :2] / totals[:, 2:]).mean(axis=1)
    return values


def in_two(small: int) -> NDArray[np.float64]:
    """Sums for `of_both` of 40 clusters, of which `small` are in the second category."""
    category, score = np.arange(40) < small, np.arange(40) % 2
    return np.stack([score * ~category, score * category, ~category, category], axis=1) * 1.0


def test_a_part_that_rests_on_one_cluster_leaves_no_interval() -> None:
    estimate = bootstrap_sums(in_two(1), of_both, n=40)
    assert estimate.value is not None
    assert estimate.ci95 is None
    assert estimate.reason is not None and "without one of its clusters" in estimate.reason


def test_a_part_that_rests_on_two_clusters_is_undefined_too_often() -> None:
    # both are missing from (38/40)^40 = 12.9 % of resamples
    estimate = bootstrap_sums(in_two(2), of_both, n=40, resamples=20_000)
    assert estimate.ci95 is None
    assert estimate.reason is not None and "undefined in 13 % of resamples" in estimate.reason


def test_a_few_undefined_resamples_are_left_out() -> None:
    # all three are missing from (37/40)^40 = 4.4 % of resamples
    sums = in_two(3)
    sums[:3, 1] = [1, 1, 0]
    estimate = bootstrap_sums(sums, of_both, n=40)
    # taken for 0 they would be the lower end
    assert ends(estimate)[0] > 0.15


def test_equal_values_in_all_resamples_leave_no_interval() -> None:
    estimate = bootstrap_sums(np.ones((50, 2)), ratio, n=50)
    assert (estimate.value, estimate.stderr, estimate.ci95) == (1.0, None, None)
    assert estimate.reason == "all resamples have the same value"


def test_drawn_intervals_hold_the_truth_19_times_of_20() -> None:
    rng = np.random.default_rng(12)
    held = 0
    for seed in range(1000):  # with one for all they would share the error of 400 resamples
        right = rng.binomial(2, 0.7, (50, 2))  # two questions with yes, two with no an image
        sums = np.stack([right[:, 0], 2 - right[:, 1], 2 - right[:, 0]], axis=1).astype(float)
        low, high = ends(bootstrap_sums(sums, f1, n=200, seed=seed, resamples=400))
        held += low <= 0.7 <= high  # of four, 1.4 true, 0.6 false, 0.6 missed: F1 = 2.8 / 4
    assert 0.94 - 0.02 <= held / 1000 <= 0.965 + 0.02


def f1(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    true, false, missed = totals.T
    values: NDArray[np.float64] = 2 * true / (2 * true + false + missed)
    return values
