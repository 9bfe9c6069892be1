"""Replies that break a service's protocol are failures that are asked again, never a score of 0."""

import json
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.core.model import Generates, Reply, Request, Usage
from snellen.core.profile import Profile
from snellen.errors import ModelError, Overloaded, Rejected
from snellen.media.content import user
from snellen.store import ReplyRecord, Run
from tests.servers import Answer, ReceivedRequest, Server, serving
from tests.vendors import ANTHROPIC, GOOGLE, OPENAI, RESPONSES, VENDORS, Vendor, answer, stream

HELLO = Request(messages=(user("hello"),))
TOOL = {"name": "look", "args": {}}
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL_BLOCK = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
FUNCTION_ITEM = {"type": "function_call", "name": "look", "arguments": "{}"}


def chat(content: Any, stop: str = "stop", **fields: Any) -> Answer:
    message = {"role": "assistant", "content": content, **fields}
    return answer({"choices": [{"message": message, "finish_reason": stop}]})


def chunks(*deltas: Any, stop: str = "stop") -> Answer:
    choices: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
    return stream([*choices, {"choices": [{"delta": {}, "finish_reason": stop}]}, "[DONE]"])


def response(*output: Any, status: str = "completed") -> Any:
    return {"object": "response", "status": status, "output": [*output]}


def message_item(content: Any) -> Any:
    return {"type": "message", "role": "assistant", "content": content}


def ended(response: Any) -> Answer:
    return stream([{"type": f"response.{response['status']}", "response": response}])


def blocks(*content: Any, stop: str = "end_turn") -> Answer:
    return answer({"type": "message", "content": [*content], "stop_reason": stop})


def block_events(*events: Any, stop: str = "end_turn") -> Answer:
    ending = {"type": "message_delta", "delta": {"stop_reason": stop}}
    return stream([*events, ending, {"type": "message_stop"}])


def gemini(content: Any, stop: str = "STOP") -> Any:
    return {"candidates": [{"content": content, "finishReason": stop}]}


MALFORMED = {
    "chat: a number": (OPENAI, chat(5)),
    "chat: an object": (OPENAI, chat({"text": "A"})),
    "chat: a part that is a number": (OPENAI, chat([5])),
    "chat: a part without a type": (OPENAI, chat([{"text": "A"}])),
    "chat: a part whose text is a number": (OPENAI, chat([{"type": "text", "text": 5}])),
    "chat: a refusal that is a number": (OPENAI, chat(None, refusal=5)),
    "chat: choices that hold a number": (OPENAI, answer({"choices": [5]})),
    "chat: a streamed number": (OPENAI, chunks({"content": 5})),
    "chat: a streamed number between text": (
        OPENAI,
        chunks({"content": "A"}, {"content": 5}, {"content": "B"}),
    ),
    "chat: a streamed delta that is a list": (OPENAI, chunks([])),
    "responses: text in the place of parts": (RESPONSES, answer(response(message_item("A")))),
    "responses: a part whose text is a number": (
        RESPONSES,
        answer(response(message_item([{"type": "output_text", "text": 5}]))),
    ),
    "responses: a refusal that is a number": (
        RESPONSES,
        answer(response(message_item([{"type": "refusal", "refusal": 5}]))),
    ),
    "responses: an item that is a number": (RESPONSES, answer(response(5))),
    "responses: incomplete for no reason": (RESPONSES, answer(response(status="incomplete"))),
    "responses: a streamed part whose text is a number": (
        RESPONSES,
        ended(response(message_item([{"type": "output_text", "text": 5}]))),
    ),
    "anthropic: content that is text": (ANTHROPIC, answer({"content": "A", "stop_reason": "x"})),
    "anthropic: a block that is a number": (ANTHROPIC, blocks(5)),
    "anthropic: a block whose text is a number": (ANTHROPIC, blocks({"type": "text", "text": 5})),
    "anthropic: a streamed number": (
        ANTHROPIC,
        block_events(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}}
        ),
    ),
    "google: content that is text": (GOOGLE, answer(gemini("A"))),
    "google: parts that are an object": (GOOGLE, answer(gemini({"parts": {"text": "A"}}))),
    "google: a part that is text": (GOOGLE, answer(gemini({"parts": ["A"]}))),
    "google: a part whose text is a number": (GOOGLE, answer(gemini({"parts": [{"text": 5}]}))),
    "google: a streamed part whose text is a number": (
        GOOGLE,
        stream([gemini({"parts": [{"text": 5}]})]),
    ),
}
NO_TEXT = {
    "chat: a tool call": (OPENAI, chat(None, "tool_calls", tool_calls=[CALL]), "tool_calls"),
    "chat: an older tool call": (OPENAI, chat(None, function_call=TOOL), "function_call"),
    "chat: a reason to end alone": (OPENAI, chat(None, "tool_calls"), "tool_calls"),
    "chat: a picture": (OPENAI, chat([{"type": "image_url", "image_url": {}}]), "image_url"),
    "chat: a streamed tool call": (OPENAI, chunks({"tool_calls": [CALL]}), "tool_calls"),
    "responses: a tool call": (RESPONSES, answer(response(FUNCTION_ITEM)), "function_call"),
    "responses: a streamed tool call": (RESPONSES, ended(response(FUNCTION_ITEM)), "function_call"),
    "anthropic: a tool call": (ANTHROPIC, blocks(TOOL_BLOCK, stop="tool_use"), "tool_use"),
    "anthropic: a streamed tool call": (
        ANTHROPIC,
        block_events({"type": "content_block_start", "index": 0, "content_block": TOOL_BLOCK}),
        "tool_use",
    ),
    "google: a tool call": (
        GOOGLE,
        answer(gemini({"parts": [{"functionCall": TOOL}]})),
        "functionCall",
    ),
    "google: a broken tool call": (
        GOOGLE,
        answer(gemini(None, "MALFORMED_FUNCTION_CALL")),
        "functionCall",
    ),
    "google: a streamed tool call": (
        GOOGLE,
        stream([gemini({"parts": [{"functionCall": TOOL}]})]),
        "functionCall",
    ),
}
COMPLETE = {
    "chat: parts": (OPENAI, chat([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}])),
    "chat: a thought and text": (
        OPENAI,
        chat([{"type": "thinking", "thinking": []}, {"type": "text", "text": "AB"}]),
    ),
    "chat: streamed parts": (OPENAI, chunks({"content": [{"type": "text", "text": "AB"}]})),
    "chat: text and a tool call": (OPENAI, chat("AB", tool_calls=[CALL])),
    "chat: streamed text and a tool call": (
        OPENAI,
        chunks({"content": "A"}, {"tool_calls": [CALL]}, {"content": "B"}),
    ),
    "anthropic: text and a tool call": (
        ANTHROPIC,
        blocks({"type": "text", "text": "AB"}, TOOL_BLOCK),
    ),
    "anthropic: text in the block's start": (
        ANTHROPIC,
        block_events(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": "AB"},
            }
        ),
    ),
    "google: text and a tool call": (
        GOOGLE,
        answer(gemini({"parts": [{"text": "AB"}, {"functionCall": TOOL}]})),
    ),
}


async def reply_of(vendor: Vendor, body: Answer) -> Reply:
    with serving(body) as server:
        return await generate(vendor, server)


async def generate(vendor: Vendor, server: Server) -> Reply:
    model: Any = registry.model(f"{vendor.kind}/m", Profile(base_url=server.url)).model
    assert isinstance(model, Generates)
    try:
        return await model.generate(HELLO)
    finally:
        await model.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_reply_that_breaks_the_protocol_is_asked_for_again(case: str) -> None:
    with pytest.raises(Overloaded, match="the reply is "):
        await reply_of(*MALFORMED[case])


@pytest.mark.parametrize("case", NO_TEXT)
async def test_a_reply_without_text_that_calls_a_tool_is_a_failure(case: str) -> None:
    vendor, body, kind = NO_TEXT[case]
    with pytest.raises(Rejected, match=f"the reply has no text, only {kind}, which was not"):
        await reply_of(vendor, body)


@pytest.mark.parametrize("case", COMPLETE)
async def test_text_in_parts_or_beside_a_tool_call_is_read_whole(case: str) -> None:
    assert (await reply_of(*COMPLETE[case])).text == "AB"


async def test_counts_of_tokens_that_are_none_are_left_out() -> None:
    usage = {"prompt_tokens": 10**30, "completion_tokens": -1, "total_tokens": True}
    body = answer(
        {
            "choices": [{"message": {"content": "A"}, "finish_reason": "stop"}],
            "usage": usage | {"prompt_tokens_details": {"cached_tokens": True}},
        }
    )
    assert (await reply_of(OPENAI, body)).usage == Usage()


ODD: tuple[Any, ...] = (True, 3, "x", [[]], [{}], [3], {"x": {}})


def mutations(content: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by one of another type."""
    yield from (odd for odd in ODD if type(odd) is not type(content))
    if isinstance(content, dict | list):
        for key, part in content.items() if isinstance(content, dict) else enumerate(content):
            for odd in mutations(part):
                changed: Any = copy(content)
                changed[key] = odd
                yield changed


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
async def test_no_value_of_another_type_makes_a_reply_empty(vendor: Vendor) -> None:
    bodies = [answer(odd) for odd in mutations(vendor.full("A", "Hm.", vendor.ends))]
    events = mutations(vendor.events(["A"], ["Hm."], vendor.ends))
    bodies += [stream(odd) for odd in events if isinstance(odd, list)]
    waiting = iter(bodies)
    with serving(lambda request: next(waiting)) as server:
        model: Any = registry.model(f"{vendor.kind}/m", Profile(base_url=server.url)).model
        for _ in bodies:
            try:
                reply = await model.generate(HELLO)
            except ModelError:
                continue
            assert reply.text and reply.state == "ok"
        await model.close()


def test_a_malformed_reply_is_failed_in_the_result_and_asked_again(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    lines = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(3)
    ]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def broken(request: ReceivedRequest) -> Answer:
        is_bad = "[q1]" in str(request.json["messages"])
        return chat(None, tool_calls=[CALL]) if is_bad else chat("A")

    def ask(server: Server) -> Result:
        return snellen.evaluate(str(rows), "openai/m", base_url=server.url, out=tmp_path / "runs")

    with serving(broken) as server:
        result = ask(server)
        assert len(server.requests) == 3
    assert result.report.replies == {"ok": 2, "failed": 1}
    assert result.headline.value == 1.0 and result.headline.n == 2

    with serving(chat("B")) as server:
        result = ask(server)
        assert len(server.requests) == 1
    assert result.report.replies == {"ok": 3}
    (manifest,) = tmp_path.glob("runs/*/*/*/manifest.json")
    errors = [
        record.error.message
        for record in Run(manifest.parent).replies()
        if isinstance(record, ReplyRecord) and record.error
    ]
    assert len(errors) == 1 and "only tool_calls" in errors[0]
