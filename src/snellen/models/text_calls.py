"""Wraps models without native tool calls. Calls are written as text, in a form that the prompt
describes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from snellen.core.marked_calls import with_calls
from snellen.core.model import Generates, Model, Reply, Request
from snellen.core.tools import ToolSpec
from snellen.errors import UsageError
from snellen.media.content import Message, assistant, user
from snellen.models.traits import copy_traits

INSTRUCTIONS = """\
You can call tools before you answer. Each line describes a tool, with the JSON schema of its \
arguments:

{tools}

To call a tool, write the call as JSON in this form:

<tool_call>{{"name": "NAME", "arguments": {{...}}}}</tool_call>

You may make several calls at once. Then stop, and wait for the results. When you need no further \
call, answer without one."""


def with_text_calls(model: Model) -> TextCalls:
    """Wrap a model so that it gets tools as text.

    Raises:
        UsageError: the model does not generate text.
    """
    if not isinstance(model, Generates):
        raise UsageError(f"{model.name} does not generate text, so it cannot call tools.")
    return TextCalls(model)


class TextCalls:
    """A model that gets tools, calls, and results as text."""

    def __init__(self, model: Generates) -> None:
        copy_traits(model, self)
        self.name = model.name
        self.takes_tools = True
        self.takes_pictures_in_results = True
        self._model = model
        if expect := getattr(model, "expect", None):
            self.expect = expect

    async def generate(self, request: Request) -> Reply:
        reply = await self._model.generate(in_text(request))
        if not request.tools or not isinstance(reply, Reply) or not isinstance(reply.text, str):
            return reply  # the caller checks the types
        earlier = sum(len(message.tool_calls) for message in request.messages)
        return with_calls(reply, earlier)

    async def close(self) -> None:
        if close := getattr(self._model, "close", None):
            await close()


def instructions(tools: Sequence[ToolSpec]) -> str:
    """The text that describes the tools, and the form of calls."""
    lines = (
        orjson.dumps(
            {"name": tool.name, "description": tool.description, "arguments": tool.parameters}
        ).decode()
        for tool in tools
    )
    return INSTRUCTIONS.format(tools="\n".join(lines))


def in_text(request: Request) -> Request:
    """Replace the tools of a request, and the calls and results in its messages, by text.

    The instructions precede the first user message. Results become a user message.
    """
    messages: list[Message] = []
    must_instruct = bool(request.tools)
    for message in results_as_user(request.messages):
        if message.role == "assistant" and message.tool_calls:
            messages.append(assistant(written(message)))
        elif message.role == "user" and must_instruct:
            must_instruct = False
            messages.append(user(instructions(request.tools), *message.content))
        else:
            messages.append(message)
    return replace(request, messages=tuple(messages), tools=())


def results_as_user(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Turn results of calls into user messages, and join consecutive user messages."""
    joined: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        content = message.content
        names |= {call.id: call.name for call in message.tool_calls}
        if message.role == "tool":
            content = (f"Result of {names.get(message.call_id or '', 'the call')}:", *content)
        elif message.role != "user":
            joined.append(message)
            continue
        if joined and joined[-1].role == "user":
            joined[-1] = user(*joined[-1].content, *content)
        else:
            joined.append(user(*content))
    return tuple(joined)


def written(message: Message) -> str:
    """The text of a reply with calls, as the model wrote it."""
    if message.continuation is not None:
        return str(orjson.loads(message.continuation))
    calls = (
        f'<tool_call>{{"name": {orjson.dumps(call.name).decode()}, "arguments": {call.arguments}}}'
        "</tool_call>"
        for call in message.tool_calls
    )
    return "\n".join([*filter(None, [message.text]), *calls])
