"""Found less clean, with an interval."""

from __future__ import annotations

import numpy as np
import pytest

from snellen import stats
from snellen.analysis.contamination.effect import CRITERIA, mean_difference
from snellen.analysis.contamination.search import SampleMatch
from snellen.stats import Estimate


def mean(right: int, n: int) -> Estimate:
    return stats.mean(np.repeat([1.0, 0.0], [right, n - right]), np.arange(n))


def test_the_interval_is_that_of_statsmodels() -> None:
    # confint_proportions_2indep(56, 70, 48, 80, method="newcomb") of 0.15: Newcombe's example (a)
    difference = mean_difference(mean(56, 70), mean(48, 80))
    assert difference.value == pytest.approx(0.2)
    assert difference.ci95 == pytest.approx((0.05243147240, 0.33387265404), abs=1e-10)


def test_a_few_that_are_all_right_are_not_certain() -> None:
    difference = mean_difference(mean(12, 12), mean(480, 600))
    assert difference.ci95 is not None
    assert difference.ci95[0] < 0 < difference.ci95[1]
    assert difference.stderr is None


@pytest.mark.parametrize(
    ("matched", "clean", "reason"),
    [
        (mean(0, 0), mean(9, 20), "no sample is contaminated"),
        (mean(9, 20), mean(0, 0), "no sample is clean"),
        (mean(2, 2), mean(9, 20), "2 independent clusters: an interval needs at least 10"),
    ],
)
def test_where_there_is_no_interval_it_says_why(
    matched: Estimate, clean: Estimate, reason: str
) -> None:
    assert mean_difference(matched, clean).ci95 is None
    assert mean_difference(matched, clean).reason == reason


def test_question_and_picture_in_two_rows_are_not_both_in_one() -> None:
    apart = SampleMatch(text=1.0, picture=1.0)
    assert [by for by, criterion in CRITERIA.items() if criterion(apart)] == ["text", "picture"]
