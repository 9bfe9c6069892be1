"""Agreement of two raters, against figures from elsewhere."""

import numpy as np
import pytest

from snellen import stats


def array(*values: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array(values, dtype=float)


def test_kappa_of_right_and_wrong_is_cohens() -> None:
    """Cohen's kappa of 20 both, 5 and 10 alone, 15 neither is 0.4 by hand: p_o is 0.7, p_e 0.5."""
    first = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    kappa = stats.weighted_kappa(first, second, np.arange(50))
    assert kappa.value == pytest.approx(0.4)
    assert kappa.value == pytest.approx(stats.cohen_kappa(20, 5, 10, 15))


def test_kappa_of_grades_is_that_of_the_table_of_weights() -> None:
    """Cohen's definition by cells: 1 - Σ w o / Σ w e with w the squared difference."""
    random = np.random.default_rng(4)
    first = random.integers(0, 4, 80)
    second = np.clip(first + random.integers(-1, 2, 80), 0, 3)
    observed = np.zeros((4, 4))
    np.add.at(observed, (first, second), 1 / 80)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weights = (np.arange(4)[:, None] - np.arange(4)) ** 2
    by_cells = 1 - (weights * observed).sum() / (weights * expected).sum()
    kappa = stats.weighted_kappa(first.astype(float), second.astype(float), np.arange(80))
    assert kappa.value == pytest.approx(by_cells)
    assert kappa.ci95 is not None and kappa.ci95[0] < by_cells < kappa.ci95[1]


def test_a_rater_who_always_says_the_same_agrees_no_more_than_by_chance() -> None:
    first = np.tile([0.0, 0.5, 1.0], 20)
    assert stats.weighted_kappa(first, np.ones(60), np.arange(60)).value == pytest.approx(0)
    assert stats.weighted_kappa(np.ones(60), np.ones(60), np.arange(60)).value is None


def test_doubled_clusters_do_not_narrow_the_interval() -> None:
    random = np.random.default_rng(5)
    first = random.integers(0, 11, 60) / 10
    second = np.clip(first + random.normal(0, 0.2, 60), 0, 1)
    alone = stats.weighted_kappa(first, second, np.arange(60))
    doubled = stats.weighted_kappa(np.tile(first, 2), np.tile(second, 2), np.tile(np.arange(60), 2))
    assert alone.ci95 is not None
    assert doubled.ci95 == pytest.approx(alone.ci95)


def test_tau_is_kendalls_with_ties() -> None:
    """scipy's own example: kendalltau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]) is -0.47140452079103173.
    Each of 12 samples has these five means in both raters' numbers."""
    means = (array(12, 2, 1, 12, 2), array(1, 4, 7, 1, 0))
    first, second = (np.tile(values, 12) for values in means)
    tau = stats.rank_agreement(
        first, second, np.tile(np.arange(5), 12), np.repeat(np.arange(12), 5)
    )
    assert tau.value == pytest.approx(-0.47140452079103173)


def test_tau_has_no_value_if_a_rater_ranks_nobody() -> None:
    first = np.tile([1.0, 2.0, 3.0], 12)
    tau = stats.rank_agreement(
        first, np.ones(36), np.tile(np.arange(3), 12), np.repeat(np.arange(12), 3)
    )
    assert tau.value is None


def test_models_that_lie_close_together_make_their_ranks_uncertain() -> None:
    random = np.random.default_rng(6)
    samples, models = np.repeat(np.arange(100), 3), np.tile(np.arange(3), 100)
    first = random.normal(0, 1, 300) + models * 0.02
    second = first + random.normal(0, 1, 300)
    tau = stats.rank_agreement(first, second, models, samples)
    assert tau.value == 1
    assert tau.ci95 is not None and tau.ci95[0] < 0
