"""Anthropic's Messages API, and other servers that implement this API.

The model accepts text and images (JPEG, PNG, WebP, GIF) in any order, and several turns. A system
message must come first. Images are sent in base64 at their position in the message, with their
bytes unchanged. A video is sent as one image per frame. The seed is not sent, because the API has
no field for it.

Tools are sent, and the result of a call may have pictures. Thinking is sent back, with its
signature, with the calls that follow it.

The service has its own limits, which are described on the pages "Vision" and "Errors" of its
documentation. A request can be up to 32 MB in size, and can contain up to 100 or 600 images,
depending on the model. An image can have up to 8,000 pixels per side, or up to 2,000 if there are
more than 20 images. Set limits on images in a profile's `[images]`.

A profile's `extra` is merged into the request and overrides Snellen's own fields. If a field in
`extra` is None, it is not sent. Example: `thinking = { type = "enabled", budget_tokens = 8000 }`.
With this example, the profile's `token_floor` must be above 8000.

Sources of fields and errors: anthropics/anthropic-sdk-python@009b035: src/anthropic/types
(message_create_params.py, message.py, usage.py, raw_message_stream_event.py), _exceptions.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snellen.core.model import Reply, Request, Usage
from snellen.core.profile import Profile
from snellen.core.tools import ToolSpec
from snellen.errors import Overloaded, Rejected
from snellen.media.content import Image, Message, ToolCall
from snellen.models.parts import parts_of
from snellen.models.service import (
    Encoded,
    OnServer,
    are_parts,
    are_texts,
    body_of,
    count,
    encoded,
    is_optional,
    objects,
    service,
    string,
    system_apart,
    times,
    total,
    words_of,
)
from snellen.models.tool_calls import (
    continuation,
    continued,
    sent_arguments,
    sent_name,
    tool_call,
)
from snellen.transport import Response

PATH = "messages"
VERSION = {"anthropic-version": "2023-06-01"}
MOST_TOKENS = 4096
"""The default token limit of a reply. The service requires a limit."""
STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "filter"}
SILENT = {"text", "thinking", "redacted_thinking"}
"""Types of blocks that contain text or nothing."""
SHOWN = ("text", "thinking")
PIECES = (*SHOWN, "signature", "partial_json")
"""Fields of blocks, and of the pieces of a streamed block. `partial_json` is a piece of the
arguments of a tool call."""
STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status to assume for an error that arrives in a stream, by the error's type."""
UNPAID = "credit balance is too low"


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Anthropic:
    """Open the model `name` on the profile's server."""
    return Anthropic(
        service(
            name,
            profile=profile,
            api_key=api_key,
            path=PATH,
            variable="ANTHROPIC_API_KEY",
            key_header="x-api-key",
            headers=VERSION,
        )
    )


class Anthropic(OnServer):
    """A model behind the Messages API."""

    what = "a message"
    calls = "tool_use"
    takes_pictures_in_results = True

    # -- there

    def _body(self, request: Request) -> bytes:
        generation = request.generation
        system, turns = system_apart(request.messages)
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": generation.max_tokens or MOST_TOKENS,
            "system": system,
            "messages": _messages(turns),
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "stop_sequences": list(request.stop) or None,
            "tools": [_tool(tool) for tool in request.tools] or None,
            "stream": self._there.stream or None,
        }
        return body_of({**body, **generation.extra})

    # -- and back

    def _error(
        self, status: int, error: Mapping[str, Any], response: Response
    ) -> Overloaded | Rejected:
        words = words_of(error, response.body)
        return self._there.error(
            status,
            words,
            wait=response.retry_after,
            is_unpaid=status == 400 and UNPAID in words,
            is_hopeless=status == 403,
        )

    def _streamed(self, response: Response) -> Reply:
        """Assemble the reply from a stream of events. The stream is complete only if it contains
        `message_stop`."""
        starts: dict[int, dict[str, Any]] = {}
        pieces_of: dict[tuple[int, str], list[str]] = defaultdict(list)
        usage: dict[str, Any] = {}
        stop = first = None
        for event in response.events:
            fields = self._there.json(event.data, "an event of a message")
            kind = fields.get("type")
            if kind == "error":
                error = next(iter(objects([fields.get("error")])), {})
                status = STATUS.get(string(error.get("type")) or "", 500)
                raise self._error(status, error, response)
            if kind == "message_stop":
                break
            if kind == "message_start":
                usage |= _counted(next(iter(objects([fields.get("message")])), {}))
            if kind == "message_delta":
                usage |= _counted(fields)
            name = "content_block" if kind == "content_block_start" else "delta"
            delta = fields.get(name)
            if delta is None and kind != "content_block_delta":
                continue
            if not isinstance(delta, dict) or not _is_delta(delta):
                raise self._there.unreadable("not an event of a message", event.data)
            stop = delta.get("stop_reason") or stop
            index = count(fields, "index") or 0
            if kind == "content_block_start":
                starts[index] = delta
            for name in PIECES:
                if piece := string(delta.get(name)):
                    pieces_of[index, name].append(piece)
                    if first is None and name in SHOWN:
                        first = event.at
        else:
            raise self._there.cut()
        message = {
            "content": [*_blocks(starts, pieces_of)],
            "stop_reason": stop,
            "usage": usage or None,
        }
        return self._reply(message, response, first)

    def _reply(
        self, body: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        content = body.get("content")
        if content is None or not are_parts(content) or not are_texts(content, "text"):
            raise self._there.unreadable("not a message", response.body)
        stop = string(body.get("stop_reason"))
        text = "".join(_of_kind("text", body))
        if not (text or stop):
            raise self._there.unreadable("not a whole message", response.body)
        calls = tuple(
            tool_call(number, block.get("id"), block.get("name"), block.get("input"))
            for number, block in enumerate(_uses(content))
        )
        if not (text or calls) and (others := {block["type"] for block in content} - SILENT):
            raise self._there.without_text(others)
        return Reply(
            text=text,
            reasoning="\n".join(_of_kind("thinking", body)) or None,
            stop=STOPS.get(stop, stop) if stop else None,
            usage=_usage(body.get("usage")),
            times=times(response, first),
            tool_calls=calls,
            continuation=continuation(_returned(content, calls)) if _is_signed(content) else None,
        )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _messages(turns: Sequence[Message]) -> list[dict[str, Any]]:
    """Convert the turns. The results of the calls in one message become one user message."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if turn.role != "tool":
            messages.append({"role": turn.role, "content": _content(turn)})
            continue
        result = {
            "type": "tool_result",
            "tool_use_id": turn.call_id,
            "content": _content(turn),
        }
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"].append(result)
        else:
            messages.append({"role": "user", "content": [result]})
    return messages


def _content(message: Message) -> list[dict[str, Any]]:
    """Return the content blocks of a turn. Text that contains only white space is omitted, since
    the service rejects it."""
    if message.continuation is not None:
        return list(continued(message))
    blocks = parts_of(message, lambda text: {"type": "text", "text": text}, _image)
    blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    return [*blocks, *map(_use, message.tool_calls)]


def _use(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call.id,
        "name": sent_name(call),
        "input": sent_arguments(call),
    }


def _uses(content: object) -> list[dict[str, Any]]:
    """Return the blocks of a message that call a tool."""
    return [block for block in objects(content) if block.get("type") == "tool_use"]


def _is_signed(content: object) -> bool:
    """Return whether a message calls tools after thinking, which must then be sent back."""
    thinking = ("thinking", "redacted_thinking")
    return bool(_uses(content)) and any(block["type"] in thinking for block in objects(content))


def _returned(content: object, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Return the blocks of a message as they are sent back."""
    numbered = iter(calls)
    return [
        _use(next(numbered)) if block["type"] == "tool_use" else block
        for block in objects(content)
        if block["type"] != "text" or block["text"].strip()
    ]


def _blocks(
    starts: Mapping[int, Mapping[str, Any]], pieces_of: Mapping[tuple[int, str], list[str]]
) -> Iterator[dict[str, Any]]:
    """Assemble the blocks of a stream from their starts and their pieces."""
    pieces = {key: "".join(texts) for key, texts in pieces_of.items()}
    for index in sorted({*starts, *(index for index, _ in pieces)}):
        start = starts.get(index, {})
        if start.get("type") == "tool_use":
            yield {**start, "input": pieces.get((index, "partial_json"), start.get("input"))}
        elif start and start.get("type") not in SHOWN:
            yield {**start, "type": str(start.get("type"))}
        signature = pieces.get((index, "signature"))
        for name in SHOWN:
            if text := pieces.get((index, name)):
                signed = {"signature": signature} if name == "thinking" and signature else {}
                yield {"type": name, name: text, **signed}


def _image(image: Image) -> dict[str, Any]:
    mime, data = encoded(image)
    source = {"type": "base64", "media_type": mime, "data": Encoded((data,))}
    return {"type": "image", "source": source}


def _of_kind(name: str, message: Mapping[str, Any]) -> list[str]:
    """Return the texts of all blocks of one type."""
    blocks = [block for block in objects(message["content"]) if block.get("type") == name]
    return [text for block in blocks if (text := string(block.get(name)))]


def _is_delta(delta: Mapping[str, Any]) -> bool:
    return is_optional(delta.get("text"), str) and are_texts([delta], "text_delta")


def _counted(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the token counts in an event. The counts are cumulative."""
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return {}
    return {name: value for name, value in usage.items() if value is not None}


def _usage(usage: object) -> Usage | None:
    """Return the token counts. The service reports the tokens that it reads from its cache or
    writes to its cache separately. The returned number of input tokens includes these tokens."""
    if not isinstance(usage, dict):
        return None
    cached = count(usage, "cache_read_input_tokens")
    written = count(usage, "cache_creation_input_tokens")
    return Usage(
        input=total(count(usage, "input_tokens"), cached, written),
        output=count(usage, "output_tokens"),
        reasoning=count(usage.get("output_tokens_details"), "thinking_tokens"),
        cached=cached,
    )
