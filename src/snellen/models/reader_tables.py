"""How the reader reads a ruled table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from snellen.models.reader_shapes import (
    LETTERS,
    LISTED,
    SOLID,
    Ink,
    ink_spans,
    letter_bitmap,
    likeness_of,
)

PAGE_WITH_TABLE = re.compile(r"\bpage\b.*\btable\b.*\bHTML\b", re.DOTALL)
"""Matches the question for the table on a page."""
WIDE, TALL = 0.5, 0.9
"""A row of pixels is a rule of the table if more than this share of it is ink (`WIDE`), and so is a
column of pixels from the first rule to the last (`TALL`)."""


def table_html(ink: Ink, question: str) -> str:
    """Return the ruled table as HTML, or "" if there is none. In each cell, letters are recognized
    that are separated by empty columns. If the question lists letters, only those letters are
    recognized."""
    listed = LISTED.search(question)
    names = listed.group().split(", ") if listed else list(LETTERS)
    inked = ink > SOLID
    lines = ink_spans(inked.mean(axis=1) > WIDE)
    if len(lines) < 2:
        return ""
    body = inked[lines[0][0] : lines[-1][1]]
    bars = ink_spans(body.mean(axis=0) > TALL)
    rows = (
        "".join(
            f"<td>{_word(inked[above[1] : below[0], left[1] : right[0]], names)}</td>"
            for left, right in pairwise(bars)
        )
        for above, below in pairwise(lines)
    )
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _word(inked: NDArray[np.bool_], names: Sequence[str]) -> str:
    """Return the letters in a cell, from left to right."""
    heights = np.flatnonzero(inked.any(axis=1))
    if not len(heights):
        return ""
    line = inked[heights[0] : heights[-1] + 1].astype(float)
    word = ""
    columns: NDArray[np.bool_] = np.logical_or.reduce(inked, axis=0)
    for first, last in ink_spans(columns):
        letter = line[:, first:last]
        likeness = [likeness_of(letter, letter_bitmap(name, letter.shape)) for name in names]
        word += names[int(np.argmax(likeness))]
    return word
