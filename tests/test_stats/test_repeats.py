"""pass@k and the parts of a mean's variance, against enumeration and hand-worked numbers."""

from itertools import combinations

import numpy as np
import pytest

from snellen import stats
from snellen.stats import components, pass_at


@pytest.mark.parametrize("n", range(1, 8))
def test_pass_at_k_is_the_share_of_all_subsets_with_a_right_reply(n: int) -> None:
    for right in range(n + 1):
        replies = [True] * right + [False] * (n - right)
        for k in range(1, n + 1):
            subsets = list(combinations(replies, k))
            share = sum(map(any, subsets)) / len(subsets)
            assert pass_at(n, right, k) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(("n", "right", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (3, -1, 1)])
def test_pass_at_more_than_there_are_is_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot draw"):
        pass_at(n, right, k)


def test_the_parts_of_the_variance_by_hand() -> None:
    # Means 1, 1/2, 0 of four replies each: within = (0 + 1 + 0) / (12 - 3) = 1/9. Between: the mean
    # is 1/2, 4 (1/4 + 0 + 1/4) / 2 = 1, and (1 - 1/9) / 4 = 2/9.
    score = np.array([1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0], dtype=float)
    parts = components(score, np.repeat(np.arange(3), 4))
    assert parts is not None
    assert parts.within == pytest.approx(1 / 9)
    assert parts.between == pytest.approx(2 / 9)
    # within / n = 1/108; between · Σ n_i² / n² = 2/9 · 48/144 = 2/27.
    assert parts.stderr_again**2 == pytest.approx(1 / 108)
    assert parts.stderr_questions**2 == pytest.approx(2 / 27)


def test_the_parts_of_the_variance_of_unequal_repeats_by_hand() -> None:
    # (1, 0), (1), (0, 0, 0): within = 1/2 / 3 = 1/6. The mean is 1/3; between squares:
    # 2 (1/6)² + (2/3)² + 3 (1/3)² = 1/18 + 4/9 + 1/3 = 5/6, over 2: 5/12. n0 = (6 - 14/6) / 2 =
    # 11/6. between = (5/12 - 1/6) / (11/6) = 3/22.
    parts = components(np.array([1.0, 0, 1, 0, 0, 0]), np.array([0, 0, 1, 2, 2, 2]))
    assert parts is not None
    assert parts.within == pytest.approx(1 / 6)
    assert parts.between == pytest.approx(3 / 22)


def test_the_two_parts_make_the_clustered_error_of_equal_repeats() -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(1, 1, 60)
    score = (rng.random((60, 4)) < p[:, None]).astype(float).ravel()
    question = np.repeat(np.arange(60), 4)
    parts = components(score, question)
    clustered = stats.mean(score, question).stderr
    assert parts is not None and clustered is not None
    assert parts.stderr_questions**2 + parts.stderr_again**2 == pytest.approx(clustered**2)


def test_one_reply_a_question_has_no_parts() -> None:
    assert components(np.array([1.0, 0.0]), np.array([0, 1])) is None


def test_one_question_has_no_parts() -> None:
    assert components(np.array([1.0, 0.0]), np.array([0, 0])) is None


def test_questions_that_differ_less_than_their_replies_have_no_variance_between() -> None:
    parts = components(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1]))
    assert parts is not None
    assert (parts.between, parts.within) == (0.0, 0.5)


def test_the_interval_of_repeats_holds_questions_and_sampling_both() -> None:
    """1,000 data sets of 60 questions, each right with a chance drawn from Beta(1, 1), asked four
    times: the mean's interval holds 1/2 in 94 to 97 % of them, and one that takes replies for
    independent questions in less than 85 %."""
    rng = np.random.default_rng(20)
    question = np.repeat(np.arange(60), 4)
    held = naive = 0
    for _ in range(1000):
        p = rng.beta(1, 1, 60)
        score = (rng.random((60, 4)) < p[:, None]).astype(float).ravel()
        low, high = stats.mean(score, question).ci95 or (1, 0)
        held += low <= 0.5 <= high
        low, high = stats.mean(score, np.arange(240)).ci95 or (1, 0)
        naive += low <= 0.5 <= high
    assert 940 <= held <= 970
    assert naive < 850
