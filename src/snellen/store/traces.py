"""Joins a question with the steps that a model took itself before its reply."""

from __future__ import annotations

from itertools import chain, count

from msgspec.structs import replace

from snellen.store.records import Question, ReplyRecord, ToolFields


def with_steps(question: Question, record: ReplyRecord | None) -> Question:
    """The question with the steps of its reply as further messages: the calls of each step, and
    their results. The question of a later step of a run with tools has the same form. An id that
    occurs again is replaced, so that each result belongs to one call. A question whose reply has no
    steps is returned unchanged."""
    if record is None or not record.steps:
        return question
    messages, tools, media = [*question.messages], [*question.tools], [*question.media]
    ids = {"", *(call.id for fields in question.tools for call in fields.calls)}
    for number, step in enumerate(record.steps, start=1):
        before = len(media)
        media += [
            replace(medium, place=medium.place or f"picture of step {number}")
            for medium in step.media
        ]
        calls = []
        for index, call in enumerate((result.call for result in step.results), start=1):
            new_ids = (f"step-{number}-call-{n}" for n in count(index))
            call_id = next(name for name in chain([call.id], new_ids) if name not in ids)
            calls.append(replace(call, id=call_id))
            ids.add(call_id)
        if calls:
            tools.append(ToolFields(message=len(messages), calls=calls))
        messages.append(("assistant", [step.text] if step.text else []))
        for call, result in zip(calls, step.results, strict=True):
            tools.append(ToolFields(message=len(messages), call_id=call.id))
            parts = [part if isinstance(part, str) else before + part for part in result.parts]
            messages.append(("tool", parts))
    own = question.media if question.sample_media is None else question.sample_media
    return replace(question, messages=messages, tools=tools, media=media, sample_media=own)
