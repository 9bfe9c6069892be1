"""The permutation test of signs, against enumeration and McNemar's exact test."""

from itertools import product

import numpy as np
import pytest

from snellen import stats


@pytest.mark.parametrize("seed", range(5))
def test_it_counts_all_sign_changes(seed: int) -> None:
    difference = np.round(np.random.default_rng(seed).normal(0.5, 1, 12) * 6) / 12
    sums = np.array(list(product((-1, 1), repeat=12))) @ difference
    share = np.mean(np.abs(sums) >= abs(difference.sum()) - 1e-9)
    assert stats.sign_flips(difference) == pytest.approx(float(share), abs=1e-12)


def test_other_values_are_rounded_to_a_thousandth_of_the_largest() -> None:
    difference = np.random.default_rng(1).normal(0.4, 1, 12)
    sums = np.array(list(product((-1, 1), repeat=12))) @ difference
    share = np.mean(np.abs(sums) >= abs(difference.sum()) - 1e-9)
    assert stats.sign_flips(difference) == pytest.approx(float(share), abs=0.003)


def test_of_right_and_wrong_answers_it_is_mcnemars_exact_test() -> None:
    difference = np.array([1.0] * 14 + [-1.0] * 5 + [0.0] * 40)
    assert stats.sign_flips(difference) == pytest.approx(stats.mcnemar(5, 14), rel=1e-12)


def test_without_differences_p_is_1() -> None:
    assert stats.sign_flips(np.zeros(9)) == 1.0
    assert stats.sign_flips(np.zeros(0)) == 1.0


def test_the_order_and_the_direction_do_not_matter() -> None:
    difference = np.random.default_rng(2).normal(0.2, 1, 300)
    assert stats.sign_flips(difference) == pytest.approx(stats.sign_flips(-difference[::-1]))
