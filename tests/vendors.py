"""What vendors' servers answer, and what they were asked, each in its own format.

The shapes are those of the vendors' own clients: anthropics/anthropic-sdk-python@009b035
(src/anthropic/types), googleapis/python-genai@6680718 (google/genai/types.py),
openai/openai-python@e43b422 (src/openai/types); the streams' events too.

    with serving(GOOGLE.said("A")) as server: ...
    with serving(ANTHROPIC.streamed("A", "B")) as server: ...
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.servers import Answer, ReceivedRequest

Turn = tuple[str, list[str | bytes]]
"""Who spoke, and what: texts, and the bytes of pictures."""
STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True)
class Vendor:
    """A vendor: its name in the catalog, where its key goes, how it answers and is asked.

    `whole(text, thought, stop)` is the body of a reply, `events(texts, thoughts, stop)` those of a
    streamed one, of which the last marks the end; `stop` is in the vendor's words. `broken(status,
    words, kind)` is an error's body, `told` what of an error stands in an event.
    """

    kind: str
    key_header: str
    key: str
    path: str
    ends: str
    cut: str
    withheld: str
    full: Callable[[str, str, str], Any]
    events: Callable[[Sequence[str], Sequence[str], str], list[Any]]
    broken: Callable[[int, str], Any]
    refused_with: Callable[[int, str], Any]
    heard: Callable[[Any], list[Turn]]

    def answered(self, text: str, *, thought: str = "", stop: str | None = None) -> Answer:
        return answer(self.full(text, thought, stop or self.ends))

    def streamed(
        self, *texts: str, thoughts: Sequence[str] = (), stop: str | None = None
    ) -> Answer:
        return stream(self.events(texts, thoughts, stop or self.ends))

    def error(self, status: int, words: str = "injected", **headers: str) -> Answer:
        fields = {"Content-Type": "application/json", **headers}
        return Answer(status, json.dumps(self.broken(status, words)).encode(), fields)

    def turns(self, request: ReceivedRequest) -> list[Turn]:
        return self.heard(request.json)


def answer(body: Any) -> Answer:
    return Answer(body=json.dumps(body).encode())


def stream(events: Sequence[Any]) -> Answer:
    return Answer(body=b"".join(map(event, events)), headers=STREAM)


def event(data: Any) -> bytes:
    """One event; its name is its data's type, as Anthropic and OpenAI have it."""
    if isinstance(data, str):
        return f"data: {data}\n\n".encode()
    name = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


# -- OpenAI: chat completions


def _chat(text: str, thought: str, stop: str) -> Any:
    message = {"role": "assistant", "content": text, "reasoning_content": thought or None}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": CHAT_USAGE,
    }


CHAT_USAGE = {
    "prompt_tokens": 300,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def _chat_events(texts: Sequence[str], thoughts: Sequence[str], stop: str) -> list[Any]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": thought} for thought in thoughts]
    deltas += [{"content": text} for text in texts]
    chunks: list[Any] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
    return [*chunks, {"choices": [], "usage": CHAT_USAGE}, "[DONE]"]


def _openai_error(status: int, words: str) -> Any:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_exceeded"}
    return {"error": {"message": words, "type": kinds.get(status, "server_error"), "code": None}}


def _chat_turns(body: Any) -> list[Turn]:
    return [
        (turn["role"], [_chat_part(part) for part in _parts(turn["content"])])
        for turn in body["messages"]
    ]


def _chat_part(part: Any) -> str | bytes:
    return _in_url(part["image_url"]["url"]) if part["type"] == "image_url" else str(part["text"])


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _in_url(url: str) -> bytes:
    head, _, data = url.partition(",")
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    return b64decode(data, validate=True)


# -- OpenAI: responses


def _response(text: str, thought: str, stop: str) -> Any:
    summary = [{"type": "summary_text", "text": thought}]
    output = [{"type": "reasoning", "id": "rs_1", "summary": summary}] if thought else []
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output.append({"type": "message", "id": "m", "role": "assistant", "content": content})
    is_complete = stop == "completed"
    return {
        "object": "response",
        "id": "resp_1",
        "status": "completed" if is_complete else "incomplete",
        "incomplete_details": None if is_complete else {"reason": stop},
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": 300,
            "output_tokens": 7,
            "input_tokens_details": {"cached_tokens": 100},
            "output_tokens_details": {"reasoning_tokens": 5},
        },
    }


def _response_events(texts: Sequence[str], thoughts: Sequence[str], stop: str) -> list[Any]:
    complete = _response("".join(texts), "".join(thoughts), stop)
    begun = {**complete, "status": "in_progress", "output": [], "usage": None}
    started = [{"type": "response.created", "response": begun}]
    thinking = [
        {"type": "response.reasoning_summary_text.delta", "delta": thought} for thought in thoughts
    ]
    saying = [{"type": "response.output_text.delta", "delta": text} for text in texts]
    return [
        *started,
        *thinking,
        *saying,
        {"type": f"response.{complete['status']}", "response": complete},
    ]


def _response_error(status: int, words: str) -> Any:
    error = _openai_error(status, words)["error"]
    return {"type": "error", "code": error["type"], "message": words, "param": None}


def _response_turns(body: Any) -> list[Turn]:
    return [
        (turn["role"], [_response_part(part) for part in _parts(turn["content"])])
        for turn in body["input"]
    ]


def _response_part(part: Any) -> str | bytes:
    return _in_url(part["image_url"]) if part["type"] == "input_image" else str(part["text"])


# -- Anthropic


ANTHROPIC_USAGE = {
    "input_tokens": 150,
    "cache_creation_input_tokens": 50,
    "cache_read_input_tokens": 100,
    "output_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 5},
}


def _message(text: str, thought: str, stop: str) -> Any:
    thinking = [{"type": "thinking", "thinking": thought, "signature": "Eq"}] if thought else []
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [*thinking, {"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": ANTHROPIC_USAGE,
    }


def _message_events(texts: Sequence[str], thoughts: Sequence[str], stop: str) -> list[Any]:
    counted = {**ANTHROPIC_USAGE, "output_tokens": 1, "output_tokens_details": None}
    begun = {**_message("", "", stop), "content": [], "stop_reason": None, "usage": counted}
    events: list[Any] = [{"type": "message_start", "message": begun}]
    index = 0
    for kind, pieces in (("thinking", thoughts), ("text", texts)):
        if pieces:
            block = {"type": kind, kind: ""}
            events.append({"type": "content_block_start", "index": index, "content_block": block})
            events.append({"type": "ping"})
            for piece in pieces:
                delta = {"type": f"{kind}_delta", kind: piece}
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
            index += 1
    usage = {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 5}}
    ending = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": usage})
    return [*events, {"type": "message_stop"}]


ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _anthropic_error(status: int, words: str) -> Any:
    kind = ANTHROPIC_ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


def _message_turns(body: Any) -> list[Turn]:
    first: list[Turn] = [("system", [body["system"]])] if "system" in body else []
    return first + [
        (turn["role"], [_block(block) for block in turn["content"]]) for turn in body["messages"]
    ]


def _block(block: Any) -> str | bytes:
    if block["type"] == "text":
        return str(block["text"])
    source = block["source"]
    assert (block["type"], source["type"]) == ("image", "base64")
    assert source["media_type"] in ("image/png", "image/jpeg")
    return b64decode(source["data"], validate=True)


# -- Google


GOOGLE_USAGE = {
    "promptTokenCount": 300,
    "candidatesTokenCount": 2,
    "thoughtsTokenCount": 5,
    "cachedContentTokenCount": 100,
    "totalTokenCount": 307,
}


def _gemini(text: str, thought: str, stop: str | None) -> Any:
    parts: list[Any] = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text}] if text else []
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": stop, "index": 0}
    if stop is None:
        del candidate["finishReason"]
    return {"candidates": [candidate], "usageMetadata": GOOGLE_USAGE, "modelVersion": "m"}


def _gemini_events(texts: Sequence[str], thoughts: Sequence[str], stop: str) -> list[Any]:
    thinking = [_gemini("", thought, None) for thought in thoughts]
    return [*thinking, *(_gemini(text, "", None) for text in texts), _gemini("", "", stop)]


GOOGLE_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def google_error(status: int, words: str, *details: Any, state: str | None = None) -> Any:
    state = state or GOOGLE_ERRORS.get(status, "UNKNOWN")
    return {"error": {"code": status, "message": words, "status": state, "details": list(details)}}


def _gemini_turns(body: Any) -> list[Turn]:
    first: list[Turn] = []
    if "systemInstruction" in body:
        first = [("system", [part["text"] for part in body["systemInstruction"]["parts"]])]
    roles = {"user": "user", "model": "assistant"}
    return first + [
        (roles[turn["role"]], [_gemini_part(part) for part in turn["parts"]])
        for turn in body["contents"]
    ]


def _gemini_part(part: Any) -> str | bytes:
    if "text" in part:
        return str(part["text"])
    assert part["inlineData"]["mimeType"] in ("image/png", "image/jpeg")
    return b64decode(part["inlineData"]["data"], validate=True)


OPENAI = Vendor(
    kind="openai",
    key_header="authorization",
    key="Bearer {}",
    path="/v1/chat/completions",
    ends="stop",
    cut="length",
    withheld="content_filter",
    full=_chat,
    events=_chat_events,
    broken=_openai_error,
    refused_with=_openai_error,
    heard=_chat_turns,
)
RESPONSES = Vendor(
    kind="openai-responses",
    key_header="authorization",
    key="Bearer {}",
    path="/v1/responses",
    ends="completed",
    cut="max_output_tokens",
    withheld="content_filter",
    full=_response,
    events=_response_events,
    broken=_openai_error,
    refused_with=_response_error,
    heard=_response_turns,
)
ANTHROPIC = Vendor(
    kind="anthropic",
    key_header="x-api-key",
    key="{}",
    path="/v1/messages",
    ends="end_turn",
    cut="max_tokens",
    withheld="refusal",
    full=_message,
    events=_message_events,
    broken=_anthropic_error,
    refused_with=_anthropic_error,
    heard=_message_turns,
)
GOOGLE = Vendor(
    kind="google",
    key_header="x-goog-api-key",
    key="{}",
    path="/v1/models/m:generateContent",
    ends="STOP",
    cut="MAX_TOKENS",
    withheld="SAFETY",
    full=_gemini,
    events=_gemini_events,
    broken=google_error,
    refused_with=google_error,
    heard=_gemini_turns,
)
VENDORS = (OPENAI, RESPONSES, ANTHROPIC, GOOGLE)
