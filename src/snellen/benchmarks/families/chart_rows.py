"""Shared by the tasks of the eye chart that show a row of five letters: the question, and how the
letters in a reply are read and scored."""

from __future__ import annotations

import re

from snellen.core import Reading, Reply

PER_ROW = 5
"""The number of letters in a row."""
QUESTION = (
    "The picture shows one row of {n} letters{how}. Each of them is one of {alphabet}.\n"
    "Reply with the {n} letters from left to right and nothing else."
)
SEPARATORS = re.compile(r"[\s,;|-]+")


def row_question(alphabet: str, how: str = "") -> str:
    """The question about a row of letters. `how` describes the row."""
    return QUESTION.format(n=PER_ROW, how=how, alphabet=", ".join(alphabet))


def bare_text(reply: Reply) -> str:
    """The text of a reply in lowercase, without what surrounds the answer."""
    text = reply.text.strip(" \t\r\n*\"'`").removesuffix(".")
    return re.sub(r"\Aanswer:", "", text.lower()).strip(" \t\r\n*\"'`")


def read_row(text: str) -> Reading:
    """Parse the letters of a row. A text with another number of letters is unparsed, since the
    positions of its letters are unknown."""
    row = SEPARATORS.sub("", text).upper()
    if len(row) == PER_ROW and re.fullmatch("[A-Z?]+", row):
        return Reading(answer=row, rule="five letters")
    return Reading(answer=None, rule="none")


def row_score(answer: str, target: str) -> float:
    """The share of letters in the right position."""
    pairs = zip(answer, target, strict=True)
    return sum(read == shown for read, shown in pairs) / len(target)
