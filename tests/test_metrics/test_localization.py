"""The median distance: its value by hand, its interval from a published table, never a failure."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.localization import median_distance

METRIC = median_distance(lambda answer, target: abs(answer - target), "task", "point", name="d")


def columns(answers: list[float | None], clusters: list[int] | None = None) -> Columns:
    n = len(answers)
    zeros = np.zeros(n, dtype=np.int32)
    none = np.empty(n, dtype=object)
    return Columns(
        score=None,
        answer=np.array(answers, dtype=object),
        target=np.array([0.0] * n, dtype=object),
        references=none,
        state=Category(codes=zeros, names=("answered",)),
        tags={"task": Category(codes=zeros, names=("point",))},
        cluster=np.arange(n, dtype=np.int32) if clusters is None else np.array(clusters),
    )


# The ranks of the sign test's interval, from tables of the binomial distribution with p = 1/2.
@pytest.mark.parametrize(("n", "rank"), [(10, 2), (15, 4), (20, 6), (25, 8), (100, 40)])
def test_the_interval_has_the_ranks_of_the_binomial_distribution(n: int, rank: int) -> None:
    estimate = METRIC(columns([float(k) for k in range(1, n + 1)]))
    assert estimate.value == (n + 1) / 2
    assert estimate.ci95 == (rank, n + 1 - rank)
    assert (METRIC.better, METRIC.unit, estimate.unit) == ("lower", "pixels", "pixels")


def test_a_reply_without_an_answer_is_farther_than_all_others() -> None:
    some = METRIC(columns([1.0] * 8 + [5.0] * 4 + [None]))
    assert (some.value, some.n) == (1.0, 13)
    half = METRIC(columns([1.0] * 10 + [None] * 10))
    assert half.value is None and half.reason == "half of the replies have no answer"
    almost = METRIC(columns([1.0] * 11 + [None] * 9))
    assert almost.value == 1.0 and almost.ci95 is None
    assert almost.reason == "too many replies have no answer for an upper end of the interval"


def test_the_repeats_of_a_sample_count_as_their_median() -> None:
    estimate = METRIC(columns([1.0, 9.0, 2.0, 4.0, 6.0], [0, 0, 0, 1, 2]))
    assert estimate.value == 4.0  # of 2, 4, and 6
    assert estimate.n == 5


def test_there_is_no_value_of_nothing_and_no_interval_of_few() -> None:
    assert METRIC(columns([])).value is None
    few = METRIC(columns([1.0, 2.0, 3.0]))
    assert few.value == 2.0 and few.ci95 is None and "3 clusters" in (few.reason or "")


def test_the_interval_covers_the_median_of_skewed_distances() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(400):
        low, high = METRIC(columns(rng.lognormal(size=31).tolist())).ci95 or (0.0, 0.0)
        hits += low <= 1.0 <= high  # the median of the log-normal distribution is 1
    # For n = 31, the exact coverage is 97.1 %; 3.3 standard errors of 400 draws are 2.8 points.
    assert abs(hits / 400 - 0.971) < 0.028
