"""Boxes and points in replies: what decides, and what is left undecided. The forms of all makers
are in tests/truth/places.jsonl."""

import pytest

from snellen.answers.places import final_places
from snellen.benchmarks.families.grounding import robust_in_box, robust_iou, robust_target
from snellen.core import BoxAnswer, PointAnswer, Reply, Sample

SAMPLE = Sample(id="1", question="?", target="?", data={"box": [10, 20, 30, 40]})


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("<box>(1,2),(3,4)</box> at (5, 6)", "tags"),
        ('<point x="1" y="2">', "Molmo's tags"),
        ('{"bbox_2d": [1, 2, 3, 4]} and (5, 6)', "key"),
        ("click(x=1, y=2)", "call"),
        ("x: 1, y: 2", "x and y"),
        ("at (1, 2)", "brackets"),
        ("1 2", "only numbers"),
        ("Answer:", "no place"),
        ('{"bbox": [1, 2, 3]}', "key: not two or four numbers"),
    ],
)
def test_the_rule_that_decides(text: str, rule: str) -> None:
    assert final_places(text).rule == rule


@pytest.mark.parametrize(
    "text", ["(10%, 20%)", "12:30", "[1, 2, 3]", "v1.2.3.4", "(1, 2, 3, 4, 5)"]
)
def test_other_numbers_are_no_place(text: str) -> None:
    assert final_places(text).answers == ()


def test_numbers_are_pixels_of_the_picture() -> None:
    box = robust_target(Reply(text="[10, 20, 30, 30]"), SAMPLE)
    assert box.answer == BoxAnswer(left=10, top=20, right=30, bottom=30)
    assert (robust_iou(box, SAMPLE), robust_in_box(box, SAMPLE)) == (0.5, 1.0)
    point = robust_target(Reply(text="click(30, 40)"), SAMPLE)
    assert point.answer == PointAnswer(x=30, y=40)
    assert (robust_iou(point, SAMPLE), robust_in_box(point, SAMPLE)) == (0.0, 1.0)


def test_a_relative_or_second_place_is_not_right() -> None:
    for text in ("(0.5, 0.5)", "(20, 30) or (90, 90)", "nothing"):
        assert robust_in_box(robust_target(Reply(text=text), SAMPLE), SAMPLE) == 0.0
