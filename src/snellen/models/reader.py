"""baseline/reader: a small classical reader of letters, colours, counts and positions.

It sees the encoded picture and the question, like any model, and knows what letters look like from
bitmaps of its own, five by five cells. Nothing is learned or drawn by chance: the same picture and
question give the same reply.

    letters    the row is split where columns are empty; each letter is compared with the bitmaps
    colours    the named colour nearest to the mean of what stands out from the background
    counts     connected pieces of it
    positions  the ninth of the picture that its centre lies in
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from snellen.content import Image
from snellen.errors import MediaError, Rejected
from snellen.media import images
from snellen.model import Reply, Request
from snellen.models._profile import Profile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ink = NDArray[np.float64]
    """(height, width), 0 where the picture is as its background, 1 where it differs most."""

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
# Mean colours under these names in R. Munroe's survey of 2010, xkcd.com/color/rgb.
COLOURS = {
    "red": (229, 0, 0),
    "orange": (249, 115, 6),
    "yellow": (255, 255, 20),
    "green": (21, 176, 26),
    "blue": (3, 67, 223),
    "purple": (126, 30, 156),
    "pink": (255, 129, 192),
    "brown": (101, 55, 0),
    "black": (0, 0, 0),
    "grey": (146, 149, 145),
    "white": (255, 255, 255),
}
ROWS = ("top", "", "bottom")
COLUMNS = ("left", "", "right")
SOLID = 0.5
"""Pixels with more ink than this are ink, the others background: classical, and short-sighted."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Reader:
    """The reader; it answers batches and waits behind `models.batching`."""
    return Reader(f"baseline/{name}")


class Reader:
    """Reads a question's words to know what it is about; to other questions it says nothing."""

    def __init__(self, name: str = "baseline/reader") -> None:
        self.name = name

    def generate_batch(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply a request.

        Raises:
            Rejected: a picture cannot be decoded.
        """
        return [Reply(text=self._answer(request), stop="stop") for request in requests]

    def _answer(self, request: Request) -> str:
        last = request.messages[-1]
        question = last.text
        pictures = [part for part in last.content if isinstance(part, Image)]
        if not pictures:
            return ""
        try:
            pixels = images.pixels(pictures[0])
        except MediaError as error:
            raise Rejected(str(error)) from error
        ink = _ink(pixels)
        if ink is None:
            return ""
        if re.search(r"\bletters?\b", question):
            return _letters(ink, question)
        if re.search(r"\bcolou?r\b", question):
            return _colour(pixels, ink, request.choices)
        if re.search(r"\bhow many\b", question, re.IGNORECASE):
            return str(_pieces(ink > SOLID))
        if re.search(r"\bwhere\b", question, re.IGNORECASE):
            return _position(ink)
        return ""


def _ink(pixels: NDArray[np.uint8]) -> Ink | None:
    """How far each pixel is from the colour of the picture's edge; None where all are alike."""
    import numpy as np

    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    background = np.median(edge, axis=0).astype(np.int16)
    far = np.maximum.reduce([np.abs(pixels[:, :, k] - background[k]) for k in range(3)])
    most = int(far.max())
    return far / most if most else None


def _spans(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches of True, as first and one past the last."""
    import numpy as np

    ends = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


# -- letters


def _letters(ink: Ink, question: str) -> str:
    """The row of letters, left to right; those that the question lists, if it lists some."""
    import numpy as np

    listed = re.search(r"\b[A-Z](?:, [A-Z]\b)+", question)
    names = listed.group().split(", ") if listed else list(LETTERS)
    inked = ink > SOLID
    there = np.flatnonzero(inked.any(axis=1))
    row = inked[there[0] : there[-1] + 1]
    read = ""
    for first, last in _merged(_spans(row.max(axis=0)), len(row) / 2):
        letter = row[:, first:last].astype(float)
        likeness = [_likeness(letter, _resized(name, letter.shape)) for name in names]
        read += names[int(np.argmax(likeness))]
    return read


def _merged(spans: Sequence[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """The stretches, those with less than `gap` between them joined: small letters fall apart."""
    merged = [spans[0]]
    for first, last in spans[1:]:
        if first - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


@lru_cache(maxsize=1024)
def _resized(name: str, shape: tuple[int, int]) -> Ink:
    """A letter's bitmap on a picture of this shape: each pixel's share of ink."""
    import numpy as np

    cells = np.array([[cell == "#" for cell in line] for line in LETTERS[name].split()])
    used = np.flatnonzero(cells.any(axis=0))
    cells = cells[:, used[0] : used[-1] + 1].astype(float)
    resized: Ink = _shares(shape[0], cells.shape[0]) @ cells @ _shares(shape[1], cells.shape[1]).T
    return resized


def _shares(pixels: int, cells: int) -> NDArray[np.float64]:
    """The share of each pixel that each cell covers, over the same length: (pixels, cells)."""
    import numpy as np

    pixel, cell, step = np.arange(pixels)[:, None], np.arange(cells)[None, :], pixels / cells
    shared: NDArray[np.float64] = np.minimum(pixel + 1, (cell + 1) * step) - np.maximum(
        pixel, cell * step
    )
    return np.maximum(0.0, shared)


def _likeness(one: Ink, other: Ink) -> float:
    """The correlation of two pictures; 0 where one of them is even."""
    import numpy as np

    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size else 0.0


# -- colours, counts, positions


def _colour(pixels: NDArray[np.uint8], ink: Ink, choices: Sequence[str]) -> str:
    """The named colour nearest to the mean of the ink; one of the choices, if there are any."""
    mean = pixels[ink > SOLID].mean(axis=0)
    names = [name for name in COLOURS if name in choices] or list(COLOURS)
    return min(names, key=lambda name: sum((mean[k] - COLOURS[name][k]) ** 2 for k in range(3)))


def _pieces(inked: NDArray[np.bool_]) -> int:
    """The number of connected pieces (pixels that touch at a side or a corner)."""
    import numpy as np

    lines, ends = np.nonzero(np.diff(inked, axis=1, prepend=False, append=False))
    runs = zip(lines[::2].tolist(), ends[::2].tolist(), ends[1::2].tolist(), strict=True)
    # A run's entry leads to another run of its piece, and at the end to one that names itself.
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
    return sum(run == parent for run, parent in enumerate(joined))


def _position(ink: Ink) -> str:
    """The ninth of the picture in which the centre of the ink lies."""
    import numpy as np

    height, width = ink.shape
    total = ink.sum()
    y = float(ink.sum(axis=1) @ (np.arange(height) + 0.5)) / total
    x = float(ink.sum(axis=0) @ (np.arange(width) + 0.5)) / total
    return f"{ROWS[int(3 * y / height)]} {COLUMNS[int(3 * x / width)]}".strip() or "centre"
