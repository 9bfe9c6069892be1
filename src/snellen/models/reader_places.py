"""Where the reader sees a letter."""

from __future__ import annotations

import re

from snellen.models.reader_shapes import (
    SOLID,
    Ink,
    InkBox,
    ink_pieces,
    letter_bitmap,
    likeness_of,
)

LOCATED = re.compile(r"\bwhere in it is the letter ([A-Z])\b", re.IGNORECASE)
"""Matches the question where a letter is."""
SIZE = re.compile(r"\b([1-9]\d{0,4}) pixels wide and ([1-9]\d{0,4}) pixels high\b")
"""Matches the size of the picture that a question states."""


def located_letter(ink: Ink, letter: str, question: str) -> str:
    """Return the box of the piece of ink that resembles a letter most, as [left, top, right,
    bottom], if the question asks for a box. Otherwise, return the center of the box, as [x, y].
    Numbers are in pixels of the size that the question states, if it states one: the picture may
    have been made smaller."""
    inked = ink > SOLID

    def likeness(piece: InkBox) -> float:
        shown = inked[piece.top : piece.bottom, piece.left : piece.right].astype(float)
        return likeness_of(shown, letter_bitmap(letter.upper(), shown.shape))

    piece = max(ink_pieces(inked), key=likeness)
    across, along = 1.0, 1.0
    if size := SIZE.search(question):
        across, along = int(size[1]) / ink.shape[1], int(size[2]) / ink.shape[0]
    x, y = piece.center
    corners = (piece.left, piece.top, piece.right, piece.bottom)
    numbers = corners if re.search(r"\bbox\b", question) else (x, y)
    scaled = (number * (along if k % 2 else across) for k, number in enumerate(numbers))
    return f"[{', '.join(f'{number:g}' for number in scaled)}]"
