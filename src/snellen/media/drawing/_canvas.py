"""A picture to draw shapes on.

Our own code, because Pillow's shapes and fonts depend on its version and on FreeType's.
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
"""Positions and sizes are in sixteenths of a pixel."""
DISC = 64


class Canvas:
    """A picture of `width` x `height` pixels on plain paper, white by default.

    `pixels` is (height, width, 3), RGB, 0 to 255. A position is the top left corner of a shape;
    (0, 0) is the top left corner of the picture. Shapes are clipped at the edges.
    """

    def __init__(self, width: int, height: int, paper: Color = (255, 255, 255)) -> None:
        self.pixels: NDArray[np.uint8] = np.empty((height, width, 3), dtype=np.uint8)
        self.pixels[:] = paper

    def draw(
        self, what: str, x: int, y: int, side: int, color: Color = (0, 0, 0), turn: int = 0
    ) -> None:
        """A `disc`, a `square`, or the sign `what` of `glyph`, in a square of `side`.

        `turn` rotates a sign by degrees about the center of its square. Its size stays the same.
        """
        if what in INK:
            self.stamp(INK[what](), x, y, side, color)
        elif turn:
            margin = side * (TURNED_SIDE - SIDE) // (2 * SIDE)
            self.stamp(glyph(what, turn), x - margin, y - margin, side + 2 * margin, color)
        else:
            self.stamp(glyph(what), x, y, side, color)

    def stamp(self, ink: NDArray[np.bool_], x: int, y: int, side: int, color: Color) -> None:
        """Draw `ink` (rows, columns) over a square.

        A pixel takes on the color in proportion to its inked area.
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

    def add_noise(self, seed: int, deviation: int) -> None:
        """Add gray noise of this standard deviation, in levels of 255, to every pixel."""
        noise = normal(seed, self.pixels[:, :, 0].size, deviation)
        noisy = self.pixels + noise.reshape(self.pixels.shape[:2])[:, :, None]
        self.pixels[:] = np.clip(noisy, 0, 255)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        return png(self.pixels)


def _shared(first: int, last: int, start: int, side: int, cells: int) -> NDArray[np.int64]:
    """How much of the pixels `first` to `last` each cell covers: (pixels, cells).

    The cells share `side` from `start` on. In units of 1/(UNIT x cells) of a pixel, in which all
    their ends are integers.
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
