"""Servers with OpenAI's chat completions API, such as vLLM, SGLang, `transformers serve`, and
online services.

The model accepts text and images in any order, a system message, and several turns. Images (JPEG,
PNG, WebP, GIF) are sent as `data:` URLs at their position in the message, with their bytes
unchanged. A video is sent as one image per frame. Tools are sent as functions. A server such as
vLLM or SGLang must be started with the model's parser of tool calls. The result of a call is text.
Reasoning is sent back with the calls that follow it, under the name that the server used.

With `native_video = true` in the profile's `extra`, the whole video file is sent instead, as a part
`video_url` with a `data:` URL, which vLLM and SGLang accept. Snellen then decodes no frames. The
server picks the frames by its own settings, such as vLLM's `media_io_kwargs` and
`mm_processor_kwargs`, which belong into `extra` too. Questions about parts of videos are rejected.

A profile's `extra` is merged into the request and overrides Snellen's own fields. If a field in
`extra` is None, it is not sent. `max_completion_tokens` in `extra` replaces `max_tokens`, since
servers reject requests that contain both fields. Azure expects the key in the header `api-key`
(openai/openai-python@e43b422: src/openai/lib/azure.py), so set the profile's `key_header` to
`api-key`. On Azure, the base URL may be the address of a deployment with a query string, or an
address that ends in /openai/v1.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.core.tools import ToolSpec
from snellen.media.content import ToolCall
from snellen.models import video_file
from snellen.models._openai import (
    OpenAIService,
    chat_message,
    data_url,
    opened,
    status_of,
    usage_of,
)
from snellen.models.service import (
    Service,
    are_objects,
    are_parts,
    are_texts,
    body_of,
    is_optional,
    objects,
    string,
    times,
)
from snellen.models.tool_calls import continuation, tool_call
from snellen.models.video_file import OPTION, sends_files
from snellen.transport import Response

PATH = "chat/completions"
OFFICIAL = "https://api.openai.com"
STOPS = {"content_filter": "filter", "model_length": "length"}
"""Stop reasons that Snellen renames. `model_length` is Mistral's name for a full context."""
CALLS = {"tool_calls", "function_call"}
"""Names of fields that contain tool calls, and finish reasons of replies with tool calls."""
REASONING = ("reasoning_content", "reasoning")
"""Names of fields that contain reasoning."""
OF_FILES = "videos were sent as files, so the server chose the frames, not the frame policy"
SILENT = {"text", "thinking", "reasoning", "refusal"}
"""Types of message parts that contain text or nothing."""
BROKEN_OFF = ("abort", "error", "insufficient_system_resource")
"""Finish reasons that mean that the server interrupted the reply. vLLM, SGLang, OpenRouter, and
DeepSeek use these reasons (see their pages on errors or on chat completions)."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> OpenAI:
    """Open the model `name` on the profile's server.

    Raises:
        UsageError: `native_video` in the profile's `extra` is neither true nor false.
    """
    native_video = sends_files(f"openai/{name}", profile)
    there = opened(name, profile=profile, api_key=api_key, path=PATH)
    return OpenAI(there, native_video=native_video)


class OpenAI(OpenAIService):
    """A model behind the chat completions API."""

    what = "a chat completion"
    calls = "tool_calls"

    def __init__(self, there: Service, *, native_video: bool = False) -> None:
        super().__init__(there)
        self.wants_frames = not native_video
        if native_video:
            self.notes = (OF_FILES,)
        # The newer models of the official service reject the old name of this field. Most other
        # servers reject the new name.
        official = there.transport.where.startswith(OFFICIAL)
        self._most_tokens = "max_completion_tokens" if official else "max_tokens"

    # -- there

    async def _encoded(self, request: Request) -> bytes:
        if self.wants_frames:
            return self._body(request)
        # Reading and encoding large files must not block other requests.
        return await asyncio.to_thread(self._body, request)

    def _body(self, request: Request) -> bytes:
        generation = request.generation
        video_url = None if self.wants_frames else video_file.data_url
        extra = {name: value for name, value in generation.extra.items() if name != OPTION}
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                chat_message(message, data_url, video_url) for message in request.messages
            ],
            self._most_tokens: generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "tools": [_function(tool) for tool in request.tools] or None,
        }
        if self._there.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if "max_completion_tokens" in extra:
            body.pop("max_tokens", None)
        return body_of({**body, **extra})

    # -- and back

    def _in_a_reply(self, error: object, response: Response) -> Reply:
        """Handle an error in a reply of status 200: return a reply, or raise an exception."""
        fields = error if isinstance(error, dict) else {"message": error}
        return self._withheld(status_of(fields), fields, response)

    def _streamed(self, response: Response) -> Reply:
        """Assemble the reply from a stream of chunks. The stream is complete only if it contains a
        finish reason or the end mark."""
        pieces_of: dict[str, list[str]] = defaultdict(list)
        calls = _StreamedCalls()
        stop = usage = first = None
        others: set[str] = set()
        is_complete = False
        for event in response.events:
            if event.data == b"[DONE]":
                is_complete = True
                break
            chunk = self._there.json(event.data, "a chunk of a chat completion")
            if error := chunk.get("error"):
                return self._in_a_reply(error, response)
            usage = chunk.get("usage") or usage
            choices = chunk.get("choices")
            if not are_objects(choices):
                raise self._there.unreadable("not a chunk of a chat completion", event.data)
            for choice in objects(choices)[:1]:
                stop = choice.get("finish_reason") or stop
                delta = {} if choice.get("delta") is None else choice["delta"]
                if not isinstance(delta, dict) or not _is_message(delta):
                    raise self._there.unreadable("not a chunk of a chat completion", event.data)
                others |= _others(delta)
                calls.add(objects(delta.get("tool_calls")))
                for name in ("content", "reasoning_content", "reasoning", "refusal"):
                    if piece := _text(delta.get(name)):
                        pieces_of[name].append(piece)
                        first = event.at if first is None else first
        if not is_complete and stop is None:
            raise self._there.cut()
        message: dict[str, Any] = {name: "".join(pieces) for name, pieces in pieces_of.items()}
        if others:
            message["content"] = [
                {"type": "text", "text": message.get("content", "")},
                *({"type": kind} for kind in others),
            ]
        if calls.calls:
            message["tool_calls"] = calls.calls
        body = {"choices": [{"message": message, "finish_reason": stop}], "usage": usage}
        return self._reply(body, response, first)

    def _reply(
        self, body: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        if error := body.get("error"):
            return self._in_a_reply(error, response)
        choice = next(iter(objects(body.get("choices"))), {})
        message = choice.get("message")
        if not isinstance(message, dict) or not _is_message(message):
            raise self._there.unreadable("not a chat completion", response.body)
        text = _text(message.get("content"))
        stop = string(choice.get("finish_reason"))
        if not (text or stop or message.get("refusal")):
            raise self._there.unreadable("not a whole chat completion", response.body)
        if stop in BROKEN_OFF:
            error = choice.get("error") or f"it broke the reply off ({stop})"
            return self._in_a_reply(error, response)
        if message.get("refusal") and not text:
            stop = "filter"
        calls = _calls(message)
        if not (text or calls or stop == "filter"):
            others = _others(message) | {call for call in CALLS if call == stop}
            if others:
                raise self._there.without_text(others)
        thoughts = {name: value for name in REASONING if (value := string(message.get(name)))}
        return Reply(
            text=text,
            reasoning=next(iter(thoughts.values()), None),
            stop=STOPS.get(stop, stop) if stop else None,
            usage=usage_of(body.get("usage"), "prompt", "completion"),
            times=times(response, first),
            tool_calls=calls,
            continuation=continuation(thoughts) if calls and thoughts else None,
        )


class _StreamedCalls:
    """The tool calls of a streamed reply, which arrive in pieces."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._by_index: dict[int, dict[str, Any]] = {}

    def add(self, pieces: list[dict[str, Any]]) -> None:
        """Add the pieces of a chunk. A piece without an index belongs to the last call, unless it
        has an id."""
        for piece in pieces:
            index = piece.get("index")
            if isinstance(index, int):
                call = self._by_index.get(index)
            else:
                call = self.calls[-1] if self.calls and not piece.get("id") else None
            if call is None:
                call = {"id": None, "function": {"name": None, "arguments": ""}}
                self.calls.append(call)
                if isinstance(index, int):
                    self._by_index[index] = call
            function = next(iter(objects([piece.get("function")])), {})
            call["id"] = call["id"] or piece.get("id")
            call["function"]["name"] = call["function"]["name"] or function.get("name")
            call["function"]["arguments"] += string(function.get("arguments")) or ""


def _function(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    functions = [
        (call.get("id"), next(iter(objects([call.get("function")])), {}))
        for call in objects(message.get("tool_calls"))
    ]
    return tuple(
        tool_call(number, call_id, function.get("name"), function.get("arguments"))
        for number, (call_id, function) in enumerate(functions)
    )


def _is_message(message: Mapping[str, Any]) -> bool:
    """Return whether a message, or a piece of a message, has the format of the API. The content of
    the message must be text or a list of parts."""
    content = message.get("content")
    if not is_optional(message.get("refusal"), str):
        return False
    if isinstance(content, list):
        return are_parts(content) and are_texts(content, "text")
    return is_optional(content, str)


def _others(message: Mapping[str, Any]) -> set[str]:
    """Return the kinds of content in a message that are neither text nor reasoning, such as tool
    calls and pictures."""
    kinds = {part["type"] for part in objects(message.get("content"))}
    return (kinds - SILENT) | {name for name in CALLS if message.get(name)}


def _text(content: object) -> str:
    """Return the text of a message whose content is text or a list of parts."""
    if not isinstance(content, list):
        return string(content) or ""
    texts = [string(part.get("text")) for part in objects(content)]
    return "".join(text for text in texts if text)
