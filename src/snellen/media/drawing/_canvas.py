"""A picture on which shapes are drawn.

This module does not use Pillow, because the shapes and fonts depend on the versions of Pillow and
FreeType.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from snellen.media.drawing._glyphs import SIDE, TURNED_SIDE, glyph
from snellen.media.drawing._noise import normal
from snellen.media.drawing._png import png

Color = Sequence[int]
UNIT = 16
"""The number of units per pixel: positions and sizes are in sixteenths of a pixel."""
DISC = 64


class Canvas:
    """A picture of `width` x `height` pixels with a plain background, white by default.

    `pixels` is (height, width, 3), RGB, 0 to 255. The position of a shape is that of its top left
    corner; (0, 0) is the top left corner of the picture. Shapes are clipped at the edges.
    """

    def __init__(self, width: int, height: int, paper: Color = (255, 255, 255)) -> None:
        self.pixels: NDArray[np.uint8] = np.empty((height, width, 3), dtype=np.uint8)
        self.pixels[:] = paper

    def draw(
        self, what: str, x: int, y: int, side: int, color: Color = (0, 0, 0), turn: int = 0
    ) -> None:
        """Draw a `disc`, a `square`, or a glyph such as `A`, in a square with this side.

        `turn` is the angle, in degrees, by which a glyph is rotated about the center of its square.
        Rotation does not change the glyph's size.
        """
        if what in INK:
            self.stamp(INK[what](), x, y, side, color)
        elif turn:
            margin = side * (TURNED_SIDE - SIDE) // (2 * SIDE)
            self.stamp(glyph(what, turn), x - margin, y - margin, side + 2 * margin, color)
        else:
            self.stamp(glyph(what), x, y, side, color)

    def stamp(self, ink: NDArray[np.bool_], x: int, y: int, side: int, color: Color) -> None:
        """Draw a mask `ink` (rows, columns) that is scaled to a square with this side.

        The color of a pixel is mixed according to the share of its area that the ink covers.
        """
        height, width, _ = self.pixels.shape
        top, bottom = max(0, y // UNIT), min(height, -(-(y + side) // UNIT))
        left, right = max(0, x // UNIT), min(width, -(-(x + side) // UNIT))
        down = _shared(top, bottom, y, side, ink.shape[0])
        across = _shared(left, right, x, side, ink.shape[1])
        cover = (down @ ink.astype(np.int64) @ across.T)[:, :, None]
        full_cover = UNIT * ink.shape[0] * UNIT * ink.shape[1]
        below = self.pixels[top:bottom, left:right].astype(np.int64)
        mixed = below * (full_cover - cover) + np.array(color) * cover
        self.pixels[top:bottom, left:right] = (mixed + full_cover // 2) // full_cover

    def fill(self, left: int, top: int, width: int, height: int, color: Color = (0, 0, 0)) -> None:
        """Fill a rectangle. Unlike those of shapes, its position and size are in pixels."""
        self.pixels[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)] = color

    def add_noise(self, seed: int, deviation: int) -> None:
        """Add gray noise to every pixel. `deviation` is the standard deviation, in pixel values
        from 0 to 255."""
        noise = normal(seed, self.pixels[:, :, 0].size, deviation)
        noisy = self.pixels + noise.reshape(self.pixels.shape[:2])[:, :, None]
        self.pixels[:] = np.clip(noisy, 0, 255)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        return png(self.pixels)


def _shared(first: int, last: int, start: int, side: int, cells: int) -> NDArray[np.int64]:
    """How much of each pixel each cell of a mask covers along one axis: (pixels, cells). The pixels
    are those from `first` up to but not including `last`.

    The `cells` cells have the same length. Together, they cover the length `side`, which begins at
    `start`. The results are lengths in units of 1/(UNIT x cells) of a pixel, in which all
    boundaries of cells are integers.
    """
    pixels = np.arange(first, max(first, last), dtype=np.int64)[:, None] * UNIT * cells
    edges = start * cells + np.arange(cells, dtype=np.int64)[None, :] * side
    ends = np.minimum(pixels + UNIT * cells, edges + side)
    shared: NDArray[np.int64] = np.maximum(0, ends - np.maximum(pixels, edges))
    return shared


@cache
def _disc() -> NDArray[np.bool_]:
    centers = 2 * np.arange(DISC) + 1 - DISC
    ink: NDArray[np.bool_] = centers[:, None] ** 2 + centers[None, :] ** 2 <= DISC**2
    return ink


def _square() -> NDArray[np.bool_]:
    return np.ones((1, 1), dtype=bool)


INK: Mapping[str, Callable[[], NDArray[np.bool_]]] = {"disc": _disc, "square": _square}
