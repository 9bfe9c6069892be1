"""One sample's whole story, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from snellen.analysis.result import plain
from snellen.core.answer import Answer, answer_words
from snellen.scoring import Attempt, Explained, Explanation

MARGIN = 12
LONGEST = 4_000
"""Characters of a reply that are shown; `--json` has all of it."""


def story(told: Explanation) -> str:
    """What was asked, what came, and what each scoring finds in it, by which rule."""
    return "\n".join(_lines(told))


def _lines(told: Explanation) -> Iterator[str]:
    again = f", repeat {told.repeat + 1}" if told.repeat else ""
    yield plain(f"sample {told.sample} of {told.benchmark}{again}")
    yield from _entry("question", told.question)
    for letter, choice in zip(ascii_uppercase, told.choices, strict=False):
        yield from _entry(f"choice {letter}", choice)
    right = told.target if told.target is not None else " | ".join(told.references)
    yield from _entry("right", right or "not known here")
    yield from _entry("tags", ", ".join(f"{tag}={name}" for tag, name in told.tags.items() if name))
    for role, text in told.messages:
        yield from _entry(role, text)
    for attempt in told.attempts:
        yield from _attempt(attempt)
    if not told.attempts:
        yield from _entry("reply", "none")
    for reading in told.readings:
        yield from _reading(reading)


def _attempt(attempt: Attempt) -> Iterator[str]:
    turn = f" to turn {attempt.turn + 1}" if attempt.turn else ""
    turn += f", step {attempt.step + 1}" if attempt.step else ""
    number = f", attempt {attempt.attempt}" if attempt.attempt > 1 else ""
    if attempt.error is not None:
        yield from _entry("failed", f"{attempt.error}{turn}{number}")
        return
    if attempt.reasoning:
        yield from _entry("thought", attempt.reasoning)
    yield from _entry("reply", f"({attempt.state}{turn}{number}) {attempt.reply}")


def _reading(reading: Explained) -> Iterator[str]:
    worth = "no score" if reading.score is None else f"score {reading.score:g}"
    answer = "no answer" if reading.answer is None else f"answer {_quoted(reading.answer)}"
    yield from _entry(
        reading.scoring, f"{worth}: {reading.state}, {answer}, by the rule {reading.rule!r}"
    )
    if len(reading.candidates) > 1:
        yield from _entry(
            "", f"it could have been {', '.join(map(answer_words, reading.candidates))}"
        )
    for words in reading.verdicts:
        yield from _entry("", f"a judge said: {words}")
    yield from _entry("", reading.source)


def _quoted(answer: Answer) -> str:
    """Plain answers as Python writes them, other kinds in words."""
    if isinstance(answer, tuple):
        return repr([*answer])
    return repr(answer) if isinstance(answer, str | float) else answer_words(answer)


def _entry(name: str, text: str) -> Iterator[str]:
    """A heading and text beside it; further lines of the text stand under its first."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"
    for line in shown.splitlines() if text else ():
        yield f"  {plain(name):<{MARGIN - 1}} {plain(line)}".rstrip()
        name = ""
