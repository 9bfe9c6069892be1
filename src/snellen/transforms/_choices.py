"""What the probes of choices need to know about a question: whether its prompt lists the choices,
which one is right, and whether they can be reordered."""

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
"""How many questions with options have their prompts checked."""
POSITIONAL = re.compile(
    r"\b(?:all|any|both|either|neither|none) of (?:these|those|them|the)\b|\bthe (?:above|below)\b"
    r"|\b(?:both|either|neither|only|options?|choices?) \(?(?-i:[A-H])\b(?! [a-z])"
    r"|\b(?:both|either|neither) \(?(?-i:[A-H])\)? (?:and|or|nor)\b"
    r"|(?-i:^\s*\(?[A-H]\)?(?:\s*(?:,|and|or|&)\s*\(?[A-H]\)?)+\s*$)"
    r"|<image[ _]?>|\.(?:jpe?g|png)\s*$",
    re.IGNORECASE,
)
"""Matches an option whose meaning depends on its position or on other options ("all of the above",
"A and C"), and a mark or file name that stands for a picture."""


def why_not(sample: Sample) -> str | None:
    """Why a question's options cannot be reordered. None if they can."""
    options = sample.choices
    if len(options) < 2:
        return "without options"
    if not all(option.strip() for option in options):
        return "with an empty option"
    if len({option.strip() for option in options}) < len(options):
        return "with two options alike"
    if "".join(options) == ascii_uppercase[: len(options)]:
        return "with letters for options, which the picture explains"
    if any(map(POSITIONAL.search, options)):
        return "with an option that means something by its place (a rule of thumb, by its words)"
    if not sample.hidden and right_index(sample, lettered=True) is None is right_index(
        sample, lettered=False
    ):
        return "with a right answer that is none of the options"
    return None


def questions(n: int) -> str:
    """`1 question`, `24 questions`"""
    return f"{n:,} question{'s' * (n != 1)}"


def left_out(reasons: Counter[str]) -> str:
    """`; left out: 13 without options, 6 with an empty option`, or nothing."""
    counts = ", ".join(f"{n:,} {why}" for why, n in reasons.most_common())
    return f"; left out: {counts}" if counts else ""


def right_index(sample: Sample, *, lettered: bool) -> int | None:
    """The index of the right option, from 0, by its letter or by its text."""
    target = sample.target
    if target is None:
        return None
    if lettered:
        index = ascii_uppercase.find(target) if len(target) == 1 else -1
        return index if 0 <= index < len(sample.choices) else None
    return sample.choices.index(target) if target in sample.choices else None


def by_letters(samples: Iterable[Sample]) -> bool:
    """Whether targets are letters rather than texts. Where both fit, because options are letters
    themselves, the majority decides."""
    by_letter = by_text = 0
    for sample in samples:
        by_letter += right_index(sample, lettered=True) is not None
        by_text += right_index(sample, lettered=False) is not None
    return by_letter >= by_text


def check_listed(benchmark: Benchmark, flag: str) -> None:
    """Check that prompts list the options of the sample: then another order changes the prompt.

    Raises:
        UsageError: the prompts do not list the options, or no question has options.
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
                f"{flag}: the prompt of {benchmark.name} does not list the options of "
                f"{sample.id!r}: they are in the picture, in the question, or implied. Another "
                f"--prompt may list them (`snellen show {benchmark.name}`)."
            )
    if not n_compared:
        raise UsageError(f"{flag}: no question of {benchmark.data.where} has options to choose.")
