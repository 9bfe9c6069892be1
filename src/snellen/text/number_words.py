"""Numbers in English words, with the quirks of word2number 1.1, which authors of benchmarks use."""

from collections.abc import Sequence
from itertools import takewhile

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"billion": 10**9, "million": 10**6, "thousand": 10**3}
POINT = "point"
VALUES = {
    **{word: value for value, word in enumerate((*UNITS, *TEENS))},
    **{word: 20 + 10 * index for index, word in enumerate(TENS)},
    "hundred": 100,
    **SCALES,
}


def word2number(text: str) -> str | None:
    """Return the number that word2number 1.1 finds in a text, in digits. Return None if it finds
    none, or if it fails.

    Words that are not number words are ignored, so "no one" is 1. Number words that follow each
    other are added up: "one of the four" is 5. Of more than four words without a scale, only the
    first counts. If a scale is the last word, and a larger scale precedes it, the words between the
    two are added once more: "two million three thousand" is 2004003.

    >>> word2number("two hundred and five"), word2number("Three point one four"), word2number("a")
    ('205', '3.14', None)
    """
    text = text.replace("-", " ").lower()
    if text.isdigit():
        # `isdigit` accepts superscripts, and `int` does not.
        return str(int(text)) if text.isdecimal() and len(text) <= 4300 else None
    words = [word for word in text.split() if word in VALUES or word == POINT]
    if not words or any(words.count(word) > 1 for word in (POINT, *SCALES)):
        return None
    before = [*takewhile(lambda word: word != POINT, words)]
    after = words[len(before) + 1 :]
    value = _value(before)
    if value is None:
        return None
    if after and all(word in UNITS for word in after):
        return str(value + float("0." + "".join(str(VALUES[word]) for word in after)))
    return str(value)


def _value(words: Sequence[str]) -> int | None:
    if len(words) < 2:
        return VALUES[words[0]] if words else 0
    scales = [word for word in words if word in SCALES]
    if scales != sorted(scales, key=SCALES.__getitem__, reverse=True):
        return None
    total, start = 0, 0
    for scale in scales:
        end = words.index(scale)
        if start == end:
            return None  # word2number fails with an IndexError
        total += _group(words[start:end]) * SCALES[scale]
        start = end + 1
    starts = [words.index(scale) + 1 for scale in reversed(scales)] or [0]
    rest = next((words[start:] for start in starts if start < len(words)), [])
    return total + (_group(rest) if rest else 0)


def _group(words: Sequence[str]) -> int:
    """The value of the words between two scales."""
    first, *others = (VALUES[word] for word in words)
    match others:
        case [second] if 100 in (first, second):
            return first * second
        case [second]:
            return first + second
        case [second, third]:
            return first * second + third
        case [second, third, fourth]:
            return first * second + third + fourth
    return first
