"""Problems in steps, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.mastery import mastery

METRICS = mastery("steps", "part", composite="multi")
PARTS = ("1", "2", "3", "multi")


def columns(*problems: str) -> Columns:
    """A problem is its replies' scores in the order of its questions, the composite one last."""
    rows = [
        (number, steps, part, float(score))
        for number, scores in enumerate(problems)
        for steps in [len(scores) - 1]
        for part, score in zip([*PARTS[:steps], "multi"], scores, strict=True)
        if score != "-"
    ]
    empty = np.empty(len(rows), dtype=object)
    steps = Category(codes=np.array([row[1] for row in rows]) - 2, names=("2", "3"))
    part = Category(codes=np.array([PARTS.index(row[2]) for row in rows]), names=PARTS)
    return Columns(
        score=np.array([row[3] for row in rows]),
        answer=empty,
        target=empty,
        references=empty,
        state=steps,
        tags={"steps": steps, "part": part},
        cluster=np.array([row[0] for row in rows], dtype=np.int32),
    )


def values(of: Columns) -> dict[str, float | None]:
    return {name: metric(of).value for name, metric in METRICS.items()}


@pytest.mark.parametrize(
    ("problem", "kinds"),
    [
        # The examples of the paper's table, and one for each kind in three steps.
        ("110", {"ig"}),
        ("1011", {"cm_loose", "rm_strict"}),
        ("001", {"rm_strict", "rm_loose"}),
        ("0001", {"rm_strict", "rm_loose"}),
        ("111", {"cm_strict", "cm_loose"}),
        ("1111", {"cm_strict", "cm_loose"}),
        ("010", {"ik"}),
        ("0000", {"ik"}),
        ("1110", {"ig"}),
    ],
)
def test_a_problem_is_of_a_kind(problem: str, kinds: set[str]) -> None:
    actual = values(columns(problem))
    names = {"ik", "ig", "cm_strict", "cm_loose", "rm_strict", "rm_loose"}
    assert {name for name in names if actual[name]} == kinds
    assert actual["score_strict"] == ("cm_strict" in kinds) + 0.5 * ("ig" in kinds)
    assert actual["score_loose"] == ("cm_loose" in kinds) + 0.5 * ("ig" in kinds)


def test_rote_memorization_is_a_share_of_the_right_composites() -> None:
    of = columns("111", "011", "001", "010", "110")
    actual = values(of)
    assert (actual["rm_strict"], actual["rm_loose"]) == (2 / 3, 1 / 3)
    assert (actual["ik"], actual["ig"]) == (1 / 5, 1 / 5)
    assert (actual["cm_strict"], actual["cm_loose"]) == (1 / 5, 2 / 5)
    assert METRICS["rm_loose"](of).n == 5


def test_without_a_right_composite_there_is_no_rote_memorization() -> None:
    estimate = METRICS["rm_strict"](columns("110", "000"))
    assert (estimate.value, estimate.reason) == (None, "no composite question is answered right")


@pytest.mark.parametrize("lacking", ["-11", "1-1", "11-", "11-1", "111-"])
def test_a_problem_without_all_scores_is_left_out(lacking: str) -> None:
    estimate = METRICS["ik"](columns("000", lacking))
    assert (estimate.value, estimate.n) == (1.0, 1)
    assert METRICS["ik"](columns(lacking)).value is None


def test_a_question_without_a_score_leaves_its_problem_out() -> None:
    of = columns("000", "111")
    failed = replace(of.where(np.array([4])), score=np.array([np.nan]))
    rest = replace(of.where(np.array([0, 1, 2, 3, 5])), unscored=failed)
    assert (METRICS["ik"](rest).value, METRICS["ik"](rest).n) == (1.0, 1)


def test_repeats_are_averaged_over_all_ways_to_pick_replies() -> None:
    of = columns("111", "011")
    actual = values(replace(of, cluster=np.zeros(6, dtype=np.int32)))
    assert (actual["cm_strict"], actual["rm_strict"], actual["cm_loose"]) == (0.5, 0.5, 1.0)
