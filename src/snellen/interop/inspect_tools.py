"""Tool calls in Inspect's logs: in the messages of a sample, and as its tool events.

Source: UKGovernmentBEIS/inspect_ai, version 0.3.285: inspect_ai/event/_tool.py (the fields of
events), inspect_ai/tool/_tool_call.py, and inspect_ai/model/_chat_message.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from snellen.core.tools import MalformedCall, call_arguments
from snellen.interop.exchange import RunSample, text_of
from snellen.media.content import ToolCall
from snellen.store import Question
from snellen.store.records import ToolCallFields


def with_calls(sample: RunSample, messages: list[dict[str, Any]]) -> None:
    """Add the calls and the ids of calls to the messages of a sample."""
    question, last = sample.turns[-1]
    names: dict[str, str] = {}
    for fields in question.tools:
        message = messages[fields.message]
        if fields.calls:
            names = {call.id: call.name for call in fields.calls}
            message["tool_calls"] = [_call(call) for call in fields.calls]
        if fields.call_id is not None:
            message |= {
                "tool_call_id": fields.call_id,
                "function": names.get(fields.call_id, ""),
            }
    if last is not None and last.state != "failed" and last.tool_calls:  # without results
        messages[-1]["tool_calls"] = [_call(call) for call in last.tool_calls]


def tool_events(sample: RunSample, started: str) -> Iterator[dict[str, Any]]:
    """A tool event for each call of a sample that has a result, in order. Pictures in results are
    marks such as `<image: DIGEST>`. The time is that of the turn's last reply; if it has none,
    `started`."""
    for question, record in sample.turns:
        for call, message in _results(question):
            _, parts = question.messages[message]
            written = _call(call)
            yield {
                "event": "tool",
                "type": "function",
                "id": call.id,
                "function": call.name,
                "arguments": written["arguments"],
                "result": text_of(question, parts),
                "timestamp": started if record is None else record.at,
                "working_start": 0.0,
                **(
                    {"error": {"type": "parsing", "message": written["parse_error"]}}
                    if "parse_error" in written
                    else {}
                ),
            }


def _results(question: Question) -> Iterator[tuple[ToolCallFields, int]]:
    """Yield each call that has a result, with the index of the message that contains the result.
    Ids may repeat in later messages, so a result belongs to the latest calls before it."""
    calls: dict[str, ToolCallFields] = {}
    for fields in question.tools:
        if fields.calls:
            calls = {call.id: call for call in fields.calls}
        if fields.call_id is not None and (call := calls.pop(fields.call_id, None)) is not None:
            yield call, fields.message


def _call(call: ToolCallFields) -> dict[str, Any]:
    """A call as Inspect stores it. Arguments that are not a JSON object are in the error."""
    written: dict[str, Any] = {"id": call.id, "function": call.name, "type": "function"}
    try:
        parsed = call_arguments(ToolCall(id=call.id, name=call.name, arguments=call.arguments))
    except MalformedCall as error:
        return {**written, "arguments": {}, "parse_error": f"{error}: {call.arguments}"}
    return {**written, "arguments": parsed}
