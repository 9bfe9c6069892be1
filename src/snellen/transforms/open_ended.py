"""Asks questions without their choices: does a model know the answer, or only pick the most likely
choice?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from snellen.answers.reply import final_text
from snellen.benchmarks.families.questions import SHORT, WRONG
from snellen.benchmarks.families.tasks import plain_words
from snellen.core.benchmark import Benchmark, Check, History, vary, with_note
from snellen.core.model import Reply
from snellen.core.prompts import IMAGE_MARK, interleaved
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Filtered, Row
from snellen.errors import UsageError
from snellen.media.content import Image, Message, Part, user
from snellen.metrics import mean
from snellen.scoring import OPTIONS
from snellen.transforms._choices import (
    by_letters,
    check_listed,
    left_out,
    questions,
    right_index,
    why_not,
)

NEEDS_OPTIONS = re.compile(
    r"\b(?:which|what|who|where|one|all|none|any) (?:\w+ ){0,3}?of the following\b"
    r"|\b(?:which|one|all|none|any) of (?:these|those)\b|^which (?:one )?is \w+\W*$"
    r"|\bthe following (?:\w+ ){0,2}?(?:is|are|was|were|best|can|could|would|does|do|has|have|"
    r"options|choices|statements|answers|sentences|words|items)\b"
    r"|\b(?:which|what) (?:option|choice|statement|answer|description|sentence|caption|title)\b"
    r"|\b(?:options?|choices?|alternatives?|answers?) (?:below|above|given|provided|listed)\b"
    r"|\b(?:select|choose|pick) (?:the|one|an?|all|from)\b|(?:以下|下列|下面)",
    re.IGNORECASE,
)
"""Matches, as a rule of thumb, questions that make no sense without their choices."""
MARK = re.compile(r"<image[\s_]*(\d{1,3})?>", re.IGNORECASE)
BY_WORDS = "that ask for one of several things that they do not name (by a rule of thumb)"
AGAIN = "that repeat another question with its choices in another order"


def checked_open_ended(benchmark: Benchmark) -> Benchmark:
    """Apply `open_ended` to a benchmark without the questions that need their choices, and add a
    note about the questions that are left out.

    Raises:
        UsageError: the benchmark asks in several turns, its prompts do not list choices, or all its
            questions need their choices.
    """
    if benchmark.procedure.conversation.turns != 1:
        raise UsageError(
            f"--open-ended works only for questions with a single turn, but {benchmark.name} has "
            "several. Leave out --open-ended."
        )
    check_listed(benchmark, "--open-ended")
    kept: set[int] = set()
    reasons: Counter[str] = Counter()
    seen: set[str] = set()
    for row in benchmark.data:
        sample = benchmark.read(row)
        why = why_not(sample)
        if why is None and benchmark.procedure.together is not None:
            why = AGAIN if (unit := benchmark.procedure.together(sample)) in seen else None
            seen.add(unit)
        why = why or _needs_options(sample)
        if why is None:
            kept.add(row.position)
        else:
            reasons[why] += 1
    if not kept:
        raise UsageError(
            f"--open-ended: no question in {benchmark.data.where} can be asked without choices"
            f"{left_out(reasons)}."
        )
    note = (
        f"open-ended: {questions(len(kept))}, asked without choices and with Snellen's own prompt"
        f"{left_out(reasons)}"
    )
    filtered = vary(benchmark, data=Filtered(benchmark.data, lambda row: row.position in kept))
    return with_note(open_ended(filtered), note)


def _needs_options(sample: Sample) -> str | None:
    """Return why a question needs its choices, or None if it does not."""
    if any(map(IMAGE_MARK.search, sample.choices)):
        return "with pictures as choices"
    if len({plain_words(option) for option in sample.choices}) < len(sample.choices):
        return "with two choices that have the same words"
    question = sample.question.casefold()
    if all(option.casefold() in question for option in sample.choices):
        return "that name their choices themselves"
    if NEEDS_OPTIONS.search(question):
        return BY_WORDS
    return None


def open_ended(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark without the choices of its questions, and with a scoring for open-ended
    answers."""
    lettered: bool | None = None

    def sample_of(row_index: int, row: Row) -> Sample:
        nonlocal lettered
        if lettered is None:
            lettered = by_letters(map(benchmark.read, benchmark.data))
        sample = benchmark.sample(row_index, row)
        right = right_index(sample, lettered=lettered)
        return replace(
            sample,
            choices=(),
            target=None if right is None else sample.choices[right],
            references=(),
            data={**sample.data, OPTIONS: [*sample.choices]},
        )

    return vary(
        benchmark,
        sample=sample_of,
        prompt=lambda sample, history: _prompt(benchmark, sample, history),
        scorings={
            "open-ended": Scoring(
                version=2, source="ours", parse=_parse, score=_score, metrics={"accuracy": mean}
            )
        },
        together=None,
        ladders={},
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: WRONG,
            expect={"open-ended": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}},
        ),
        submission=None,
        layout=None,
        results=None,
        probe={"open_ended": True},
    )


def _prompt(benchmark: Benchmark, sample: Sample, history: History) -> tuple[Message, ...]:
    """Return the message with the hint and the question. Pictures with a mark in the text are at
    their mark, and other pictures are before the text."""
    # If the sample has no media, the benchmark's own prompt may draw some.
    messages = () if sample.media else benchmark.messages(sample, history)
    media = sample.media or [p for m in messages for p in m.content if not isinstance(p, str)]
    hint, question = sample.data.get("hint"), SHORT.format(question=sample.question)
    pictures = [medium for medium in media if isinstance(medium, Image)]
    in_order = iter(range(1, len(pictures) + 1))
    placed = set()

    def picture(number: str | None) -> Part:
        index = next(in_order, 0) if number is None else int(number)
        if not 1 <= index <= len(pictures):  # there is no such picture, so the mark stays as text
            return "<image>" if number is None else f"<image {number}>"
        placed.add(id(pictures[index - 1]))
        return pictures[index - 1]

    parts = interleaved(f"{hint}\n{question}" if hint else question, MARK, picture)
    first = (medium for medium in media if id(medium) not in placed)
    return (user(*first, *(part for part in parts if part)),)


def _parse(reply: Reply, sample: Sample) -> Reading:
    """Return the choice that has the same plain words as the full reply, or the reply itself if
    there is no such choice."""
    text = plain_words(final_text(reply.text))
    if not text:
        return Reading(answer=None, rule="nothing said")
    options = sample.data[OPTIONS]
    assert isinstance(options, list)
    alike = tuple(option for option in options if plain_words(option) == text)
    if alike:
        return Reading(answer=alike[0], rule="an option", candidates=alike)
    return Reading(answer=text, rule="no option")


def _score(reading: Reading, sample: Sample) -> float:
    answer, target = reading.answer, sample.target
    alike = (
        isinstance(answer, str)
        and target is not None
        and plain_words(answer) == plain_words(target)
    )
    return float(alike)
