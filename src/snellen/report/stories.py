"""Explains one sample in plain lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from snellen.core.answer import Answer, answer_words
from snellen.errors import plain
from snellen.scoring import Attempt, Explained, ExplainedCall, Explanation
from snellen.text.amounts import counted

MARGIN = 12
LONGEST = 4_000
"""The maximum number of a text's characters that are shown. The output of `--json` has the full
text."""


def story(explanation: Explanation) -> str:
    """The question, the replies, and the result of each scoring: the answer, the rule that found
    the answer, and the score."""
    return "\n".join(_lines(explanation))


def _lines(explanation: Explanation) -> Iterator[str]:
    again = f", repeat {explanation.repeat + 1}" if explanation.repeat else ""
    yield plain(f"sample {explanation.sample} of {explanation.benchmark}{again}")
    yield from _entry("question", explanation.question)
    for letter, choice in zip(ascii_uppercase, explanation.choices, strict=False):
        yield from _entry(f"choice {letter}", choice)
    right = (
        explanation.target if explanation.target is not None else " | ".join(explanation.references)
    )
    yield from _entry("right", right or "not public")
    yield from _entry(
        "tags", ", ".join(f"{tag}={name}" for tag, name in explanation.tags.items() if name)
    )
    for role, text in explanation.messages:
        yield from _entry(role, text)
    for attempt in explanation.attempts:
        yield from _attempt(attempt)
    if not explanation.attempts:
        yield from _entry("reply", "none")
    for number, call in enumerate(explanation.calls, start=1):
        yield from _entry(f"call {number}", _call(call))
    for reading in explanation.readings:
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


def _call(call: ExplainedCall) -> str:
    """A tool call with the size of its result, such as `zoom {"box": [0, 0, 9, 9]}: 30 characters,
    1 picture`."""
    turn = f"turn {call.turn + 1}, " if call.turn else ""
    if call.characters is None:
        size = "not carried out"
    else:
        size = counted(call.characters, "character", "characters")
        size += f", {counted(call.pictures, 'picture', 'pictures')}" if call.pictures else ""
    return f"({turn}step {call.step + 1}) {call.name} {call.arguments}: {size}"


def _reading(reading: Explained) -> Iterator[str]:
    score = "no score" if reading.score is None else f"score {reading.score:g}"
    answer = "no answer" if reading.answer is None else f"answer {_quoted(reading.answer)}"
    yield from _entry(
        reading.scoring, f"{score}: {reading.state}, {answer}, by the rule {reading.rule!r}"
    )
    if len(reading.candidates) > 1:
        yield from _entry("", f"candidates: {', '.join(map(answer_words, reading.candidates))}")
    for words in reading.verdicts:
        yield from _entry("", f"the judge's verdict: {words}")
    yield from _entry("", reading.source)


def _quoted(answer: Answer) -> str:
    """An answer as text. Strings, numbers, and lists become Python literals; other answers become
    readable text."""
    if isinstance(answer, tuple):
        return repr([*answer])
    return repr(answer) if isinstance(answer, str | float) else answer_words(answer)


def _entry(name: str, text: str) -> Iterator[str]:
    """The lines of an entry, which consists of a label and a text. All lines of the text after the
    first are indented."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"
    for line in shown.splitlines() if text else ():
        yield f"  {plain(name):<{MARGIN - 1}} {plain(line)}".rstrip()
        name = ""
