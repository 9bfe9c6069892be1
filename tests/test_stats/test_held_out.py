import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.stats import Estimate, Sums, difference, held_out, mean, ratio

FEW = "part of it depends on too few clusters"


def scored(scores: NDArray[np.float64]) -> Sums:
    sums = np.stack([scores, np.ones(len(scores))], axis=1)
    return Sums(cluster=np.arange(len(scores)), sums=sums, aggregate=ratio)


def drawn(seed: int, *shares: float, n: int = 60) -> list[Sums]:
    rng = np.random.default_rng(seed)
    return [scored((rng.random(n) < share).astype(float)) for share in shares]


def test_one_setting_alone_has_its_own_value() -> None:
    (setting,) = drawn(1, 0.6)
    estimate = held_out([setting], n=60)
    own = mean(setting.sums[:, 0], setting.cluster)
    assert estimate.value == pytest.approx(own.value)
    assert estimate.stderr == pytest.approx(own.stderr, rel=0.1)


def test_one_that_is_better_on_each_part_is_worth_what_it_has() -> None:
    best = np.tile([1.0, 1.0, 0.9], 20)
    estimate = held_out([scored(best - 0.5), scored(best), scored(best - 0.8)], n=60)
    assert estimate.value == pytest.approx(best.mean())


def test_the_lowest_is_chosen_where_lower_is_better() -> None:
    lowest = np.tile([0.1, 0.1, 0.0], 20)
    settings = [scored(lowest + 0.5), scored(lowest), scored(lowest + 0.8)]
    best = held_out(settings, n=60, lower_is_better=True)
    assert best.value == pytest.approx(lowest.mean())


def test_the_best_of_many_that_are_alike_is_worth_less_than_it_looks() -> None:
    # Twenty settings with a true value of 0.6. The highest is above it in each of these sets by
    # the mean of twenty normal maxima, 1.87 standard errors of 0.063; held out it is not.
    highest, held = [], []
    for seed in range(40):
        settings = drawn(seed, *[0.6] * 20)
        highest.append(max(setting.sums[:, 0].mean() for setting in settings))
        value = held_out(settings, n=60, seed=seed, resamples=20).value
        assert value is not None
        held.append(value)
    assert np.mean(highest) > 0.7
    assert np.mean(held) == pytest.approx(0.6, abs=0.03)


def test_the_same_seed_gives_the_same_and_another_nearly() -> None:
    settings = drawn(3, 0.5, 0.6, 0.65)
    estimate, again, other = (held_out(settings, n=60, seed=seed) for seed in (0, 0, 1))
    assert estimate == again
    assert estimate.stderr is not None
    assert other.value == pytest.approx(estimate.value, abs=0.3 * estimate.stderr)


def test_an_interval_of_a_fraction_stays_in_its_range() -> None:
    estimate = held_out([scored(np.array([1.0] * 19 + [0.0])), scored(np.zeros(20))], n=20)
    assert estimate.ci95 is not None
    assert estimate.ci95[1] == 1.0


@pytest.mark.parametrize("n", [20, 40, 60])
@pytest.mark.parametrize("limit", [0.0, 1.0])
@pytest.mark.parametrize("others", [0.2, 0.8, 1.0])
def test_an_interval_at_a_limit_is_as_wide_as_that_of_the_plain_mean(
    n: int, limit: float, others: float
) -> None:
    # The share `others` of the second setting's scores equals the limit.
    other = np.where(np.arange(n) < others * n, limit, 1 - limit)
    settings = [scored(np.full(n, limit)), scored(other)]

    estimate = held_out(settings, n=n, lower_is_better=limit == 0.0)
    alone = mean(np.full(n, limit), np.arange(n)).ci95

    assert estimate.value == limit
    assert estimate.ci95 is not None and alone is not None
    assert estimate.ci95 == pytest.approx(alone)


def test_an_interval_close_to_a_limit_contains_that_of_the_plain_mean() -> None:
    # One wrong score of 40, and Wilson's interval for 39 of 40.
    almost_all_right = np.array([0.0] + [1.0] * 39)
    estimate = held_out([scored(almost_all_right), scored(np.zeros(40))], n=40)

    assert estimate.value == pytest.approx(0.975)
    assert estimate.ci95 is not None
    assert estimate.ci95[0] == pytest.approx(0.8712, abs=0.01)
    assert estimate.ci95[1] == 1.0


def without(settings: list[Sums], n: int) -> Estimate:
    estimate = held_out(settings, n=n)
    assert estimate.ci95 is None and estimate.stderr is None
    return estimate


def test_where_there_is_no_interval_the_reason_is_said() -> None:
    few = without(drawn(4, 0.5, 0.6, n=9), 9)
    assert few.reason == "9 independent clusters: an interval needs at least 10"
    assert few.value is not None
    alike = without([scored(np.full(20, 0.5)), scored(np.full(20, 0.5))], 20)
    assert (alike.value, alike.reason) == (0.5, "all resamples have the same value")
    lone = without([scored(np.ones(1)), scored(np.zeros(1))], 1)
    assert (lone.value, lone.reason) == (None, f"undefined in 100 % of random splits: {FEW}")
    nothing = without([scored(np.empty(0))], 0)
    assert (nothing.value, nothing.reason) == (None, "no scores")


def test_settings_have_the_same_metric() -> None:
    other = Sums(cluster=np.arange(3), sums=np.ones((3, 3)), aggregate=lambda t: t[:, 0])
    with pytest.raises(ValueError, match="the same columns"):
        held_out([scored(np.ones(3)), other], n=3)
    with pytest.raises(ValueError, match="the same columns"):
        held_out([], n=0)


def test_where_nothing_can_be_chosen_no_setting_is_taken_for_the_best() -> None:
    # Two of twelve clusters in each of six categories: in 1 - (8/11)^6 or so of the ways to deal
    # them a category is in one third alone, and no setting has a value on the other two.
    category = np.repeat(np.eye(6), 2, axis=0)

    def macro(seed: int) -> Sums:
        right = np.random.default_rng(seed).integers(0, 2, 12)[:, np.newaxis]
        sums = np.concatenate([right * category, category], axis=1)
        return Sums(
            cluster=np.arange(12),
            sums=sums,
            aggregate=lambda totals: (totals[:, :6] / totals[:, 6:]).mean(axis=1),
        )

    estimate = without([macro(1), macro(2)], 12)
    assert estimate.value is None
    assert estimate.reason is not None and estimate.reason.endswith(FEW)


def test_a_setting_without_a_value_is_not_chosen() -> None:
    nowhere = Sums(cluster=np.arange(20), sums=np.zeros((20, 2)), aggregate=ratio)
    ones = scored(np.tile([1.0, 0.0], 10))
    assert held_out([nowhere, ones], n=20).value == pytest.approx(0.5)
    assert difference(nowhere, ones, n=20).estimate.reason == "undefined"
