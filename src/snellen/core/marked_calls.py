"""Parses tool calls that a model wrote as text.

A call in a reply is either of:

    <tool_call>{"name": "zoom", "arguments": {"box": [0, 0, 500, 500]}}</tool_call>

    ```tool_call
    {"name": "zoom", "arguments": {"box": [0, 0, 500, 500]}}
    ```

A reply may have several calls, before, after, and between other text. Nothing else counts as a
call, in particular no JSON without such a mark. A marked text that is not a JSON object with a name
and arguments is a malformed call, and a mark without an end is one, too. Calls in the thoughts of a
reply do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from snellen.core.model import Reply
from snellen.media.content import ToolCall

MARKED = re.compile(
    r"<tool_call>(?P<tag>.*?)(?:</tool_call>|(?=<tool_call>)|\Z)"
    r"|^```tool_call[ \t]*\n(?P<fence>.*?)(?:^```[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
THOUGHTS_END = "</think>"


def with_calls(reply: Reply, earlier: int = 0) -> Reply:
    """Move the calls in the text of a reply to `tool_calls`. The text as the model wrote it is kept
    in `continuation`, to be sent back. `earlier` is the number of earlier calls in the
    conversation, which the ids of the calls continue."""
    start = reply.text.rfind(THOUGHTS_END)
    start = 0 if start < 0 else start + len(THOUGHTS_END)
    answer = reply.text[start:]
    marks = [*MARKED.finditer(answer)]
    if not marks:
        return reply
    rest = (answer[before:after].strip() for before, after in _gaps(marks, len(answer)))
    text = "\n".join(filter(None, rest))
    return replace(
        reply,
        text=(reply.text[:start] + text).strip(),
        tool_calls=tuple(
            _call(mark["tag"] if mark["fence"] is None else mark["fence"], f"call-{number}")
            for number, mark in enumerate(marks, start=earlier + 1)
        ),
        continuation=orjson.dumps(_utf8(reply.text).decode()).decode(),
    )


def _gaps(marks: Sequence[re.Match[str]], end: int) -> Iterator[tuple[int, int]]:
    """The start and end of each text between marks."""
    before = 0
    for mark in marks:
        yield before, mark.start()
        before = mark.end()
    yield before, end


def _call(written: str, call_id: str) -> ToolCall:
    """Parse a marked text. If it is malformed, the call has no name, and the text is its
    arguments."""
    malformed = ToolCall(id=call_id, name="", arguments=written.strip())
    try:
        content: Any = orjson.loads(_utf8(written))
    except orjson.JSONDecodeError:
        return malformed
    if not isinstance(content, dict) or not content.keys() <= {"name", "arguments"}:
        return malformed
    name, arguments = content.get("name"), content.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return malformed
    return ToolCall(id=call_id, name=name, arguments=orjson.dumps(arguments).decode())


def _utf8(text: str) -> bytes:
    """Encode text. Half of a surrogate pair becomes `?`."""
    return text.encode(errors="replace")
