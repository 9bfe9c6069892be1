"""The tasks `point` and `box` of the eye chart: where is a letter, and how precisely?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from snellen.benchmarks.families.chart_scenes import (
    LETTERS,
    ChartTask,
    Draw,
    Scene,
    inside,
    shape,
)
from snellen.benchmarks.families.grounding import as_text, box_of, robust_iou, robust_target
from snellen.benchmarks.families.grounding import inside as inside_box
from snellen.core import BoxAnswer, Coordinates, PointAnswer, Reading, Reply, Sample
from snellen.media.drawing import UNIT
from snellen.metrics.localization import median_distance

SHOWN = 5
"""The number of letters in a picture."""
SMALLEST, LARGEST = 12, 40
"""The heights of letters, in pixels."""
GAP = 4
"""The least distance between letters, in pixels."""
KINDS = {"point": PointAnswer, "box": BoxAnswer}
"""The kind of answer of each task."""
QUESTION = (
    "The picture is {side} pixels wide and {side} pixels high. "
    "Where in it is the letter {letter}?\n{form}"
)
FORMS = {
    "point": "Reply with the center of the letter as [x, y], in pixels from the top left corner of "
    "the picture, and nothing else.",
    "box": "Reply with the box around the letter as [left, top, right, bottom], in pixels from the "
    "top left corner of the picture, and nothing else.",
}


def _scene(draw: Draw, side: int, _: int, *, task: str) -> Scene:
    """Draw five different letters that are at least 4 pixels apart. The first is the target."""
    letters = list(LETTERS)
    squares: list[tuple[int, int, int]] = []
    while len(squares) < SHOWN:
        size = (SMALLEST + draw(LARGEST - SMALLEST + 1)) * UNIT
        x, y = inside(draw, side, size), inside(draw, side, size)
        if all(
            max(other_x - x - size, x - other_x - other, other_y - y - size, y - other_y - other)
            >= GAP * UNIT
            for other_x, other_y, other in squares
        ):
            squares.append((x, y, size))
    names = [letters.pop(draw(len(letters))) for _ in squares]
    x, y, size = squares[0]
    box = (x / UNIT, y / UNIT, (x + size) / UNIT, (y + size) / UNIT)
    center = ((x + size / 2) / UNIT, (y + size / 2) / UNIT)
    return Scene(
        answer=as_text(center if task == "point" else box),
        shapes=[shape(name, *square) for name, square in zip(names, squares, strict=True)],
        box=box,
        question=QUESTION.format(side=side, letter=names[0], form=FORMS[task]),
    )


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, re.findall(r"[0-9.]+", text)))


def _parse(reply: Reply, sample: Sample, coordinates: Coordinates, *, task: str) -> Reading:
    """Parse the only point or box of a reply, whose numbers are in the given coordinates."""
    reading = robust_target(reply, sample, coordinates)
    if reading.answer is not None and not isinstance(reading.answer, KINDS[task]):
        return Reading(answer=None, rule=f"{reading.rule}: not a {task}")
    return reading


def _point(sample: Sample) -> PointAnswer:
    x, y = _numbers(sample.target or "")
    return PointAnswer(x=x, y=y)


def _box(sample: Sample) -> BoxAnswer:
    left, top, right, bottom = _numbers(sample.target or "")
    return BoxAnswer(left=left, top=top, right=right, bottom=bottom)


def _hit(reading: Reading, sample: Sample) -> float:
    """Whether a point is in the square of the letter or on its edge."""
    answer = reading.answer
    at = (answer.x, answer.y) if isinstance(answer, PointAnswer) else None
    return inside_box(at, box_of(sample))


def _from_center(answer: PointAnswer, target: str) -> float:
    x, y = _numbers(target)
    return math.hypot(answer.x - x, answer.y - y)


def _from_edges(answer: BoxAnswer, target: str) -> float:
    """The distance of the edge that is farthest from the right one."""
    edges = answer.left, answer.top, answer.right, answer.bottom
    return max(abs(edge - right) for edge, right in zip(edges, _numbers(target), strict=True))


def _task(task: str, **rules: Any) -> ChartTask:
    return ChartTask(
        scene=partial(_scene, task=task),
        parse=partial(_parse, task=task),
        reads_places=True,
        capability="perception/spatial",
        **rules,
    )


def _precision(name: str, task: str, distance: Callable[[Any, str], float]) -> dict[str, Any]:
    return {name: median_distance(distance, "task", task, name=name)}


TASKS = {
    "point": _task(
        "point",
        score=_hit,
        target=_point,
        wrong="[0, 0]",
        metrics=_precision("localization", "point", _from_center),
    ),
    "box": _task(
        "box",
        score=robust_iou,
        target=_box,
        wrong="[0, 0, 1, 1]",
        metrics=_precision("box_localization", "box", _from_edges),
    ),
}
