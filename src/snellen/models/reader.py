"""baseline/reader: reads letters, colors, counts, and positions with classical image processing.

Like any model, the reader gets the encoded picture and the question. The reader recognizes letters
by its own bitmaps of five by five cells. The reader does not learn and uses no random numbers, so
the same picture and question always give the same reply.

- Letters: The row of letters is split at empty columns. If the picture has other content, the row
  consists of the pieces of ink that are in line, and is split into equal steps. Each letter is
  compared with the bitmaps.

- Colors: The answer is the named color that is nearest to the mean color of the ink. Ink is
  everything that differs from the background.

- Counts: The answer is the number of connected pieces of ink.

- Positions: The answer is the part of the picture that contains the center of the ink.

- Places: The piece of ink that resembles the letter most is the letter. The answer is the center
  of the piece, or its box.

- Tables: Long straight pieces of ink are the rules of the table. The letters between them are
  recognized cell by cell.

- Relations: The answer states on which side of the other piece the circle or the square lies. The
  rounder piece is the circle.

A noisy picture is blurred until something stands out from the noise. In videos whose letters come
and go, all frames are read in order. A letter that appears in consecutive frames is counted once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.errors import MediaError, Rejected
from snellen.media import images
from snellen.media.content import Image, Message, Video
from snellen.models.reader_places import LOCATED, located_letter
from snellen.models.reader_shapes import (
    LETTERS,
    LISTED,
    SOLID,
    Ink,
    InkBox,
    Pixels,
    ink_of,
    ink_pieces,
    ink_spans,
    letter_bitmap,
    likeness_of,
)
from snellen.models.reader_tables import PAGE_WITH_TABLE, table_html
from snellen.models.zoomer import Zoomer

# The mean colors for these names in R. Munroe's survey of 2010, xkcd.com/color/rgb.
COLORS = {
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
"""Maps each word for a part of the picture to the center of this part, as (x, y) in sixths of the
width and height. If the name of a part contains none of these words, the part is the middle."""
FAINTEST_NOISE = 1.0
"""The noise level below which a picture is not blurred, on a scale from 0 to 255."""
BLURS = (3, 5, 7, 9, 11)
"""The widths, in pixels, of the squares over which a picture may be blurred. The first width with
which a pixel stands out is used."""
STANDS_OUT = 8.0
"""A pixel stands out if it differs from the median by more than this number of standard deviations
of the blurred noise."""
SMALLEST = 6
"""The minimum height of a piece of ink, in pixels. Smaller pieces are ignored as specks."""
EMPTY = 40
"""The maximum difference between the pixels of an empty screen, on a scale from 0 to 255. Even an
empty screen has compression artifacts."""
ORDINALS = {"first": 0, "second": 1, "third": 2, "last": -1}


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Reader | Zoomer:
    """Open the reader or the zoomer, which answer batches of requests from `models.batching`."""
    reader = Reader(f"baseline/{name}")
    return Zoomer(reader) if name == "zoomer" else reader


class Reader:
    """Recognizes the kind of a question by its words. The reply to a question of unknown kind is
    empty."""

    def __init__(self, name: str = "baseline/reader") -> None:
        self.name = name

    def generate_batch(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request.

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
                letters = listed.group() if listed else ""
                # Without their labels, frames with the same content are equal.
                alike = (replace(picture, label="") for picture in pictures)
                return _came([_letter_on(picture, letters) for picture in alike], question)
            pixels = images.pixels(pictures[0])
        except MediaError as error:
            raise Rejected(str(error)) from error
        ink = ink_of(_calmed(pixels))
        if ink is None:
            return ""
        if match := LOCATED.search(question):
            return located_letter(ink, match[1], question)
        if PAGE_WITH_TABLE.search(question):
            return table_html(ink, question)
        if re.search(r"\bletters?\b", question):
            return _letters(ink, question)
        if re.search(r"\bcolou?r\b", question):
            return _color(pixels, ink, request.choices)
        if re.search(r"\bhow many\b", question, re.IGNORECASE):
            return str(len(ink_pieces(ink > SOLID)))
        if match := re.search(r"\bwhere is the (\w+), seen from the\b", question, re.IGNORECASE):
            return _relation(ink_pieces(ink > SOLID), match[1])
        if re.search(r"\b(where|which (part|quarter))\b", question, re.IGNORECASE):
            return _position(ink, request.choices)
        return ""


def _pictures(message: Message) -> list[Image]:
    """Return the pictures and video frames in a message, in order."""
    shown: list[Image] = []
    for part in message.content:
        if isinstance(part, Image):
            shown.append(part)
        elif isinstance(part, Video):
            shown += (frame.image for frame in part.frames)
    return shown


def _calmed(pixels: NDArray[np.uint8]) -> Pixels:
    """Blur a noisy picture with the smallest square that makes something stand out. Return other
    pictures unchanged."""
    grey = pixels[:, :, 1].astype(np.int16)
    # The noise is estimated from second differences (Immerkaer 1996, Computer Vision and Image
    # Understanding 64, 300), but with the median instead of the mean, so that shapes do not count.
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
    """Replace each pixel with the mean over a square around the pixel. The width of the square must
    be odd. The result has the shape (height, width, 3)."""
    before, after = width // 2 + 1, width // 2
    around = np.pad(pixels, ((before, after), (before, after), (0, 0)), "edge").astype(np.int64)
    sums = around.cumsum(axis=0).cumsum(axis=1)
    over = sums[width:] - sums[:-width]
    mean: NDArray[np.float64] = (over[:, width:] - over[:, :-width]) / width**2
    return mean


# -- letters that come and go

COME_AND_GO = re.compile(r"\b(on the screen now|letters come and go)\b", re.IGNORECASE)


@lru_cache(maxsize=128)  # many frames are equal, and they appear in several questions
def _letter_on(picture: Image, letters: str) -> str:
    """Return the letters on the screen, or "" if the screen is empty. If `letters` lists letters,
    only those letters are recognized."""
    pixels = images.pixels(picture)
    if (pixels.max(axis=(0, 1)) - pixels.min(axis=(0, 1))).max() < EMPTY:
        return ""
    ink = ink_of(_calmed(pixels))
    return "" if ink is None else _letters(ink, letters)


def _came(seen: Sequence[str], question: str) -> str:
    """Answer a question about the letters in the frames: how many times a letter came, which letter
    came first, second, third, or last, or which letter is on the screen now. If too few letters
    came, the answer is ""."""
    came = [letter for letter, _ in groupby(seen) if letter]
    if match := re.search(r"\bhow many times has the letter ([A-Z])\b", question, re.IGNORECASE):
        return str(came.count(match[1]))
    if match := re.search(r"\bcame (first|second|third|last)\b", question):
        index = ORDINALS[match[1]]
        return came[index] if index < len(came) and came else ""
    return seen[-1]


# -- letters


def _letters(ink: Ink, question: str) -> str:
    """Return the letters in the row, from left to right. If the question lists letters, only those
    letters are recognized."""
    listed = LISTED.search(question)
    names = listed.group().split(", ") if listed else list(LETTERS)
    number = re.search(r"\b([1-9]) letters\b", question)
    inked = ink > SOLID
    read = ""
    for top, bottom, left, right in _places(inked, int(number[1]) if number else None):
        letter = inked[top:bottom, left:right].astype(float)
        likeness = [likeness_of(letter, letter_bitmap(name, letter.shape)) for name in names]
        read += names[int(np.argmax(likeness))]
    return read


def _places(inked: NDArray[np.bool_], n: int | None) -> list[tuple[int, int, int, int]]:
    """Return the top, bottom, left, and right of each letter in the row. `n` is the number of
    letters, or None if the number is not known.

    In a wide and flat picture, all ink belongs to the row. In other pictures, the row consists of
    pieces of similar height that are in line.
    """
    columns: NDArray[np.bool_] = np.logical_or.reduce(inked, axis=0)
    lines = np.flatnonzero(inked.any(axis=1))
    top, bottom = int(lines[0]), int(lines[-1]) + 1
    spans = ink_spans(columns)
    if n is None:
        spans = _merged(spans, (bottom - top) / 2)
    elif spans[-1][1] - spans[0][0] < n / 2 * (bottom - top) and (
        places := _in_line(ink_pieces(inked), inked, n)
    ):
        return places
    else:
        spans = _joined(spans, n)
    return [(top, bottom, first, last) for first, last in spans]


def _in_line(
    pieces: Sequence[InkBox], inked: NDArray[np.bool_], n: int
) -> list[tuple[int, int, int, int]]:
    """Return the positions of the `n` letters in a row, estimated from the pieces that look like
    letters in line. If no two pieces are in line, return an empty list."""
    large = [piece for piece in pieces if piece.bottom - piece.top >= SMALLEST]

    def like(box: InkBox) -> list[InkBox]:
        slack = (box.bottom - box.top) / 6
        return [
            other
            for other in large
            if abs(other.top - box.top) <= slack
            and abs(other.bottom - box.bottom) <= slack
            and other.right - other.left <= 1.4 * (box.bottom - box.top)
        ]

    row = max(map(like, large), key=len, default=[])
    centers = sorted(piece.center[0] for piece in row)
    gaps = [right - left for left, right in pairwise(centers)]
    if not gaps:
        return []
    height = median(piece.bottom - piece.top for piece in row)
    top = round(median(piece.top for piece in row))
    bottom = top + round(height)
    shortest = max(min(gaps), height)
    step = sum(gaps) / sum(max(1, round(gap / shortest)) for gap in gaps)

    def places(first: int) -> list[tuple[int, int, int, int]]:
        starts = [round(centers[0] + (k - first) * step - height / 2) for k in range(n)]
        width = inked.shape[1] - 1
        return [
            (top, bottom, min(max(0, x), width), min(max(0, x) + round(height), width + 1))
            for x in starts
        ]

    def ink(first: int) -> int:
        return sum(int(inked[t:b, left:right].sum()) for t, b, left, right in places(first))

    return places(max(range(n), key=ink))


def _joined(spans: Sequence[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """Join ranges across the narrowest gaps until `n` ranges are left.

    If there are fewer than `n` ranges, divide the interval from the first to the last into `n`
    equal parts.
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
    """Join ranges across gaps that are narrower than `gap`, since a small letter may consist of
    several pieces."""
    merged = [spans[0]]
    for first, last in spans[1:]:
        if first - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


# -- colors, counts, positions


def _color(pixels: NDArray[np.uint8], ink: Ink, choices: Sequence[str]) -> str:
    """Return the name of the color that is nearest to the mean color of the ink. If the choices
    name colors, only those colors are considered."""
    mean = pixels[ink > SOLID].mean(axis=0)
    names = [name for name in COLORS if name in choices] or list(COLORS)
    return min(names, key=lambda name: sum((mean[k] - COLORS[name][k]) ** 2 for k in range(3)))


def _position(ink: Ink, choices: Sequence[str]) -> str:
    """Return the choice that names the part of the picture with the center of the ink."""
    height, width = ink.shape
    total = ink.sum()
    y = float(ink.sum(axis=1) @ (np.arange(height) + 0.5)) / total / height * 6
    x = float(ink.sum(axis=0) @ (np.arange(width) + 0.5)) / total / width * 6

    def away(choice: str) -> float:
        there = [PLACES[word] for word in choice.split() if word in PLACES]
        right, down = (3 + sum(offset[axis] - 3 for offset in there) for axis in (0, 1))
        return math.hypot(right - x, down - y)

    return min(choices, key=away, default="")


def _relation(pieces: Sequence[InkBox], subject: str) -> str:
    """Return the side of the other piece on which the subject (circle or square) lies, or "" if
    there are not exactly two pieces."""
    if len(pieces) != 2:
        return ""

    def filled(box: InkBox) -> float:
        return box.area / ((box.bottom - box.top) * (box.right - box.left))

    circle, square = sorted(pieces, key=filled)
    target, other = (circle, square) if subject == "circle" else (square, circle)
    right, down = (a - b for a, b in zip(target.center, other.center, strict=True))
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "below" if down > 0 else "above"
