"""The task `far` of the eye chart: read letters in a large picture. Most of them are too small once
the picture is scaled down for a model.

A zoom into the picture makes these letters readable, because it shows the pixels of the original.
"""

from __future__ import annotations

from snellen.benchmarks.families.chart_rows import (
    PER_ROW,
    bare_text,
    read_row,
    row_question,
    row_score,
)
from snellen.benchmarks.families.chart_scenes import (
    LETTERS,
    ChartTask,
    Draw,
    Scene,
    inside,
    pick,
    shape,
)
from snellen.core import Answer, Coordinates, Reading, Reply, Sample
from snellen.media.drawing import UNIT
from snellen.metrics.acuity import threshold

LARGER = 4
"""How many times the side of the picture is that of other tasks."""
HEIGHTS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)
"""The heights of letters, in pixels of the large picture."""
QUESTION = row_question(LETTERS)


def _scene(draw: Draw, side: int, number: int) -> Scene:
    """Draw a row of letters. The heights take turns."""
    height = HEIGHTS[number % len(HEIGHTS)]
    size = height * UNIT
    large = side * LARGER
    x, y = inside(draw, large, (2 * PER_ROW - 1) * size), inside(draw, large, size)
    row = [pick(draw, LETTERS) for _ in range(PER_ROW)]
    return Scene(
        answer="".join(row),
        shapes=[shape(letter, x + 2 * k * size, y, size) for k, letter in enumerate(row)],
        side=large,
        level=f"{height:03} pixels",
        box=(
            x / UNIT,
            y / UNIT,
            (x + (2 * PER_ROW - 1) * size) / UNIT,
            (y + size) / UNIT,
        ),
        question=QUESTION,
    )


def _parse(reply: Reply, _: Sample, __: Coordinates) -> Reading:
    return read_row(bare_text(reply))


def _score(reading: Reading, sample: Sample) -> float:
    """The share of letters in the right position."""
    assert isinstance(reading.answer, str)
    return row_score(reading.answer, sample.target or "")


def _target(sample: Sample) -> Answer | None:
    return sample.target


TASKS = {
    "far": ChartTask(
        scene=_scene,
        parse=_parse,
        score=_score,
        target=_target,
        wrong="?" * PER_ROW,
        capability="OCR/text",
        metrics={
            "far_acuity": threshold(
                "far", unit="pixels", trials=PER_ROW, guess=1 / len(LETTERS), harder="lower"
            )
        },
        ladder="far_acuity",
    )
}
