"""Tools in the chat templates of transformers models.

Each template is tested. It accepts tools if it renders their declarations and writes a call in the
form that `marked_calls` parses (`<tool_call>` with a JSON object, like the templates of Hermes and
Qwen). If a template does not accept tools, the model gets them as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jinja2
import numpy as np
import orjson

from snellen.core.marked_calls import with_calls
from snellen.core.model import Reply, Request
from snellen.core.tools import ToolSpec, call_arguments, is_malformed
from snellen.media.content import Message, ToolCall
from snellen.models.hf_common import BROKEN
from snellen.models.text_calls import results_as_user, written

Chat = Sequence[Mapping[str, Any]]
Render = Callable[[Chat, Sequence[Mapping[str, Any]]], str]
"""Renders a chat with the declarations of tools."""
PROBE = ToolSpec(
    name="snellen_probe",
    description="A tool with which a template is tried out.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}},
)
CALL = ToolCall(id="call-1", name=PROBE.name, arguments='{"text": "tried"}')
RESULT = "the result\nof the probe"
"""A result with a line break, which a template that does not know the role `tool` would escape."""


@dataclass(frozen=True, kw_only=True)
class ToolTemplate:
    """What a chat template does with tools."""

    takes_tools: bool = False
    """Whether it renders the declarations of tools, and writes calls in a form that can be
    parsed."""
    takes_results: bool = False
    """Whether it renders results of calls as messages of the role `tool`."""
    takes_pictures: bool = False
    """Whether such a message may have pictures."""


def tool_template(render: Render, image_token: str | None) -> ToolTemplate:
    """Test a chat template. `image_token` is the text that stands for a picture in a prompt;
    None if it is not known."""
    question = {"role": "user", "content": [text_part("?")]}
    call = {"role": "assistant", "content": [text_part("")], "tool_calls": [declared_call(CALL)]}
    if not _renders(render, [question], PROBE.description) or not _writes_calls(
        render, [question, call]
    ):
        return ToolTemplate()
    of_call = {"role": "tool", "name": CALL.name, "tool_call_id": CALL.id}
    result = {**of_call, "content": [text_part(RESULT)]}
    if not _renders(render, [question, call, result], RESULT):
        return ToolTemplate(takes_tools=True)
    black = {"type": "image", "image": np.zeros((64, 64, 3), np.uint8)}
    shown = {**of_call, "content": [text_part(RESULT), black]}
    takes_pictures = bool(image_token) and _renders(
        render, [question, call, shown], image_token or ""
    )
    return ToolTemplate(takes_tools=True, takes_results=True, takes_pictures=takes_pictures)


def _rendered(render: Render, chat: Chat) -> str:
    """The rendered chat; empty if the template does not accept it."""
    try:
        text = render(chat, [declaration(PROBE)])
    except (jinja2.TemplateError, *BROKEN):
        return ""
    return text if isinstance(text, str) else ""


def _renders(render: Render, chat: Chat, words: str) -> bool:
    return words in _rendered(render, chat)


def _writes_calls(render: Render, chat: Chat) -> bool:
    """Whether the last call in a rendered chat is parsed as the call of the probe. An example of a
    call in the instructions may precede it."""
    calls = with_calls(Reply(text=_rendered(render, chat))).tool_calls
    if not calls or calls[-1].name != CALL.name or is_malformed(calls[-1]):
        return False
    return call_arguments(calls[-1]) == call_arguments(CALL)


def declaration(spec: ToolSpec) -> dict[str, Any]:
    """The declaration of a tool in the form that chat templates take."""
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": orjson.loads(orjson.dumps(spec.parameters)),
    }
    return {"type": "function", "function": function}


def declared_call(call: ToolCall) -> dict[str, Any]:
    """A call in the form that chat templates take."""
    return {
        "type": "function",
        "function": {"name": call.name, "arguments": call_arguments(call)},
    }


def text_part(text: str) -> dict[str, str]:
    """A text in the form that chat templates take."""
    return {"type": "text", "text": text}


def with_template_messages(request: Request, template: ToolTemplate) -> Request:
    """A request whose messages the template can render: results become user messages if the
    template does not accept them, and a reply with a malformed call becomes the text that the model
    wrote."""
    messages = request.messages
    if not template.takes_results:
        messages = results_as_user(messages)
    return replace(request, messages=tuple(map(_renderable, messages)))


def _renderable(message: Message) -> Message:
    if any(map(is_malformed, message.tool_calls)):
        return Message(message.role, (written(message),))
    return message


def with_template_calls(reply: Reply, request: Request) -> Reply:
    """Move the calls in the text of a reply to `tool_calls`, if the request offers tools."""
    if not request.tools:
        return reply
    return with_calls(reply, sum(len(message.tool_calls) for message in request.messages))
