"""Points: right answers counted."""

from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.points import points


def columns(scores: list[float], cluster: list[int], targets: list[str]) -> Columns:
    n = len(scores)
    kept = np.empty(n, dtype=object)
    kept[:] = targets
    none = np.empty(n, dtype=object)
    return Columns(
        score=np.array(scores),
        answer=none,
        target=kept,
        references=none,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={},
        cluster=np.array(cluster, dtype=np.int32),
    )


def test_right_answers_are_counted() -> None:
    estimate = points(columns([1, 0, 1], [0, 1, 2], ["a", "b", "c"]))
    assert (estimate.value, estimate.n, estimate.unit) == (2.0, 3, "points")


def test_a_question_that_is_asked_twice_counts_once() -> None:
    estimate = points(columns([1, 0, 1, 1], [0, 0, 1, 1], ["a", "a", "b", "b"]))
    assert (estimate.value, estimate.n) == (1.5, 4)


def test_two_questions_about_one_picture_are_two() -> None:
    rows = columns([1, 1], [0, 0], ["a", "b"])
    assert points(rows).value == 2.0
    assert points(replace(rows, target=rows.answer, references=rows.target)).value == 2.0


def test_the_interval_is_the_means_in_points() -> None:
    scores = [1.0] * 30 + [0.0] * 10
    estimate = points(columns(scores, list(range(40)), ["a"] * 40))
    assert estimate.value == 30
    assert estimate.ci95 is not None
    # Wilson's for 30 of 40 is 0.598 to 0.858 (R 4.3, binom.confint).
    assert estimate.ci95 == pytest.approx((40 * 0.5981, 40 * 0.8581), abs=0.01)


def test_no_scores_are_no_points() -> None:
    estimate = points(columns([], [], []))
    assert (estimate.value, estimate.unit, estimate.reason) == (None, "points", "no scores")
