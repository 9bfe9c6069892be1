from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns, Metric
from snellen.metrics.circular import circular, vanilla


def columns(*rows: tuple[int, str, float]) -> Columns:
    """Rows of (question, pass, score)."""
    questions, passes, scores = zip(*rows, strict=True) if rows else ((), (), ())
    names = tuple(dict.fromkeys(passes))
    none, zeros = np.empty(len(rows), dtype=object), np.zeros(len(rows), dtype=np.int32)
    codes = np.array([names.index(name) for name in passes], dtype=np.int32)
    return Columns(
        score=np.array(scores, dtype=float),
        answer=none,
        target=none,
        references=none,
        state=Category(codes=zeros, names=("answered",)),
        tags={"pass": Category(codes=codes, names=names)},
        cluster=np.array(questions, dtype=np.int32),
    )


def question(number: int, scores: Sequence[float]) -> list[tuple[int, str, float]]:
    of = len(scores)
    return [(number, f"{position} of {of}", score) for position, score in enumerate(scores, 1)]


def test_a_question_counts_if_all_its_passes_are_right_however_many_they_are() -> None:
    rows = [*question(5, [1, 1, 1, 1]), *question(2, [1, 1, 0, 1]), *question(9, [1, 1])]
    estimate = circular("pass")(columns(*rows))
    assert estimate.value == pytest.approx(2 / 3, abs=1e-12)
    assert estimate.n == 3


def test_the_first_pass_alone_is_vanilla() -> None:
    rows = [*question(5, [0, 1, 1, 1]), *question(2, [1, 0, 0, 0]), *question(9, [1, 1])]
    estimate = vanilla("pass")(columns(*rows))
    assert estimate.value == pytest.approx(2 / 3, abs=1e-12)
    assert estimate.n == 3


def test_a_question_without_a_score_in_a_pass_is_left_out() -> None:
    rows = [*question(5, [1, 1, 1, 1]), *question(2, [1, 1, 1, 1])[:3]]
    estimate = circular("pass")(columns(*rows))
    assert (estimate.value, estimate.n) == (1.0, 1)


@pytest.mark.parametrize("metric", [circular("pass"), vanilla("pass")])
def test_without_rows_there_is_no_value_but_a_reason(metric: Metric) -> None:
    estimate = metric(columns())
    assert estimate.value is None
    assert estimate.reason


def test_where_no_question_is_whole_there_is_no_value_but_a_reason() -> None:
    estimate = circular("pass")(columns((1, "1 of 4", 1.0), (2, "1 of 4", 1.0)))
    assert (estimate.value, estimate.n) == (None, 0)
    assert estimate.reason == "no question has a score in each of its passes"


def test_repeats_give_the_share_of_combinations_that_are_right_throughout() -> None:
    # By hand: pass 1 is right once in two, pass 2 twice in three: of six combinations two are.
    rows = [(1, "1 of 2", 1.0), (1, "1 of 2", 0.0)]
    rows += [(1, "2 of 2", 1.0), (1, "2 of 2", 0.0), (1, "2 of 2", 1.0)]
    assert circular("pass")(columns(*rows)).value == pytest.approx(2 / 6, abs=1e-12)


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    rows = [row for n in range(50) for row in question(n, rng.integers(0, 2, 1 + n % 3).tolist())]
    ordered = columns(*rows)
    for metric in (circular("pass"), vanilla("pass")):
        assert metric(ordered.where(rng.permutation(ordered.n))) == metric(ordered)


def test_the_interval_is_over_questions() -> None:
    # Wilson's of 18 in 30, by hand: (0.6 + 0.06402) / 1.12805 -+ 0.16544.
    rows = [row for n in range(30) for row in question(n, [1, n < 18, 1, 1])]
    estimate = circular("pass")(columns(*rows))
    assert estimate.value == pytest.approx(0.6, abs=1e-12)
    assert estimate.ci95 == pytest.approx((0.42320, 0.75409), abs=1e-4)


@pytest.mark.parametrize("metric", [circular("pass"), vanilla("pass")])
def test_a_scoring_without_single_scores_is_refused(metric: Metric) -> None:
    with pytest.raises(ValueError, match="passes need a score"):
        metric(replace(columns((1, "1 of 1", 1.0)), score=None))


@pytest.mark.parametrize("metric", [circular("pass"), vanilla("pass")])
def test_a_tag_that_names_no_pass_is_refused(metric: Metric) -> None:
    with pytest.raises(ValueError):
        metric(columns((1, "first", 1.0)))
