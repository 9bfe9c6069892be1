"""Tool calls as services write them, and as they are sent back to services."""

from __future__ import annotations

import re
from typing import Any

import orjson

from snellen.core.tools import MalformedCall, call_arguments
from snellen.media.content import Message, ToolCall
from snellen.models.service import string

MALFORMED = "malformed_arguments"
"""The name under which arguments that are not a JSON object are sent back. Services accept only
objects."""
NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 64


def tool_call(number: int, call_id: object, name: object, arguments: object) -> ToolCall:
    """Create the call that a service returned as call `number` of a reply, from 0. A call without
    an id gets the id `call-NUMBER`. Arguments that are a JSON value become JSON text."""
    if arguments is None:
        text = ""
    else:
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    return ToolCall(id=string(call_id) or f"call-{number}", name=string(name) or "", arguments=text)


def sent_name(call: ToolCall) -> str:
    """Return a call's name as it is sent back. Services reject a conversation if a name contains
    other characters than letters, digits, `_`, and `-`, even if the model wrote the name."""
    return NOT_IN_NAMES.sub("_", call.name)[:LONGEST_NAME] or "unknown"


def sent_arguments(call: ToolCall) -> dict[str, object]:
    """Return a call's arguments as they are sent back, which must be a JSON object."""
    try:
        return call_arguments(call)
    except MalformedCall:
        return {MALFORMED: call.arguments.encode(errors="replace").decode()}


def sent_text(call: ToolCall) -> str:
    """Return a call's arguments as they are sent back, as text. The text of the model is unchanged
    if it is a JSON object."""
    arguments = sent_arguments(call)
    return orjson.dumps(arguments).decode() if MALFORMED in arguments else call.arguments or "{}"


def continuation(value: object) -> str:
    """Return the JSON text of what a service needs back, for `Reply.continuation`."""
    return orjson.dumps(value).decode()


def continued(message: Message) -> Any:
    """Return what a service needs back with an assistant message; None if there is nothing."""
    return None if message.continuation is None else orjson.loads(message.continuation)
