"""Questions that count together, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.groups import Share, groups, share_of_groups

FIGURE, QUESTION = ("figure 0", "figure 1"), ("question 0", "question 1")
# Two sets; in the first both figures with both questions, in the second one figure with both.
CLUSTER = [7, 7, 7, 7, 9, 9]
OF_FIGURE = [0, 0, 1, 1, 1, 1]
OF_QUESTION = [0, 1, 0, 1, 0, 1]


def columns(scores: list[float], order: list[int] | None = None) -> Columns:
    rows = np.arange(6) if order is None else np.array(order)
    n = len(rows)
    empty = np.empty(n, dtype=object)
    figure = Category(codes=np.array(OF_FIGURE, dtype=np.int32)[rows], names=FIGURE)
    return Columns(
        score=np.array(scores)[rows],
        answer=empty,
        target=empty,
        references=empty,
        state=figure,
        tags={
            "figure": figure,
            "question": Category(codes=np.array(OF_QUESTION, dtype=np.int32)[rows], names=QUESTION),
        },
        cluster=np.array(CLUSTER, dtype=np.int32)[rows],
    )


@pytest.mark.parametrize(
    ("share", "by_figure", "by_question"),
    [
        # figures: set 7 figure 0 all right, figure 1 half; set 9 figure 1 none
        ("all right", 1 / 3, 1 / 4),
        ("any right", 2 / 3, 2 / 4),
        ("none right", 1 / 3, 2 / 4),
        ("some right", 1 / 3, 1 / 4),
        ("right", (1 + 1 / 2 + 0) / 3, (1 + 1 / 2 + 0 + 0) / 4),
    ],
)
@pytest.mark.parametrize("order", [None, [5, 2, 0, 4, 1, 3]])
def test_a_share_of_groups_in_any_order_of_rows(
    share: Share, by_figure: float, by_question: float, order: list[int] | None
) -> None:
    rows = columns([1, 1, 1, 0, 0, 0], order)
    figures = share_of_groups("figure", "question", share)(rows)
    questions = share_of_groups("question", "figure", share)(rows)
    assert figures.value == pytest.approx(by_figure)
    assert questions.value == pytest.approx(by_question)
    assert (figures.n, questions.n) == (3, 4)


def test_rows_can_be_left_out_by_their_tags() -> None:
    metric = share_of_groups("figure", "question", where={"figure": ("figure 1",)})
    assert metric(columns([1, 1, 1, 1, 0, 0])).n == 2


def test_with_repeats_a_group_is_right_as_often_as_its_combinations_are() -> None:
    """Both questions asked twice and right once: one of four combinations has both right."""
    rows = columns([1, 0, 0, 1, 1, 1], [0, 0, 1, 1])
    rows = Columns(
        score=np.array([1.0, 0.0, 0.0, 1.0]),
        answer=rows.answer,
        target=rows.target,
        references=rows.references,
        state=rows.state,
        tags=rows.tags,
        cluster=rows.cluster,
    )
    (right,), (none,) = (
        groups(rows, "figure", "question").all_right,
        groups(rows, "figure", "question").none_right,
    )
    assert (right, none) == (0.25, 0.25)


def test_no_rows_give_no_value() -> None:
    nothing = columns([0] * 6).where(np.zeros(6, dtype=bool))
    assert share_of_groups("figure", "question")(nothing).value is None


def test_a_group_that_lacks_a_score_is_left_out_and_never_all_right() -> None:
    """Of set 7's first figure one question has no score: the other alone is not the figure."""
    every = columns([1, 1, 1, 0, 0, 0])
    some = replace(every.where(np.array([1, 2, 3, 4, 5])), unscored=every.where(np.array([0])))

    estimate = share_of_groups("figure", "question")(some)
    assert (estimate.value, estimate.n) == (0.0, 2)
    first_figure = share_of_groups("figure", "question", where={"figure": ("figure 0",)})(some)
    assert (first_figure.value, first_figure.n) == (None, 0)
    assert first_figure.reason == "no group has a score for each of its questions"
    # Of the groups by question it is the first of set 7 that lacks one.
    assert share_of_groups("question", "figure")(some).n == 3


def test_a_question_that_lacks_one_of_its_repeats_is_known_by_the_others() -> None:
    every = columns([1, 1, 1, 0, 0, 0])
    again = replace(every, unscored=every.where(np.array([0])))

    assert share_of_groups("figure", "question")(again).n == 3


def test_what_lacks_a_score_in_other_categories_says_nothing_of_this_one() -> None:
    every = columns([1, 1, 1, 0, 0, 0])
    some = replace(every.where(np.array([0, 1, 4, 5])), unscored=every.where(np.array([2, 3])))

    first = share_of_groups("question", "figure", where={"figure": ("figure 0",)})(some)
    assert (first.value, first.n) == (1.0, 2)
    assert share_of_groups("question", "figure")(some).n == 2
