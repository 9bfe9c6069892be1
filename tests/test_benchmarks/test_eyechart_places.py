"""The eye chart's tasks point, box, and table: drawn where the answer says, and read strictly."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from snellen.benchmarks.eyechart import eyechart
from snellen.core import BoxAnswer, PointAnswer, Scoring, TableAnswer
from snellen.core.coordinates import Convention
from snellen.core.model import Reply, Sizes
from snellen.core.sample import Sample
from snellen.media import images
from snellen.media.content import Image
from snellen.transforms.coordinates import with_coordinates
from tests.red_boxes import shares, written

OWN = ("point", "box", "table")
CHART = eyechart(n=60, tasks="+".join(OWN))
OFFICIAL = CHART.scorings["official"]
TARGET = CHART.presentation.target_answer
assert TARGET is not None


def drawn(task: str, n: int = 20, **options: object) -> list[Sample]:
    chart = eyechart(n=n, tasks=task, **options)  # type: ignore[arg-type]
    return [chart.sample(row.position, row) for row in chart.data]


def ink(sample: Sample) -> np.ndarray:
    request = CHART.request(sample)
    assert request is not None
    shown = request.messages[0].content[0]
    assert isinstance(shown, Image)
    inked: np.ndarray = images.pixels(Image(shown.source))[:, :, 1] < 250
    return inked


def values(sample: Sample) -> list[float]:
    return [float(number) for number in re.findall(r"[0-9.]+", sample.target or "")]


def alone(sample: Sample) -> Sample:
    """The sample with the first shape alone, which is the letter in question."""
    return replace(sample, data={**sample.data, "shapes": sample.data["shapes"][:1]})  # type: ignore[index]


def test_the_default_has_none_of_them() -> None:
    default = eyechart()
    assert {row["task"] for row in default.data}.isdisjoint(OWN)
    assert "localization" not in default.scorings["official"].metrics
    assert default.presentation.target_answer is None
    assert default.max_answer_tokens == 64


def test_a_box_is_around_the_ink_of_its_letter_and_a_point_is_its_center() -> None:
    for box_sample in drawn("box"):
        rows, columns = np.nonzero(ink(alone(box_sample)))
        left, top, right, bottom = values(box_sample)
        seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert seen == pytest.approx([left, top, right, bottom], abs=1.5)
    for sample in drawn("point"):
        rows, columns = np.nonzero(ink(alone(sample)))
        middle = [(columns.min() + columns.max() + 1) / 2, (rows.min() + rows.max() + 1) / 2]
        assert values(sample) == pytest.approx(middle, abs=1.0)


def test_the_letters_of_a_picture_differ_and_do_not_touch() -> None:
    for sample in drawn("point"):
        shapes: list[list[object]] = sample.data["shapes"]  # type: ignore[assignment]
        assert len({shape[0] for shape in shapes}) == len(shapes) == 5
        together = ink(sample).sum()
        parts = [ink(replace(sample, data={**sample.data, "shapes": [s]})).sum() for s in shapes]
        assert together == sum(parts)
        assert f"the letter {shapes[0][0]}?" in sample.question


@pytest.mark.parametrize("side", [224, 336, 1000])
def test_a_page_of_any_size_has_its_table_within(side: int) -> None:
    for sample in drawn("table", 12, side=side, sizes="8", size=20):
        inked = ink(sample)
        assert inked.shape == (side, side)
        assert not (inked[:, -4:].any() or inked[-4:].any() or inked[:, :4].any())
        # As many rules as the table has rows and columns, and one more of each.
        lines = np.flatnonzero(inked.mean(axis=1) > 0.7)
        assert len(lines) == (sample.target or "").count("<tr>") + 1
        bars = np.flatnonzero(inked[lines[0] : lines[-1] + 1].all(axis=0))
        (columns,) = {row.count("<td>") for row in (sample.target or "").split("<tr>")[1:]}
        assert len(bars) == columns + 1


def test_the_right_answer_is_an_object_that_a_viewer_can_draw() -> None:
    assert TARGET is not None
    kinds = {"point": PointAnswer, "box": BoxAnswer, "table": TableAnswer}
    for row in CHART.data:
        sample = CHART.sample(row.position, row)
        reading = OFFICIAL.parse(Reply(text=sample.target or ""), sample)
        assert isinstance(TARGET(sample), kinds[row["task"]])
        assert reading.answer == TARGET(sample)
        assert OFFICIAL.score(reading, sample) == 1.0


def sample_with(task: str, target: str) -> Sample:
    (sample,) = drawn(task, 1)
    return replace(sample, target=target, data={**sample.data, "box": [10, 20, 30, 40]})


@pytest.mark.parametrize(
    ("reply", "answer", "score"),
    [
        ("[20, 30]", (20, 30), 1.0),
        ("The center is (10, 20).", (10, 20), 1.0),  # a corner of the square
        ("click(x=30, y=40.5)", (30, 40.5), 0.0),
        ("[10, 20, 30, 40]", None, 0.0),  # a box is no point
        ("[20, 30] or [21, 31]", None, 0.0),
        ("in the middle", None, 0.0),
        ("", None, 0.0),
    ],
)
def test_a_point_is_right_in_the_square_of_its_letter(
    reply: str, answer: tuple[float, float] | None, score: float
) -> None:
    sample = sample_with("point", "[20, 30]")
    reading = OFFICIAL.parse(Reply(text=reply), sample)
    assert reading.answer == (None if answer is None else PointAnswer(x=answer[0], y=answer[1]))
    assert OFFICIAL.score(reading, sample) == score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"bbox_2d": [10, 20, 30, 40]}', 1.0),
        ("[20, 20, 40, 40]", 1 / 3),
        ("[10, 20, 30, 30]", 1 / 2),
        ("[30, 40, 50, 60]", 0.0),
        ("[30, 40, 10, 20]", 0.0),  # reversed corners
        ("[20, 30]", 0.0),
    ],
)
def test_the_score_of_a_box_is_its_iou(reply: str, score: float) -> None:
    sample = sample_with("box", "[10, 20, 30, 40]")
    reading = OFFICIAL.parse(Reply(text=reply), sample)
    assert OFFICIAL.score(reading, sample) == pytest.approx(score)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("<table><tr><td>CD</td><td>HK</td></tr></table>", 1.0),
        ("```html\n<table>\n<tr><th> CD </th><td>HK</td></tr>\n</table>\n```", 1.0),
        ("<table><tbody><tr><td>CD</td><td>HK</td></tr></tbody></table>", 1.0),
        ("<table><tr><td>CD</td><td>HZ</td></tr></table>", 1 - 0.5 / 3),  # half of one of 3 nodes
        ("<table><tr><td>CD</td></tr></table>", 2 / 3),
        ("| CD | HK |", 0.0),
        ("<table></table>", 0.0),
        ("<table><tr><td><b onclick='x'>CD</b></td><td>HK", 1.0),
    ],
)
def test_the_score_of_a_table_is_teds(reply: str, score: float) -> None:
    sample = sample_with("table", "<table><tr><td>CD</td><td>HK</td></tr></table>")
    reading = OFFICIAL.parse(Reply(text=reply), sample)
    assert OFFICIAL.score(reading, sample) == pytest.approx(score)


def test_a_task_by_itself_has_the_same_samples_as_with_others() -> None:
    together = [CHART.sample(row.position, row) for row in CHART.data]
    boxes = [sample for sample in together if sample.tags["task"] == "box"]
    assert [replace(sample, tags={}) for sample in drawn("box")] == [
        replace(sample, tags={}) for sample in boxes
    ]


# -- coordinates of the model

CONVENTIONS = (*get_args(Convention), "pixels-shown:qwen2.5-vl")
SENT: Sizes = ((168, 84),)
"""The size at which a picture of 336 x 336 pixels was sent. Both sides are multiples of 28."""


def scoring_in(coordinates: str | None, tasks: str = "point+box") -> Scoring:
    return with_coordinates(eyechart(n=2, tasks=tasks), coordinates).scorings["official"]


def words(sample: Sample, coordinates: str) -> str:
    """The right answer, as a model with these coordinates writes it."""
    relative = shares(values(sample), (336, 336))
    return written(relative, coordinates, original=(336, 336), shown=(168, 84))


@pytest.mark.parametrize("task", ["point", "box"])
@pytest.mark.parametrize("coordinates", CONVENTIONS)
def test_a_place_is_read_in_the_coordinates_of_the_model(coordinates: str, task: str) -> None:
    scoring = scoring_in(coordinates)
    for sample in drawn(task, 10):
        text = words(sample, coordinates)
        reading = scoring.parse(Reply(text=text, sizes=SENT), sample)
        answer = reading.answer
        assert isinstance(answer, PointAnswer | BoxAnswer)
        pixels = (
            [answer.x, answer.y]
            if isinstance(answer, PointAnswer)
            else [answer.left, answer.top, answer.right, answer.bottom]
        )
        assert pixels == pytest.approx(values(sample), abs=1e-3)
        assert scoring.score(reading, sample) == pytest.approx(1.0, abs=1e-4)


def test_pixels_of_what_is_shown_are_those_of_the_original_if_nothing_was_scaled() -> None:
    (sample,) = drawn("point", 1)
    reading = scoring_in("pixels-shown").parse(Reply(text=sample.target or ""), sample)
    assert reading == scoring_in(None).parse(Reply(text=sample.target or ""), sample)


def test_the_picture_of_the_question_is_the_last_after_those_of_examples() -> None:
    (sample,) = drawn("box", 1)
    text = words(sample, "pixels-shown")
    reply = Reply(text=text, sizes=((50, 50), None, (168, 84)))
    reading = scoring_in("pixels-shown").parse(reply, sample)
    assert scoring_in("pixels-shown").score(reading, sample) == pytest.approx(1.0, abs=1e-4)


def test_numbers_that_cannot_be_in_the_model_s_coordinates_are_unparsed() -> None:
    (sample,) = drawn("box", 1)
    for coordinates, text, fault in [
        ("0-1", "[10, 20, 30, 40]", "outside 0-1"),
        ("0-1000", "[10, 20, 30, 1040]", "outside 0-1000"),
        ("0-1000", "[0.1, 0.2, 0.3, 0.4]", "0-1, or the corner in 0-1000"),
    ]:
        reading = scoring_in(coordinates).parse(Reply(text=text), sample)
        assert (reading.answer, reading.rule) == (None, f"brackets: {fault}")


def test_a_table_beside_places_is_read_as_ever() -> None:
    (sample,) = drawn("table", 1)
    reply = Reply(text=sample.target or "")
    reading = scoring_in("0-1", "box+table").parse(reply, sample)
    assert reading == OFFICIAL.parse(reply, sample)


@pytest.mark.parametrize("tasks", ["letters", "table", "far", "colors+counts"])
def test_tasks_without_places_do_not_depend_on_coordinates(tasks: str) -> None:
    assert scoring_in("0-1", tasks).coordinates is None


def test_the_question_demands_pixels_of_the_original() -> None:
    use = scoring_in(None, "letters+point").coordinates
    assert use is not None and use.is_demanded
    assert str(use.effective) == "pixels-original"
    assert scoring_in(None).version == 2
