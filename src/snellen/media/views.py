"""Views of pictures: parts of a picture, turned or with a grid drawn over them.

A view is a reference to pixels of its source. A part of a view is again a view of the same source,
so that no step of a chain of views loses resolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from snellen.media import images
from snellen.media.content import Image

Box = tuple[int, int, int, int]
"""The left, top, right, and bottom edges in pixels."""
RED, WHITE = (220, 0, 0), (255, 255, 255)
FULL = 1000
"""The coordinates of boxes and grids: 0 is the left or top edge, and 1000 the right or bottom
edge."""
MAX_PIXELS = 1 << 22
"""The maximum number of pixels of a rendered view, unless the caller sets it."""


@dataclass(frozen=True, kw_only=True)
class PictureView:
    """A part of a picture, in the picture's own pixels."""

    source: Image
    """The picture."""
    box: Box
    """The part, in pixels of the upright picture."""
    turns: int = 0
    """By how many quarter turns clockwise the part is rotated, from 0 to 3."""
    has_grid: bool = False
    """Whether lines with coordinates are drawn over the part."""

    @property
    def size(self) -> tuple[int, int]:
        """The width and height in pixels, after the rotation."""
        left, top, right, bottom = self.box
        size = (right - left, bottom - top)
        return size[::-1] if self.turns % 2 else size

    def part(self, left: float, top: float, right: float, bottom: float) -> PictureView:
        """The part of this view with these edges, from 0 to 1000, without a grid. The edges are
        rounded outward to pixels.

        >>> full = PictureView(source=Image(b""), box=(0, 0, 400, 200))
        >>> full.part(500, 0, 1000, 500).box, replace(full, turns=1).part(500, 0, 1000, 500).box
        ((200, 0, 400, 100), (0, 0, 200, 100))
        """
        x1, y1 = self._unturned(left / FULL, top / FULL)
        x2, y2 = self._unturned(right / FULL, bottom / FULL)
        (x1, x2), (y1, y2) = sorted((x1, x2)), sorted((y1, y2))
        box_left, box_top, box_right, box_bottom = self.box
        width, height = box_right - box_left, box_bottom - box_top
        return PictureView(
            source=self.source,
            box=(
                box_left + _down(x1 * width),
                box_top + _down(y1 * height),
                box_left + _up(x2 * width),
                box_top + _up(y2 * height),
            ),
            turns=self.turns,
        )

    def turned(self, turns: int) -> PictureView:
        """This view, rotated further by quarter turns clockwise, without a grid."""
        return replace(self, turns=(self.turns + turns) % 4, has_grid=False)

    def with_grid(self) -> PictureView:
        """This view with a grid."""
        return replace(self, has_grid=True)

    def _unturned(self, x: float, y: float) -> tuple[float, float]:
        """Convert a point of the rotated part to the part before the rotation. Coordinates are from
        0 to 1."""
        return ((x, y), (y, 1 - x), (1 - x, 1 - y), (1 - y, x))[self.turns]


def full_view(image: Image) -> PictureView:
    """The view that shows a whole picture upright.

    Raises:
        MediaError: the picture cannot be read.
    """
    source = images.load(image)
    return PictureView(source=source, box=(0, 0, *images.upright_size(source)))


def rendered(view: PictureView, *, max_pixels: int = MAX_PIXELS) -> Image:
    """The picture that shows a view, as PNG. The pixels are those of the source, unless the view
    has more than `max_pixels` pixels, so that it is scaled down.

    Raises:
        MediaError: the source cannot be decoded.
    """
    image = images.part(view.source, view.box, view.turns, max_pixels=max_pixels)
    return _with_grid(image) if view.has_grid else image


def _with_grid(image: Image) -> Image:
    """Draw the lines of the coordinates 100, 200, … 900 over a picture, with their numbers."""
    from snellen.media.drawing import UNIT, Canvas  # these modules import numpy, which is slow
    from snellen.media.quick_png import quick_png

    pixels = images.pixels(image)
    height, width, _ = pixels.shape
    canvas = Canvas(1, 1)
    canvas.pixels = pixels.copy()
    side = max(8, min(width, height) // 40)
    pen = max(1, min(width, height) // 500)
    for mark in range(100, FULL, 100):
        x, y = width * mark // FULL, height * mark // FULL
        canvas.pixels[:, x : x + pen] = RED
        canvas.pixels[y : y + pen, :] = RED
    for mark in range(100, FULL, 100):
        x, y = width * mark // FULL, height * mark // FULL
        for left, top in ((x + 2 * pen, 0), (0, y + 2 * pen)):
            canvas.pixels[top : top + side + 2, left : left + 5 * side // 2 + 2] = WHITE
            for number, digit in enumerate(str(mark)):
                at = left + 1 + number * side * 3 // 4
                canvas.draw(digit, at * UNIT, (top + 1) * UNIT, side * UNIT, RED)
    data = quick_png(canvas.pixels)
    drawn = images.load(Image(data, label=f"{image.label} with a grid"))
    excerpt = None if image.excerpt is None else replace(image.excerpt, has_grid=True)
    return replace(drawn, excerpt=excerpt, original=image.original)


def _down(value: float) -> int:
    return math.floor(value + 1e-9)


def _up(value: float) -> int:
    return math.ceil(value - 1e-9)
