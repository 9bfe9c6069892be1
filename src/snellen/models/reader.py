"""baseline/reader: a small classical reader of letters, colours, counts and positions.

It sees the encoded picture and the question, like any model, and knows what letters look like from
bitmaps of its own, five by five cells. Nothing is learned or drawn by chance: the same picture and
question give the same reply.

    letters    the row is split where columns are empty, or, where more is in the picture, at even
               steps from pieces that stand in line; each letter is compared with the bitmaps
    colours    the named colour nearest to the mean of what stands out from the background
    counts     connected pieces of it
    positions  the part of the picture that its centre lies in
    relations  which side of one piece the other is on; the rounder one is the circle

A noisy picture is blurred until something stands out. Of letters that come and go it reads every
frame that it is shown, in their order: a letter is there from the first of like frames to the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.errors import MediaError, Rejected
from snellen.media import images
from snellen.media.content import Image, Message, Video

Pixels = NDArray[np.uint8] | NDArray[np.float64]
"""(height, width, 3), RGB, 0 to 255."""
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
PLACES = {"top": (3, 1), "bottom": (3, 5), "left": (1, 3), "right": (5, 3)}
"""Right and down, in sixths of the picture; what has no such word is in the middle."""
FAINTEST_NOISE = 1.0
"""In levels of 255; below it nothing is blurred."""
BLURS = (3, 5, 7, 9, 11)
"""Widths of the square, in pixels; the first one that does is taken."""
STANDS_OUT = 8.0
"""How many standard deviations of the blurred noise something must reach. Half of it is ink."""
SMALLEST = 6
"""Pieces less high than this, in pixels, are specks."""
EMPTY = 40
"""Levels of 255 that frames of an empty screen differ by at most: what compression leaves."""
ORDINALS = {"first": 0, "second": 1, "third": 2, "last": -1}
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
        pictures = _pictures(last)
        if not pictures:
            return ""
        try:
            if COME_AND_GO.search(question):
                listed = LISTED.search(question)
                among = listed.group() if listed else ""
                # Without their places, frames that look alike are the same.
                alike = (replace(picture, place="") for picture in pictures)
                return _came([_letter_on(picture, among) for picture in alike], question)
            pixels = images.pixels(pictures[0])
        except MediaError as error:
            raise Rejected(str(error)) from error
        ink = _ink(_calmed(pixels))
        if ink is None:
            return ""
        if re.search(r"\bletters?\b", question):
            return _letters(ink, question)
        if re.search(r"\bcolou?r\b", question):
            return _colour(pixels, ink, request.choices)
        if re.search(r"\bhow many\b", question, re.IGNORECASE):
            return str(len(_pieces(ink > SOLID)))
        if asked := re.search(r"\bwhere is the (\w+), seen from the\b", question, re.IGNORECASE):
            return _relation(_pieces(ink > SOLID), asked[1])
        if re.search(r"\b(where|which (part|quarter))\b", question, re.IGNORECASE):
            return _position(ink, request.choices)
        return ""


def _pictures(message: Message) -> list[Image]:
    """The pictures and the frames of videos, in order."""
    shown: list[Image] = []
    for part in message.content:
        if isinstance(part, Image):
            shown.append(part)
        elif isinstance(part, Video):
            shown += (frame.image for frame in part.frames)
    return shown


def _calmed(pixels: NDArray[np.uint8]) -> Pixels:
    """The picture, blurred by a square just wide enough that something stands out of its noise."""
    grey = pixels[:, :, 1].astype(np.int16)
    # The noise by what a plane's second differences leave, after Immerkaer 1996, Computer Vision
    # and Image Understanding 64, 300, with the median in place of the mean: shapes do not count.
    bent = np.diff(np.diff(grey, n=2, axis=0), n=2, axis=1)
    noise = float(np.median(np.abs(bent))) / 0.6745 / 6 if bent.size else 0.0
    if noise < FAINTEST_NOISE:
        return pixels
    middle = np.median(pixels, axis=(0, 1))
    for width in BLURS:
        blurred = _blurred(pixels, width)
        if np.abs(blurred - middle).max() > STANDS_OUT * noise / width:
            break
    return blurred


def _blurred(pixels: NDArray[np.uint8], width: int) -> NDArray[np.float64]:
    """Each pixel's mean over a square of this odd width, (height, width, 3)."""
    before, after = width // 2 + 1, width // 2
    around = np.pad(pixels, ((before, after), (before, after), (0, 0)), "edge").astype(np.int64)
    sums = around.cumsum(axis=0).cumsum(axis=1)
    over = sums[width:] - sums[:-width]
    mean: NDArray[np.float64] = (over[:, width:] - over[:, :-width]) / width**2
    return mean


def _ink(pixels: Pixels) -> Ink | None:
    """How far each pixel is from the colour of the picture's edge; None where all are alike."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    background = np.median(edge, axis=0)
    far: Ink = np.maximum.reduce([np.abs(pixels[:, :, k] - background[k]) for k in range(3)])
    most = float(far.max())
    return far / most if most else None


def _spans(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches of True, as first and one past the last."""
    ends = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


class _Box(NamedTuple):
    """A rectangle around `area` pixels; `bottom` and `right` are one past the last."""

    top: int
    bottom: int
    left: int
    right: int
    area: int

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def _pieces(inked: NDArray[np.bool_]) -> list[_Box]:
    """The boxes around connected pieces (pixels that touch at a side or a corner)."""
    lines, ends = np.nonzero(np.diff(inked, axis=1, prepend=False, append=False))
    runs = list(zip(lines[::2].tolist(), ends[::2].tolist(), ends[1::2].tolist(), strict=True))
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
    boxes: dict[int, _Box] = {}
    for run, (line, start, end) in enumerate(runs):
        box = boxes.get(first(run), _Box(line, line, start, end, 0))
        boxes[first(run)] = _Box(
            box.top, line + 1, min(box.left, start), max(box.right, end), box.area + end - start
        )
    return list(boxes.values())


# -- letters that come and go

COME_AND_GO = re.compile(r"\b(on the screen now|letters come and go)\b", re.IGNORECASE)


@lru_cache(maxsize=128)  # many frames are alike, and shown with several questions
def _letter_on(picture: Image, among: str) -> str:
    """What is on the screen, "" if it is empty; of the letters listed, if some are."""
    pixels = images.pixels(picture)
    if (pixels.max(axis=(0, 1)) - pixels.min(axis=(0, 1))).max() < EMPTY:
        return ""
    ink = _ink(_calmed(pixels))
    return "" if ink is None else _letters(ink, among)


def _came(seen: Sequence[str], question: str) -> str:
    """The answer from what was seen on each frame: the last, how many times one, or which came
    when; "" where too few came."""
    came = [letter for letter, _ in groupby(seen) if letter]
    if asked := re.search(r"\bhow many times has the letter ([A-Z])\b", question, re.IGNORECASE):
        return str(came.count(asked[1]))
    if asked := re.search(r"\bcame (first|second|third|last)\b", question):
        place = ORDINALS[asked[1]]
        return came[place] if place < len(came) and came else ""
    return seen[-1]


# -- letters

LISTED = re.compile(r"\b[A-Z](?:, [A-Z]\b)+")


def _letters(ink: Ink, question: str) -> str:
    """The row of letters, left to right; those that the question lists, if it lists some."""
    listed = LISTED.search(question)
    names = listed.group().split(", ") if listed else list(LETTERS)
    told = re.search(r"\b([1-9]) letters\b", question)
    inked = ink > SOLID
    read = ""
    for top, bottom, left, right in _places(inked, int(told[1]) if told else None):
        letter = inked[top:bottom, left:right].astype(float)
        likeness = [_likeness(letter, _resized(name, letter.shape)) for name in names]
        read += names[int(np.argmax(likeness))]
    return read


def _places(inked: NDArray[np.bool_], n: int | None) -> list[tuple[int, int, int, int]]:
    """Where the letters of the row are: top, bottom, left and right; `n` of them, if that is told.

    A flat picture is the row itself. In others, pieces that stand in line show where it is.
    """
    columns: NDArray[np.bool_] = np.logical_or.reduce(inked, axis=0)
    lines = np.flatnonzero(inked.any(axis=1))
    top, bottom = int(lines[0]), int(lines[-1]) + 1
    spans = _spans(columns)
    if n is None:
        spans = _merged(spans, (bottom - top) / 2)
    elif spans[-1][1] - spans[0][0] < n / 2 * (bottom - top) and (
        found := _in_line(_pieces(inked), inked, n)
    ):
        return found
    else:
        spans = _joined(spans, n)
    return [(top, bottom, first, last) for first, last in spans]


def _in_line(
    pieces: Sequence[_Box], inked: NDArray[np.bool_], n: int
) -> list[tuple[int, int, int, int]]:
    """The `n` places of a row of which some pieces are letters; none where no two are in line."""
    large = [piece for piece in pieces if piece.bottom - piece.top >= SMALLEST]

    def like(one: _Box) -> list[_Box]:
        slack = (one.bottom - one.top) / 6
        return [
            other
            for other in large
            if abs(other.top - one.top) <= slack
            and abs(other.bottom - one.bottom) <= slack
            and other.right - other.left <= 1.4 * (one.bottom - one.top)
        ]

    row = max(map(like, large), key=len, default=[])
    centres = sorted(piece.centre[0] for piece in row)
    gaps = [right - left for left, right in pairwise(centres)]
    if not gaps:
        return []
    height = median(piece.bottom - piece.top for piece in row)
    top = round(median(piece.top for piece in row))
    bottom = top + round(height)
    shortest = max(min(gaps), height)
    step = sum(gaps) / sum(max(1, round(gap / shortest)) for gap in gaps)

    def places(first: int) -> list[tuple[int, int, int, int]]:
        starts = [round(centres[0] + (k - first) * step - height / 2) for k in range(n)]
        width = inked.shape[1] - 1
        return [
            (top, bottom, min(max(0, x), width), min(max(0, x) + round(height), width + 1))
            for x in starts
        ]

    def ink(first: int) -> int:
        return sum(int(inked[t:b, left:right].sum()) for t, b, left, right in places(first))

    return places(max(range(n), key=ink))


def _joined(spans: Sequence[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """The stretches, those with the least between them joined until there are `n`.

    Where there are fewer, all of them together in `n` even parts.
    """
    if len(spans) < n:
        first, last = spans[0][0], spans[-1][1]
        cuts = [first + k * (last - first) // n for k in range(n + 1)]
        return [(start, end) for start, end in pairwise(cuts) if start < end]
    gaps = [right[0] - left[1] for left, right in pairwise(spans)]
    cut = sorted(range(len(gaps)), key=lambda k: -gaps[k])[: n - 1]
    ends = [-1, *sorted(cut), len(spans) - 1]
    return [(spans[a + 1][0], spans[b][1]) for a, b in pairwise(ends)]


def _merged(spans: Sequence[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """The stretches, those with less than `gap` between them joined: small letters fall apart."""
    merged = [spans[0]]
    for first, last in spans[1:]:
        if first - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


@lru_cache(maxsize=64)
def _resized(name: str, shape: tuple[int, int]) -> Ink:
    """A letter's bitmap on a picture of this shape: each pixel's share of ink."""
    cells = np.array([[cell == "#" for cell in line] for line in LETTERS[name].split()])
    used = np.flatnonzero(cells.any(axis=0))
    cells = cells[:, used[0] : used[-1] + 1].astype(float)
    resized: Ink = _shares(shape[0], cells.shape[0]) @ cells @ _shares(shape[1], cells.shape[1]).T
    return resized


def _shares(pixels: int, cells: int) -> NDArray[np.float64]:
    """The share of each pixel that each cell covers, over the same length: (pixels, cells)."""
    pixel, cell, step = np.arange(pixels)[:, None], np.arange(cells)[None, :], pixels / cells
    shared: NDArray[np.float64] = np.minimum(pixel + 1, (cell + 1) * step) - np.maximum(
        pixel, cell * step
    )
    return np.maximum(0.0, shared)


def _likeness(one: Ink, other: Ink) -> float:
    """The correlation of two pictures; 0 where one of them is even."""
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size else 0.0


# -- colours, counts, positions


def _colour(pixels: NDArray[np.uint8], ink: Ink, choices: Sequence[str]) -> str:
    """The named colour nearest to the mean of the ink; one of the choices, if there are any."""
    mean = pixels[ink > SOLID].mean(axis=0)
    names = [name for name in COLOURS if name in choices] or list(COLOURS)
    return min(names, key=lambda name: sum((mean[k] - COLOURS[name][k]) ** 2 for k in range(3)))


def _position(ink: Ink, choices: Sequence[str]) -> str:
    """The choice that names the part of the picture in which the centre of the ink lies."""
    height, width = ink.shape
    total = ink.sum()
    y = float(ink.sum(axis=1) @ (np.arange(height) + 0.5)) / total / height * 6
    x = float(ink.sum(axis=0) @ (np.arange(width) + 0.5)) / total / width * 6

    def away(choice: str) -> float:
        there = [PLACES[word] for word in choice.split() if word in PLACES]
        right, down = (3 + sum(place[axis] - 3 for place in there) for axis in (0, 1))
        return math.hypot(right - x, down - y)

    return min(choices, key=away, default="")


def _relation(pieces: Sequence[_Box], asked: str) -> str:
    """On which side of the other piece the one that is asked for is, a circle or a square."""
    if len(pieces) != 2:
        return ""

    def filled(box: _Box) -> float:
        return box.area / ((box.bottom - box.top) * (box.right - box.left))

    circle, square = sorted(pieces, key=filled)
    one, other = (circle, square) if asked == "circle" else (square, circle)
    right, down = (a - b for a, b in zip(one.centre, other.centre, strict=True))
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "below" if down > 0 else "above"
