"""What the reader's files share: ink, its connected pieces, and the shapes of letters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8] | NDArray[np.float64]
"""A picture of shape (height, width, 3), in RGB, with values from 0 to 255."""
Ink = NDArray[np.float64]
"""An array of shape (height, width). A value is 0 where the picture has the background's color, and
1 where the picture differs most from that color."""

LETTERS = {
    "A": "..#.. .#.#. #...# ##### #...#",
    "B": "####. #...# ####. #...# ####.",
    "C": ".###. #...# #.... #...# .###.",
    "D": "####. #...# #...# #...# ####.",
    "E": "##### #.... ####. #.... #####",
    "F": "##### #.... ####. #.... #....",
    "G": ".###. #.... #..## #...# .###.",
    "H": "#...# #...# ##### #...# #...#",
    "I": ".###. ..#.. ..#.. ..#.. .###.",
    "J": "....# ....# ....# #...# .###.",
    "K": "#..## #.#.. ##... #.#.. #..##",
    "L": "#.... #.... #.... #.... #####",
    "M": "#...# ##.## #.#.# #...# #...#",
    "N": "#...# ##..# #.#.# #..## #...#",
    "O": ".###. #...# #...# #...# .###.",
    "P": "####. #...# ####. #.... #....",
    "Q": ".###. #...# #.#.# #..## .####",
    "R": "####. #...# ####. #..#. #...#",
    "S": ".###. #.... .###. ....# .###.",
    "T": "##### ..#.. ..#.. ..#.. ..#..",
    "U": "#...# #...# #...# #...# .###.",
    "V": "#...# #...# .#.#. .#.#. ..#..",
    "W": "#...# #...# #.#.# #.#.# .#.#.",
    "X": "#...# .#.#. ..#.. .#.#. #...#",
    "Y": "#...# .#.#. ..#.. ..#.. ..#..",
    "Z": "##### ...#. ..#.. .#... #####",
}
LISTED = re.compile(r"\b[A-Z](?:, [A-Z]\b)+")
"""Matches the letters that a question lists."""
SOLID = 0.5
"""Pixels with a higher ink value than this are ink. All other pixels are background."""


def ink_of(pixels: Pixels) -> Ink | None:
    """Return how much each pixel differs from the color at the edges of the picture, or None if no
    pixel differs from that color."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    background = np.median(edge, axis=0)
    far: Ink = np.maximum.reduce([np.abs(pixels[:, :, k] - background[k]) for k in range(3)])
    most = float(far.max())
    return far / most if most else None


def ink_spans(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranges of consecutive True values. Each range consists of its first index and the
    index after its last."""
    ends = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


class InkBox(NamedTuple):
    """The bounding box of a piece of ink, in pixels."""

    top: int
    """The first row."""
    bottom: int
    """The row after the last."""
    left: int
    """The first column."""
    right: int
    """The column after the last."""
    area: int
    """The number of pixels of ink."""

    @property
    def center(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def ink_pieces(inked: NDArray[np.bool_]) -> list[InkBox]:
    """Return the bounding boxes of the connected pieces of ink. Two pixels are connected if they
    share a side or a corner."""
    lines, ends = np.nonzero(np.diff(inked, axis=1, prepend=False, append=False))
    runs = list(zip(lines[::2].tolist(), ends[::2].tolist(), ends[1::2].tolist(), strict=True))
    # A union-find forest of runs. The entry of a run is another run of the same piece, and the
    # entry of a root is the root itself.
    joined: list[int] = []
    on_line: dict[int, list[tuple[int, int, int]]] = {}

    def first(run: int) -> int:
        while joined[run] != run:
            run = joined[run]
        return run

    for run, (line, start, end) in enumerate(runs):
        joined.append(run)
        for other, other_start, other_end in on_line.get(line - 1, ()):
            if start <= other_end and other_start <= end:
                joined[first(run)] = first(other)
        on_line.setdefault(line, []).append((run, start, end))
    boxes: dict[int, InkBox] = {}
    for run, (line, start, end) in enumerate(runs):
        box = boxes.get(first(run), InkBox(line, line, start, end, 0))
        boxes[first(run)] = InkBox(
            box.top, line + 1, min(box.left, start), max(box.right, end), box.area + end - start
        )
    return list(boxes.values())


@lru_cache(maxsize=64)
def letter_bitmap(name: str, shape: tuple[int, int]) -> Ink:
    """Resize the bitmap of a letter to a shape. Each value of the result is the fraction of a pixel
    that is ink."""
    cells = np.array([[cell == "#" for cell in line] for line in LETTERS[name].split()])
    used = np.flatnonzero(cells.any(axis=0))
    cells = cells[:, used[0] : used[-1] + 1].astype(float)
    resized: Ink = _shares(shape[0], cells.shape[0]) @ cells @ _shares(shape[1], cells.shape[1]).T
    return resized


def _shares(pixels: int, cells: int) -> NDArray[np.float64]:
    """Divide a line into `pixels` equal pixels, and the same line into `cells` equal cells. Return
    which fraction of each pixel each cell covers. The result has the shape (pixels, cells)."""
    pixel, cell, step = np.arange(pixels)[:, None], np.arange(cells)[None, :], pixels / cells
    shared: NDArray[np.float64] = np.minimum(pixel + 1, (cell + 1) * step) - np.maximum(
        pixel, cell * step
    )
    return np.maximum(0.0, shared)


def likeness_of(a: Ink, b: Ink) -> float:
    """Return the correlation of two pictures, or 0 if one of the pictures is constant."""
    da, db = a - a.mean(), b - b.mean()
    size = float(np.sqrt((da * da).sum() * (db * db).sum()))
    return float((da * db).sum()) / size if size else 0.0
