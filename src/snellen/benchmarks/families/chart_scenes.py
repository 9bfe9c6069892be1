"""Shared by the tasks of the eye chart: scenes of shapes, random positions, and the form of a task
that has a file of its own.

Positions and sizes of shapes are in sixteenths of a pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.core import Answer, Coordinates, Reading, Reply, Sample
from snellen.media.drawing import UNIT
from snellen.metrics import Metric

LETTERS = "CDHKNORSVZ"
"""Sloan's ten letters."""
BLACK, WHITE = 0, 255
MARGIN = 8
"""The width, in pixels, of the empty margin along the edges of the picture, and along the edges of
each quarter."""

Draw = Callable[[int], int]
"""A function that draws a random integer from 0 up to, but not including, a limit."""
Shape = list[Any]
"""The kind, x, y, side, color, and turn of a shape: the arguments of `Canvas.draw`, in JSON
types."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The right answer, and what the picture shows. The rules are drawn first, then shapes, then
    strokes over the shapes, then noise."""

    answer: str
    """The right answer, in the form that the question requests."""
    shapes: list[Shape]
    """The shapes, in the order in which they are drawn."""
    paper: int = WHITE
    """The gray level of the background."""
    strokes: tuple[int, int, int] | None = None
    """The seed, the number, and the length of random strokes; None: no strokes."""
    noise: tuple[int, int] | None = None
    """The seed and the standard deviation of noise; None: no noise."""
    rules: tuple[tuple[int, int, int, int], ...] = ()
    """The left, top, width, and height of black bars, in pixels."""
    box: tuple[float, float, float, float] | None = None
    """The left, top, right, and bottom of what the question asks about, in pixels."""
    question: str = ""
    """The question; empty if all samples of the task have the same question."""
    side: int | None = None
    """The side of the picture in pixels; None: that of the chart."""
    level: str = ""
    """The level of difficulty; empty if the task has no levels."""

    def picture(self, side: int) -> Mapping[str, Any]:
        """The field of a row that describes the picture, in JSON types. `side` is that of the
        chart, in pixels."""
        side = side if self.side is None else self.side
        return {
            "side": side,
            "paper": self.paper,
            "shapes": self.shapes,
            "strokes": self.strokes,
            "noise": self.noise,
            **({"rules": self.rules} if self.rules else {}),
            **({"box": self.box, "size": (side, side)} if self.box else {}),
        }


@dataclass(frozen=True, kw_only=True)
class ChartTask:
    """A task of the eye chart that has a file of its own."""

    scene: Callable[[Draw, int, int], Scene]
    """Draws a scene with a question. The arguments are the source of random numbers, the side of
    the chart's pictures in pixels, and the number of the sample among those of the task, from 0."""
    parse: Callable[[Reply, Sample, Coordinates], Reading]
    """Parses the answer in a reply, as `CoordinateUse.parse` does."""
    score: Callable[[Reading, Sample], float]
    """The score of a reading, from 0 to 1."""
    target: Callable[[Sample], Answer | None]
    """The right answer as an object."""
    wrong: str
    """An answer of the right form that is wrong for every sample."""
    capability: str
    """The leaf of the capability tree."""
    metrics: Mapping[str, Metric]
    """Further metrics, keyed by name."""
    reads_places: bool = False
    """Whether `parse` depends on the coordinates."""
    max_answer_tokens: int = 64
    """The token limit of a reply."""
    ladder: str | None = None
    """The name of the metric for the level at which the model can no longer read the letters; None:
    the task has no levels. The tag with the level has the name of the task."""


def inside(draw: Draw, room: int, length: int) -> int:
    """Draw a random start position for an object of length `length` within `room` pixels, with a
    margin at both ends."""
    return MARGIN * UNIT + draw((room - 2 * MARGIN) * UNIT - length + 1)


def pick(draw: Draw, names: Sequence[str]) -> str:
    """Draw one of the names."""
    return names[draw(len(names))]


def shape(
    what: str, x: int, y: int, side: int, color: Sequence[int] = (BLACK,) * 3, turn: int = 0
) -> Shape:
    """Return a shape with its top left corner at (x, y)."""
    return [what, x, y, side, list(color), turn]
