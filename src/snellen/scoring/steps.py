"""Reads the steps of turns that were answered with tools, or by a model that calls tools itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from snellen.core.marked_calls import with_calls
from snellen.core.tools import is_malformed, is_refusal
from snellen.media.content import ToolCall
from snellen.store import Ending, Key, Question, ReplyRecord, Run

T = TypeVar("T", int, float)


class StepFacts(NamedTuple):
    """How a question was answered with tools. The steps of all its turns are counted."""

    ended: Ending | None
    """How its last turn ended; None if the model called tools itself, so that this is not known."""
    steps: int
    """The number of steps, including the reply."""
    calls: int
    """The number of calls in the steps."""
    malformed: int
    """How many of the calls were malformed."""
    refused: int
    """How many of the calls were refused, so that the model got an error instead of a result."""
    unmade: int
    """How many of the calls were not carried out, since the question had ended by a limit."""
    has_text_call: bool
    """Whether a reply that ended a turn as an answer contains a call as text."""
    output_tokens: int | None
    """The output tokens of all steps; None if the server did not report them for each reply."""
    seconds: float | None
    """The time of all requests, in seconds; None if it was not measured for each request."""


def has_tools(run: Run) -> bool:
    """Whether the questions of a run were asked with tools."""
    return "tools" in run.manifest().get("identity", {})


def step_records(run: Run, last_steps: Iterable[Key]) -> list[ReplyRecord] | None:
    """The records of all steps of a question, from the keys of the last step of each of its turns.
    None if a turn goes on."""
    records: list[ReplyRecord] = []
    for last in last_steps:
        steps = (Key(last.sample, last.repeat, last.turn, step) for step in range(last.step + 1))
        records += filter(None, map(run.final, steps))
        if not records or records[-1].key != last or records[-1].ended is None:
            return None
    return records


def step_facts(
    records: Sequence[ReplyRecord], last_questions: Sequence[Question] = ()
) -> StepFacts:
    """The facts on a question from the records of its replies, and from the steps that its model
    took itself before these replies. `last_questions` are the questions of the last step of each
    turn, whose messages have the results of all calls that Snellen carried out."""
    calls: list[ToolCall] = []
    results: list[Sequence[object]] = [
        parts for question in last_questions for role, parts in question.messages if role == "tool"
    ]
    unmade = 0
    for record in records:
        reply = record.as_reply()
        own_results = [result for step in reply.steps or () for result in step.results]
        calls += [*(result.call for result in own_results), *reply.tool_calls]
        results += [result.parts for result in own_results]
        unmade += len(reply.tool_calls) if record.ended is not None else 0
    return StepFacts(
        ended=records[-1].ended,
        steps=sum(1 + len(record.steps or ()) for record in records),
        calls=len(calls),
        malformed=sum(map(is_malformed, calls)),
        refused=sum(map(is_refusal, results)),
        unmade=unmade,
        has_text_call=any(
            record.ended == "answered" and with_calls(record.as_reply()).tool_calls
            for record in records
        ),
        output_tokens=_sum([None if r.usage is None else r.usage.output for r in records]),
        seconds=_sum([None if r.times is None else r.times.total for r in records]),
    )


def _sum(values: Sequence[T | None]) -> T | None:
    """The sum; None if a value is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
