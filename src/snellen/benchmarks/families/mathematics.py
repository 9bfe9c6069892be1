"""Shared by benchmarks of mathematics and science: answers that are letters or values."""

import re

from snellen.answers.value import cleaned, same_value
from snellen.benchmarks.families.tasks import parse_letter, parse_value, wrong_letter
from snellen.core import Reading, Reply, Sample, Scoring
from snellen.metrics import mean

BOX = "\\boxed{"
_BRACE = re.compile("[{}]")


def boxes(text: str) -> list[str]:
    r"""The contents of the outermost boxes. A box that is not closed hides everything after it.

    >>> boxes(r"\boxed{\frac{1}{2}} or \boxed{B} or \boxed{C")
    ['\\frac{1}{2}', 'B']
    """
    contents = []
    position = 0
    while (opening := text.find(BOX, position)) >= 0:
        start, depth = opening + len(BOX), 1
        for brace in _BRACE.finditer(text, start):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                contents.append(text[start : brace.start()])
                position = brace.end()
                break
        else:
            break
    return contents


def is_float(text: str) -> bool:
    """Whether Python's `float` accepts the text. `float` also accepts `nan`, `1_000`, and `1e5`."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def letter_or_value(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter or the value that a reply settles on. A reply that names several letters or
    values, or none, is unparsed."""
    return parse_letter(reply, sample) if sample.choices else parse_value(reply, sample)


def is_letter_or_value(reading: Reading, sample: Sample) -> float:
    """1 if the letter is the target's, or the value equals the target, and 0 otherwise."""
    if reading.answer is None or sample.target is None:
        return 0.0
    if sample.choices:
        return float(reading.answer == sample.target)
    return float(same_value(str(reading.answer), cleaned(sample.target)))


def robust(version: int) -> Scoring:
    """Snellen's own scoring, which takes the letter or value that a reply settles on."""
    return Scoring(
        version=version,
        source="ours",
        parse=letter_or_value,
        score=is_letter_or_value,
        metrics={"accuracy": mean},
    )


def wrong_letter_or_value(sample: Sample) -> str:
    """A wrong answer to a sample, for the check with dummy models."""
    return wrong_letter(sample) if sample.choices else "-98765"
