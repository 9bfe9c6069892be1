"""Lists the tool calls of a question, with the sizes of their results."""

from __future__ import annotations

from itertools import pairwise

import msgspec
from msgspec.structs import replace

from snellen.store import Question, ReplyRecord, with_steps


class ExplainedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of a tool, with the size of its result."""

    turn: int = 0
    """The number of the question's turn, counted from 0."""
    step: int = 0
    """The number of the step within the turn, counted from 0."""
    name: str
    """The name of the tool."""
    arguments: str
    """The arguments as JSON text, exactly as the model wrote them."""
    characters: int | None = None
    """The number of characters in the result's texts; None if the call was not carried out."""
    pictures: int = 0
    """The number of pictures in the result."""


def explained_calls(question: Question, record: ReplyRecord | None) -> list[ExplainedCall]:
    """The calls of a turn, in order. `question` is that of the turn's last step, which contains the
    earlier steps, and `record` is its reply."""
    question = with_steps(question, record)
    calls: list[ExplainedCall] = []
    results: dict[int, list[str | int]] = {}
    pending: dict[str, int] = {}
    step = -1
    for fields in question.tools:
        step += bool(fields.calls)
        for call in fields.calls:
            pending[call.id] = len(calls)
            calls.append(
                ExplainedCall(
                    turn=question.key.turn, step=step, name=call.name, arguments=call.arguments
                )
            )
        # A service may use an id again in a later step.
        if fields.call_id is not None and (index := pending.get(fields.call_id)) is not None:
            parts = question.messages[fields.message][1]
            results[index] = [*parts, *_pictures_after(question, fields.message, parts)]
    for index, parts in results.items():
        calls[index] = replace(
            calls[index],
            characters=sum(len(part) for part in parts if isinstance(part, str)),
            pictures=sum(isinstance(part, int) for part in parts),
        )
    last = [] if record is None else record.tool_calls
    return calls + [
        ExplainedCall(
            turn=question.key.turn, step=step + 1, name=call.name, arguments=call.arguments
        )
        for call in last
    ]


def _pictures_after(question: Question, index: int, parts: list[str | int]) -> list[int]:
    """The pictures of a result that are not in the message with the result. If a service takes no
    pictures in results, they are in the user's next message instead, each after its caption. The
    captions are also in the result."""
    following = next((item for item in question.messages[index + 1 :] if item[0] != "tool"), None)
    if following is None or following[0] != "user":
        return []
    _, shown = following
    return [
        part
        for caption, part in pairwise(shown)
        if isinstance(part, int) and isinstance(caption, str) and caption in parts
    ]
