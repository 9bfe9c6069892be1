"""How vendors' servers call tools, and how they are told of tools and results, each in its own
format.

The shapes are those of the vendors' own clients, at the commits that `tests/vendors.py` names
(openai: types/chat/chat_completion_message_function_tool_call.py, chat_completion_chunk.py,
types/responses/response_function_tool_call.py; anthropic: types/tool_use_block.py,
raw_content_block_delta.py; google: types.py, FunctionCall and FunctionResponse).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.servers import Answer
from tests.vendors import (
    ANTHROPIC,
    ANTHROPIC_USAGE,
    CHAT_USAGE,
    GOOGLE,
    GOOGLE_USAGE,
    OPENAI,
    RESPONSES,
    Vendor,
    answer,
    stream,
)

Call = tuple[str, str, str]
"""The id of a call, the tool's name, and the arguments as the model wrote them."""


@dataclass(frozen=True)
class ToolVendor:
    """A vendor, how it calls tools, and how it hears of them.

    `full(text, thought, calls)` is the body of a reply, and `events` those of a streamed one.
    `offered` are the tools in a request: name, description, and schema. `results` are the results
    in a request: the id of the call, and the texts, with None for a picture.
    """

    vendor: Vendor
    full: Callable[[str, str, Sequence[Call]], Any]
    events: Callable[[str, str, Sequence[Call]], list[Any]]
    offered: Callable[[Any], list[tuple[str, str, Any]]]
    results: Callable[[Any], list[tuple[str, list[str | None]]]]

    def replied(
        self, *calls: Call, text: str = "", thought: str = "", streamed: bool = False
    ) -> Answer:
        if streamed:
            return stream(self.events(text, thought, calls))
        return answer(self.full(text, thought, calls))


# -- OpenAI: chat completions


def _chat(text: str, thought: str, calls: Sequence[Call]) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if thought:
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = [_chat_call(*call) for call in calls]
    stop = "tool_calls" if calls else "stop"
    return {"choices": [{"message": message, "finish_reason": stop}], "usage": CHAT_USAGE}


def _chat_call(call_id: str, name: str, arguments: str) -> Any:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _chat_events(text: str, thought: str, calls: Sequence[Call]) -> list[Any]:
    deltas: list[Any] = [{"role": "assistant", "content": None}]
    deltas += [{"reasoning_content": thought}] if thought else []
    deltas += [{"content": text}] if text else []
    for index, (call_id, name, arguments) in enumerate(calls):
        start = {"index": index, **_chat_call(call_id, name, "")}
        deltas.append({"tool_calls": [start]})
        for piece in _halves(arguments):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    chunks: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
    stop = "tool_calls" if calls else "stop"
    return [*chunks, {"choices": [{"delta": {}, "finish_reason": stop}]}, "[DONE]"]


def _chat_offered(body: Any) -> list[tuple[str, str, Any]]:
    assert all(tool["type"] == "function" for tool in body["tools"])
    tools = [tool["function"] for tool in body["tools"]]
    return [(tool["name"], tool["description"], tool["parameters"]) for tool in tools]


def _chat_results(body: Any) -> list[tuple[str, list[str | None]]]:
    turns = [turn for turn in body["messages"] if turn["role"] == "tool"]
    return [(turn["tool_call_id"], [turn["content"]]) for turn in turns]


# -- OpenAI: responses


def _response(text: str, thought: str, calls: Sequence[Call]) -> Any:
    output: list[Any] = []
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        output.append(
            {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAA"}
        )
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "id": "m", "role": "assistant", "content": content})
    output += [
        {"type": "function_call", "id": f"fc_{i}", "call_id": i, "name": n, "arguments": a}
        for i, n, a in calls
    ]
    return {"object": "response", "status": "completed", "output": output}


def _response_events(text: str, thought: str, calls: Sequence[Call]) -> list[Any]:
    pieces = [
        {"type": "response.function_call_arguments.delta", "delta": piece}
        for _, _, arguments in calls
        for piece in _halves(arguments)
    ]
    return [*pieces, {"type": "response.completed", "response": _response(text, thought, calls)}]


def _response_offered(body: Any) -> list[tuple[str, str, Any]]:
    assert all(tool["type"] == "function" for tool in body["tools"])
    return [(tool["name"], tool["description"], tool["parameters"]) for tool in body["tools"]]


def _response_results(body: Any) -> list[tuple[str, list[str | None]]]:
    items = [item for item in body["input"] if item.get("type") == "function_call_output"]
    return [(item["call_id"], _texts(item["output"])) for item in items]


# -- Anthropic


def _blocks(text: str, thought: str, calls: Sequence[Call]) -> list[Any]:
    blocks: list[Any] = []
    if thought:
        blocks.append({"type": "thinking", "thinking": thought, "signature": "Eq"})
    if text:
        blocks.append({"type": "text", "text": text})
    return blocks + [
        {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)}
        for call_id, name, arguments in calls
    ]


def _message(text: str, thought: str, calls: Sequence[Call]) -> Any:
    return {
        "type": "message",
        "role": "assistant",
        "content": _blocks(text, thought, calls),
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": ANTHROPIC_USAGE,
    }


def _message_events(text: str, thought: str, calls: Sequence[Call]) -> list[Any]:
    blocks: list[tuple[Any, list[Any]]] = []
    if thought:
        blocks.append(
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": thought},
                    {"type": "signature_delta", "signature": "Eq"},
                ],
            )
        )
    if text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]))
    for call_id, name, arguments in calls:
        start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        pieces = [
            {"type": "input_json_delta", "partial_json": piece} for piece in _halves(arguments)
        ]
        blocks.append((start, pieces))
    events: list[Any] = [{"type": "message_start", "message": {"usage": ANTHROPIC_USAGE}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    return [*events, {"type": "message_delta", "delta": stop}, {"type": "message_stop"}]


def _message_offered(body: Any) -> list[tuple[str, str, Any]]:
    return [(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]


def _message_results(body: Any) -> list[tuple[str, list[str | None]]]:
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    results = [block for block in blocks if block["type"] == "tool_result"]
    return [(block["tool_use_id"], _texts(block["content"])) for block in results]


# -- Google


def _gemini(text: str, thought: str, calls: Sequence[Call]) -> Any:
    parts: list[Any] = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text}] if text else []
    parts += [
        {"functionCall": {"id": call_id, "name": name, "args": json.loads(arguments)}}
        for call_id, name, arguments in calls
    ]
    if thought:
        parts[-1]["thoughtSignature"] = "CiQB"
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": GOOGLE_USAGE}


def _gemini_events(text: str, thought: str, calls: Sequence[Call]) -> list[Any]:
    parts = _gemini(text, thought, calls)["candidates"][0]["content"]["parts"]
    events: list[Any] = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    return [*events, {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}]


def _gemini_offered(body: Any) -> list[tuple[str, str, Any]]:
    (tools,) = body["tools"]
    return [
        (tool["name"], tool["description"], tool["parametersJsonSchema"])
        for tool in tools["functionDeclarations"]
    ]


def _gemini_results(body: Any) -> list[tuple[str, list[str | None]]]:
    parts = [part for turn in body["contents"] for part in turn["parts"]]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return [(result["id"], [result["response"]["result"]]) for result in results]


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [text[:middle], text[middle:]]


def _texts(content: Any) -> list[str | None]:
    """The texts of a result, with None for a picture."""
    if isinstance(content, str):
        return [content]
    return [part.get("text") for part in content]


TOOL_VENDORS = (
    ToolVendor(OPENAI, _chat, _chat_events, _chat_offered, _chat_results),
    ToolVendor(RESPONSES, _response, _response_events, _response_offered, _response_results),
    ToolVendor(ANTHROPIC, _message, _message_events, _message_offered, _message_results),
    ToolVendor(GOOGLE, _gemini, _gemini_events, _gemini_offered, _gemini_results),
)
