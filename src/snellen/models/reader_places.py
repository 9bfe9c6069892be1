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


def located_letter(ink: Ink, letter: str, question: str) -> str:
    """Return the box of the piece of ink that resembles a letter most, as [left, top, right,
    bottom], if the question asks for a box. Otherwise, return the center of the box, as [x, y]."""
    inked = ink > SOLID

    def likeness(piece: InkBox) -> float:
        shown = inked[piece.top : piece.bottom, piece.left : piece.right].astype(float)
        return likeness_of(shown, letter_bitmap(letter.upper(), shown.shape))

    piece = max(ink_pieces(inked), key=likeness)
    if re.search(r"\bbox\b", question):
        return f"[{piece.left}, {piece.top}, {piece.right}, {piece.bottom}]"
    x, y = piece.center
    return f"[{x:g}, {y:g}]"
