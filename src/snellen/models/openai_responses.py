"""OpenAI's Responses API, and other servers that implement this API.

The model accepts text and images (JPEG, PNG, WebP, still GIF) in any order, a system message, and
several turns. Images are sent as `data:` URLs at their position in the message, with their bytes
unchanged. A video is sent as one image per frame. The seed is not sent, because the API has no
field for it. The API does not support stop sequences, so a request with stop sequences is rejected.
Tools are sent as functions, and the result of a call may have pictures. If `include =
["reasoning.encrypted_content"]` is in a profile's `extra`, reasoning is sent back with the calls
that follow it. Models that do not reason reject this field.
The service is asked not to store anything (`store: false`).

A profile's `extra` is merged into the request and overrides Snellen's own fields. If a field in
`extra` is None, it is not sent. Example: `reasoning = { effort = "low", summary = "auto" }`. The
official service returns only summaries of the model's reasoning. `openai.py` describes the header
that holds the key on Azure.

Sources of fields and errors: openai/openai-python@e43b422: src/openai/types/responses
(response_create_params.py, response.py, response_usage.py, response_error.py,
response_stream_event.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.core.tools import ToolSpec
from snellen.errors import Rejected
from snellen.media.content import Image, Message, ToolCall
from snellen.models._openai import OpenAIService, data_url, opened, status_of, usage_of
from snellen.models.parts import parts_of
from snellen.models.service import (
    are_parts,
    are_texts,
    body_of,
    objects,
    string,
    times,
)
from snellen.models.tool_calls import (
    continuation,
    continued,
    sent_name,
    sent_text,
    tool_call,
)
from snellen.transport import Response

PATH = "responses"
STOPS = {"max_output_tokens": "length", "content_filter": "filter"}
SILENT = {"message", "reasoning", "output_text", "refusal"}
"""Types of items and parts that contain text or nothing."""
ENDS = ("response.completed", "response.incomplete", "response.failed")
"""Events that end a stream. Each contains the whole response."""
PIECES = (
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
)


def open_model(name: str, *, profile: Profile, api_key: str | None) -> OpenAIResponses:
    """Open the model `name` on the profile's server."""
    return OpenAIResponses(opened(name, profile=profile, api_key=api_key, path=PATH))


class OpenAIResponses(OpenAIService):
    """A model behind the Responses API."""

    what = "a response"
    calls = "function_call"
    takes_pictures_in_results = True

    # -- there

    def _body(self, request: Request) -> bytes:
        if request.stop:
            raise Rejected(
                f"{self._there.transport.where}: the request has stop words, which the Responses "
                "API does not support. Use openai/NAME for this model.",
                hopeless=True,
            )
        generation = request.generation
        body: dict[str, Any] = {
            "model": self.name,
            "input": [item for message in request.messages for item in _items(message)],
            "max_output_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "store": False,
            "tools": [_function(tool) for tool in request.tools] or None,
            "stream": self._there.stream or None,
        }
        return body_of({**body, **generation.extra})

    # -- and back

    def _streamed(self, response: Response) -> Reply:
        """Return the reply that the last event of the stream contains."""
        first = None
        for event in response.events:
            fields = self._there.json(event.data, "an event of a response")
            kind = fields.get("type")
            if kind == "error":
                nested = fields.get("error")
                error = nested if isinstance(nested, dict) else fields
                return self._withheld(status_of(error), error, response)
            if kind in PIECES and first is None:
                first = event.at
            if kind in ENDS and isinstance(fields.get("response"), dict):
                return self._reply(fields["response"], response, first)
        raise self._there.cut()

    def _reply(
        self, body: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        status = string(body.get("status"))
        if status == "failed":
            error = next(iter(objects([body.get("error")])), {})
            return self._withheld(status_of(error), error, response)
        if not isinstance(body.get("output"), list) or status not in ("completed", "incomplete"):
            raise self._there.unreadable("not a whole response", response.body)
        output = objects(body["output"])
        if not _is_output(body["output"]):
            raise self._there.unreadable("not a response in the API's format", response.body)
        parts = [
            part for item in _of_kind("message", output) for part in objects(item.get("content"))
        ]
        # Servers other than OpenAI's return the reasoning itself instead of a summary.
        thoughts = _of_kind("reasoning", output)
        reasoning = [part for item in thoughts for part in objects(item.get("summary"))]
        reasoning = reasoning or [
            part for item in thoughts for part in objects(item.get("content"))
        ]
        text = _texts("output_text", parts)
        details = next(iter(objects([body.get("incomplete_details")])), {})
        reason = string(details.get("reason"))
        if status == "incomplete" and reason is None:
            raise self._there.unreadable("not clear on why it is incomplete", response.body)
        stop = reason or status
        if not text and _of_kind("refusal", parts):
            stop = "filter"
        calls = tuple(
            tool_call(number, item.get("call_id"), item.get("name"), item.get("arguments"))
            for number, item in enumerate(_of_kind("function_call", output))
        )
        others = {part["type"] for part in (*output, *parts)} - SILENT
        if not (text or calls or stop == "filter") and others:
            raise self._there.without_text(others)
        return Reply(
            text=text,
            reasoning="\n".join(string(part.get("text")) or "" for part in reasoning) or None,
            stop=STOPS.get(stop, stop),
            usage=usage_of(body.get("usage"), "input", "output"),
            times=times(response, first),
            tool_calls=calls,
            continuation=continuation(_returned(output, calls)) if calls and thoughts else None,
        )


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _items(message: Message) -> list[dict[str, Any]]:
    """Convert a message to the items that stand for it. A call and its result are items of their
    own."""
    if message.continuation is not None:
        return list(continued(message))
    if all(isinstance(part, str) for part in message.content):
        content: Any = message.text
    else:
        content = parts_of(message, lambda text: {"type": "input_text", "text": text}, _image)
    if message.role == "tool":
        return [
            {"type": "function_call_output", "call_id": message.call_id, "output": content},
        ]
    items = (
        [{"role": message.role, "content": content}] if content or not message.tool_calls else []
    )
    return [*items, *map(_call_item, message.tool_calls)]


def _call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": sent_name(call),
        "arguments": sent_text(call),
    }


def _returned(output: list[dict[str, Any]], calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Return the items of a reply as they are sent back. The service stores nothing, so an item of
    reasoning is sent back only if it has content."""
    numbered = iter(calls)
    return [
        _call_item(next(numbered)) if item["type"] == "function_call" else item
        for item in output
        if item["type"] != "reasoning" or item.get("encrypted_content") or item.get("content")
    ]


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": data_url(image), "detail": "auto"}


def _is_output(output: object) -> bool:
    """Return whether the content of each message is a list of parts with text."""
    if not are_parts(output):
        return False
    contents = [message.get("content") for message in _of_kind("message", objects(output))]
    if not all(are_parts(content) for content in contents):
        return False
    parts = [part for content in contents for part in objects(content)]
    return are_texts(parts, "output_text") and are_texts(parts, "refusal", "refusal")


def _of_kind(name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item.get("type") == name]


def _texts(name: str, parts: list[dict[str, Any]]) -> str:
    return "".join(string(part.get("text")) or "" for part in _of_kind(name, parts))
