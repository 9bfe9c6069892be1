"""How MMMU's authors read an open answer, which VideoMMMU's authors also do, with more words.

The sources are in the sheets of `mmmu` and `video_mmmu`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from snellen.core import Reading, Reply

BEFORE = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
"""The texts after which an open answer begins. Such a text may be the end of a longer word: "this "
ends in "is "."""
# The authors' patterns for numbers with commas, in scientific notation, and in plain notation. They
# were changed so that no digit is scanned twice.
NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d++(?:\.\d+)?[eE][+-]?\d+"),
    re.compile(r"-?(?:(?<!\d)\d++\.\d++|\.\d++|(?<!\d)\d++\b)(?![eE][+-]?\d)(?!,)"),
)


def open_answer(reply: Reply, before: Sequence[str] = BEFORE) -> Reading:
    """Parse an open answer. In each line, the answer is the shortest text that follows one of the
    texts in `before`. If no line contains such a text, the answer is the whole reply."""
    text = reply.text.strip().strip(".").lower()
    # The authors also split the text at ". X", but this never matches lowercase text.
    lines = text.split("\n")
    tails = []
    for index, line in enumerate(lines):
        signs = (*before, "=") if index == len(lines) - 1 else before
        shortest = ""
        for sign in signs:
            if sign in line:
                tail = line.rpartition(sign)[2].strip()
                if not shortest or len(tail) < len(shortest):
                    shortest = tail
        if shortest and shortest not in (":", ",", ".", "!", "?", ";", "'"):
            tails.append(shortest)
    if tails:
        return Reading(answer=tuple(tails), rule="last words")
    return Reading(answer=(text,) if text else None, rule="whole reply" if text else "nothing said")


def is_open_answer_right(reading: Reading, right: Iterable[str]) -> bool:
    """Whether one of the values in the last words is a right answer."""
    tails = reading.answer if isinstance(reading.answer, tuple) else ()
    wanted = [value for text in right for value in normalised(text)]
    return any(is_right(value, wanted) for value in predicted(tails))


def predicted(tails: Iterable[str]) -> Iterator[str | float]:
    """Yield each text in `tails`, and the numbers that the text contains."""
    for tail in tails:
        yield from normalised(tail)
        for pattern in NUMBERS:
            for number_in_it in pattern.findall(tail):
                yield from normalised(number_in_it)


def normalised(text: str) -> tuple[str | float, ...]:
    """Convert a text to a number rounded to two decimals or, if that fails, to lowercase. A single
    character becomes two texts: with a space before it, and with a space after it."""
    text = text.strip()
    try:
        return (round(float(text.replace(",", "")), 2),)
    except ValueError:
        low = text.lower()
        return (f" {low}", f"{low} ") if len(low) == 1 else (low,)


def is_right(value: str | float, wanted: Iterable[str | float]) -> bool:
    """Whether a predicted value is right. A number must equal a right number, while a text only has
    to contain a right text."""
    if isinstance(value, float):
        return value in wanted
    return any(isinstance(text, str) and text in value for text in wanted)
