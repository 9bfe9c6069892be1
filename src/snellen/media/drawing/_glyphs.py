"""Draws letters, digits, and a dash as on eye charts, with a round pen whose width is a fifth of a
glyph's height."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

SIDE, TURNED_SIDE = 40, 60
"""The numbers of cells along the side of an upright glyph and along the side of a turned glyph. The
pen is 8 cells wide."""
PEN = 8
"""The radius of the pen in half cells. The distance between neighboring points of the grid of
`STROKES` equals this radius."""
COSINES = (256, 247, 222, 181, 128, 66, 0)
"""The cosines of 0, 15, ..., 90 degrees in units of 1/256, rounded. Because of the rounding, the
size of a turned letter is off by at most 0.2 %."""

# The strokes of the pen's center. A stroke connects points xy of a 9 x 9 grid, in which 00 is the
# top left and 88 the bottom right.
STROKES = {
    "A": "08 40 88, 25 65",
    "B": "00 08 68 87 85 64 04, 00 60 81 83 64",
    "C": "82 60 20 02 06 28 68 86",
    "D": "00 50 83 85 58 08 00",
    "E": "80 00 08 88, 04 64",
    "F": "80 00 08, 04 64",
    "G": "82 60 20 02 06 28 68 86 84 54",
    "H": "00 08, 80 88, 04 84",
    "I": "40 48, 20 60, 28 68",
    "J": "80 86 68 28 06",
    "K": "00 08, 80 05, 34 88",
    "L": "00 08 88",
    "M": "08 00 44 80 88",
    "N": "08 00 88 80",
    "O": "20 60 82 86 68 28 06 02 20",
    "P": "08 00 60 81 83 64 04",
    "Q": "20 60 82 86 68 28 06 02 20, 55 88",
    "R": "08 00 60 81 83 64 04, 44 88",
    "S": "82 60 20 02 03 24 64 85 86 68 28 06",
    "T": "00 80, 40 48",
    "U": "00 06 28 68 86 80",
    "V": "00 48 80",
    "W": "00 28 44 68 80",
    "X": "00 88, 80 08",
    "Y": "00 44 80, 44 48",
    "Z": "00 80 08 88",
    "0": "30 50 72 76 58 38 16 12 30, 62 26",
    "1": "22 40 48, 28 68",
    "2": "12 30 50 72 73 18 78",
    "3": "10 70 43 54 75 76 58 38 16",
    "4": "58 50 05 75",
    "5": "70 10 13 53 75 76 58 28 17",
    "6": "71 50 30 12 16 38 58 76 75 53 33 15",
    "7": "10 70 38",
    "8": "30 50 72 54 34 12 30, 34 16 38 58 76 54",
    "9": "73 55 35 13 12 30 50 72 76 58 38 17",
    "-": "04 84",
}


@cache
def glyph(sign: str, turn: int = 0) -> NDArray[np.bool_]:
    """The mask of a glyph, which is True in the cells that the pen covers. It is read-only.

    The shape of the mask is (SIDE, SIDE) for an upright glyph, and (TURNED_SIDE, TURNED_SIDE) for a
    turned glyph. `turn` is the clockwise rotation about the center in degrees, a multiple of 15.

    Raises:
        KeyError: There is no glyph for this sign.
        ValueError: `turn` is not a multiple of 15.
    """
    if turn % 15:
        raise ValueError(f"glyphs turn in steps of 15 degrees, not by {turn}")
    cells = TURNED_SIDE if turn else SIDE
    # From here on, the unit is 1/256 of a half cell, and the origin is the center. In this unit,
    # turned points are integers too. Lengths are below 2^15, and the squares of products of two
    # lengths, which are compared below, are below 2^60.
    scale = COSINES[0]
    centers = (2 * np.arange(cells) + 1 - cells) * scale
    x, y = centers[None, :], centers[:, None]
    pen = PEN * scale
    ink = np.zeros((cells, cells), dtype=bool)
    for stroke in STROKES[sign].split(","):
        points = [_turned(int(p[0]) - 4, int(p[1]) - 4, turn) for p in stroke.split()]
        for (ax, ay), (bx, by) in pairwise(points):
            dx, dy = bx - ax, by - ay
            length2 = dx * dx + dy * dy
            along = (x - ax) * dx + (y - ay) * dy
            across = (x - ax) * dy - (y - ay) * dx
            ink |= (along >= 0) & (along <= length2) & (across**2 <= pen**2 * length2)
            for ex, ey in ((ax, ay), (bx, by)):
                ink |= (x - ex) ** 2 + (y - ey) ** 2 <= pen**2
    ink.flags.writeable = False
    return ink


def _turned(x: int, y: int, turn: int) -> tuple[int, int]:
    """Rotate a point of the grid about the center. The coordinates of the point are relative to the
    center, and those of the result are in units of 1/256 of half a cell."""
    cos, sin = PEN * _cosine(turn), PEN * _cosine(turn - 90)
    return x * cos - y * sin, x * sin + y * cos


def _cosine(turn: int) -> int:
    step = turn // 15 % 24
    return COSINES[step] if step <= 6 else -COSINES[12 - step] if step <= 12 else _cosine(-turn)
