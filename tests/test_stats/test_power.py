import math

import pytest

from snellen.stats import detectable, detectable_share, needed_pairs


def power_of(n: int, disagree: float, difference: float) -> float:
    """How often |b - c| / √(b + c) is above 1.96, summed over all outcomes of n pairs."""
    right = (disagree + difference) / 2 / disagree
    power = 0.0
    for m in range(1, n + 1):
        some = math.comb(n, m) * disagree**m * (1 - disagree) ** (n - m)
        if some > 1e-12:
            for b in range(m + 1):
                if abs(2 * b - m) > 1.959964 * math.sqrt(m):
                    power += some * math.comb(m, b) * right**b * (1 - right) ** (m - b)
    return power


@pytest.mark.parametrize(("n", "disagree"), [(1000, 0.1), (1000, 0.2), (600, 0.4)])
def test_a_detectable_difference_is_found_four_times_of_five(n: int, disagree: float) -> None:
    smallest = detectable_share(n, disagree)
    assert smallest is not None
    # All outcomes added up. Shares come in steps of 1/n, and power with them.
    assert power_of(n, disagree, smallest) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_as_many_pairs_are_needed_as_make_it_detectable(power: float) -> None:
    smallest = detectable_share(1500, 0.15, power)
    assert smallest is not None
    assert needed_pairs(smallest, 0.15, power) == pytest.approx(1500)


def test_too_few_pairs_show_nothing() -> None:
    assert detectable_share(20, 0.1) is None
    assert detectable_share(0.5, 0.2) is None


def test_no_number_of_pairs_shows_more_than_those_that_disagree() -> None:
    assert needed_pairs(0.2, 0.1) is None
    assert needed_pairs(0.0, 0.1) is None


def test_many_pairs_show_what_the_standard_error_of_the_difference_does() -> None:
    # (1.959964 + 0.841621) / 100 from any table of the normal distribution
    assert detectable(0.01) == pytest.approx(0.02801585, abs=1e-7)
    smallest = detectable_share(1_000_000, 0.2)
    assert smallest == pytest.approx(detectable(math.sqrt(0.2 / 1_000_000)), rel=1e-3)
