"""What probes of options must know of a question: whether its prompt lists them, which of them is
right, and whether it can be asked with them in other places."""

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
"""Questions with options whose prompts are looked at."""
BY_POSITION = re.compile(
    r"\b(?:all|any|both|either|neither|none) of (?:these|those|them|the)\b|\bthe (?:above|below)\b"
    r"|\b(?:both|either|neither|only|options?|choices?) \(?(?-i:[A-H])\b(?! [a-z])"
    r"|\b(?:both|either|neither) \(?(?-i:[A-H])\)? (?:and|or|nor)\b"
    r"|(?-i:^\s*\(?[A-H]\)?(?:\s*(?:,|and|or|&)\s*\(?[A-H]\)?)+\s*$)"
    r"|<image[ _]?>|\.(?:jpe?g|png)\s*$",
    re.IGNORECASE,
)
"""An option that means something by its place, or by that of others: "all of the above", "A and C",
a mark or a file name that stands for a picture."""


def why_not(sample: Sample) -> str | None:
    """Why a question cannot be asked with its options in other places; None where it can."""
    options = sample.choices
    if len(options) < 2:
        return "without options"
    if not all(option.strip() for option in options):
        return "with an empty option"
    if len({option.strip() for option in options}) < len(options):
        return "with two options alike"
    if "".join(options) == ascii_uppercase[: len(options)]:
        return "with letters for options, which the picture explains"
    if any(map(BY_POSITION.search, options)):
        return "with an option that means something by its place (a rule of thumb, by its words)"
    if not sample.hidden and right_position(sample, lettered=True) is None is right_position(
        sample, lettered=False
    ):
        return "with a right answer that is none of the options"
    return None


def questions(n: int) -> str:
    """`1 question`, `24 questions`"""
    return f"{n:,} question{'s' * (n != 1)}"


def left_out(reasons: Counter[str]) -> str:
    """`; left out: 13 without options, 6 with an empty option`, or nothing."""
    listed_reasons = ", ".join(f"{n:,} {why}" for why, n in reasons.most_common())
    return f"; left out: {listed_reasons}" if listed_reasons else ""


def right_position(sample: Sample, *, lettered: bool) -> int | None:
    """The place of the right option, from 0: by its letter, or by its text."""
    target = sample.target
    if target is None:
        return None
    if lettered:
        position = ascii_uppercase.find(target) if len(target) == 1 else -1
        return position if 0 <= position < len(sample.choices) else None
    return sample.choices.index(target) if target in sample.choices else None


def by_letters(samples: Iterable[Sample]) -> bool:
    """Whether what is right is named by its letter, not by its text: so in every question, or, of
    options that are letters themselves, in more of them."""
    by_letter = by_text = 0
    for sample in samples:
        by_letter += right_position(sample, lettered=True) is not None
        by_text += right_position(sample, lettered=False) is not None
    return by_letter >= by_text


def check_listed(benchmark: Benchmark, flag: str) -> None:
    """That prompts list the options of the sample: then they are other words when these stand in
    another order.

    Raises:
        UsageError: they do not, or no question has options.
    """
    samples = map(benchmark.read, benchmark.data)
    checked = 0
    for sample in islice((sample for sample in samples if why_not(sample) is None), LOOKED_AT):
        turned = replace(sample, choices=(*sample.choices[1:], sample.choices[0]))
        try:
            listed = benchmark.messages(sample) != benchmark.messages(turned)
        except MediaError:
            continue  # it is said where it is asked
        checked += 1
        if not listed:
            raise UsageError(
                f"{flag}: the prompt of {benchmark.name} does not list the options of "
                f"{sample.id!r} as they are given to it: they are in the picture, in the question, "
                f"or known without saying. Another --prompt may list them (`snellen show "
                f"{benchmark.name}`)."
            )
    if not checked:
        raise UsageError(f"{flag}: no question of {benchmark.data.where} has options to choose.")
