"""Examines a question's choices for probes: whether the prompt lists the choices, which choice is
right, and whether the choices can be reordered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.errors import MediaError, UsageError

LOOKED_AT = 20
"""The number of questions with choices whose prompts are checked."""
POSITIONAL = re.compile(
    r"\b(?:all|any|both|either|neither|none) of (?:these|those|them|the)\b|\bthe (?:above|below)\b"
    r"|\b(?:both|either|neither|only|options?|choices?) \(?(?-i:[A-H])\b(?! [a-z])"
    r"|\b(?:both|either|neither) \(?(?-i:[A-H])\)? (?:and|or|nor)\b"
    r"|(?-i:^\s*\(?[A-H]\)?(?:\s*(?:,|and|or|&)\s*\(?[A-H]\)?)+\s*$)"
    r"|<image[ _]?>|\.(?:jpe?g|png)\s*$",
    re.IGNORECASE,
)
"""Matches a choice whose meaning depends on its position or on other choices ("all of the above",
"A and C"), and a mark or a file name that stands for a picture."""


def why_not(sample: Sample) -> str | None:
    """Return why a question's choices cannot be reordered, or None if they can."""
    options = sample.choices
    if len(options) < 2:
        return "without choices"
    if not all(option.strip() for option in options):
        return "with an empty choice"
    if len({option.strip() for option in options}) < len(options):
        return "with two equal choices"
    if "".join(options) == ascii_uppercase[: len(options)]:
        return "with letters as choices, which the picture explains"
    if any(map(POSITIONAL.search, options)):
        return "with a choice whose meaning depends on its position (by a rule of thumb)"
    if not sample.hidden and right_index(sample, lettered=True) is None is right_index(
        sample, lettered=False
    ):
        return "with a right answer that is none of the choices"
    return None


def questions(n: int) -> str:
    """Format a number of questions: `1 question`, `24 questions`."""
    return f"{n:,} question{'s' * (n != 1)}"


def left_out(reasons: Counter[str]) -> str:
    """Format the numbers of questions that are left out, keyed by reason, as in `; left out: 13
    without choices, 6 with an empty choice`. If no question is left out, the text is empty."""
    counts = ", ".join(f"{n:,} {why}" for why, n in reasons.most_common())
    return f"; left out: {counts}" if counts else ""


def right_index(sample: Sample, *, lettered: bool) -> int | None:
    """Return the index of the right choice, starting at 0. The sample's target is the letter of the
    right choice if `lettered` is true, and the text of the right choice otherwise."""
    target = sample.target
    if target is None:
        return None
    if lettered:
        index = ascii_uppercase.find(target) if len(target) == 1 else -1
        return index if 0 <= index < len(sample.choices) else None
    return sample.choices.index(target) if target in sample.choices else None


def by_letters(samples: Iterable[Sample]) -> bool:
    """Return whether the targets of samples are the letters of choices, not their texts. If choices
    are themselves letters, a target can be both, so the majority of the samples decides."""
    by_letter = by_text = 0
    for sample in samples:
        by_letter += right_index(sample, lettered=True) is not None
        by_text += right_index(sample, lettered=False) is not None
    return by_letter >= by_text


def check_listed(benchmark: Benchmark, flag: str) -> None:
    """Check that prompts list the sample's choices. If a prompt lists the choices, reordering the
    choices changes the prompt.

    Raises:
        UsageError: the prompts do not list the choices, or no question has choices.
    """
    samples = map(benchmark.read, benchmark.data)
    n_compared = 0
    for sample in islice(
        (candidate for candidate in samples if why_not(candidate) is None), LOOKED_AT
    ):
        turned = replace(sample, choices=(*sample.choices[1:], sample.choices[0]))
        try:
            listed = benchmark.messages(sample) != benchmark.messages(turned)
        except MediaError:
            continue  # reported when the question is asked
        n_compared += 1
        if not listed:
            raise UsageError(
                f"{flag}: the prompt of {benchmark.name} does not list the choices of sample "
                f"{sample.id!r}. The choices are in the picture, in the question, or implied. "
                f"Another --prompt may list the choices: see `snellen show {benchmark.name}`."
            )
    if not n_compared:
        raise UsageError(
            f"{flag}: no question in {benchmark.data.where} has choices. Use another benchmark."
        )
