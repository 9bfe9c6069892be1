"""Tools, calls, and results in the formats of the four services, plain and streamed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.core.tools import ToolSpec
from snellen.errors import Rejected
from snellen.media.content import Image, Message, ToolCall, tool, user
from tests.scenes import png, scene
from tests.servers import Answer, Server, serving
from tests.vendor_tools import TOOL_VENDORS, Call, ToolVendor
from tests.vendors import GOOGLE, OPENAI, answer, stream

ZOOM = ToolSpec(
    name="zoom",
    description="Shows a part of the picture.",
    parameters={
        "type": "object",
        "properties": {"box": {"type": "array", "items": {"type": "number"}}},
        "required": ["box"],
    },
)
ROTATE = ToolSpec(name="rotate", description="Turns the picture.", parameters={"type": "object"})
QUESTION = Request(messages=(user("Which letter is it?"),), tools=(ZOOM, ROTATE))
FIRST: Call = ("call_a", "zoom", '{"box":[0,0,10,10]}')
SECOND: Call = ("call_b", "rotate", '{"degrees":90}')
KEY = "sk-a-key-that-nobody-may-see"

all_vendors = pytest.mark.parametrize("vendor", TOOL_VENDORS, ids=lambda vendor: vendor.vendor.kind)
plain_and_streamed = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


@asynccontextmanager
async def model_of(
    vendor: ToolVendor, server: Server, *, streamed: bool = False
) -> AsyncIterator[Any]:
    profile = Profile(base_url=server.url, stream=streamed)
    model: Any = registry.model(f"{vendor.vendor.kind}/m", profile).model
    try:
        yield model
    finally:
        await model.close()


async def reply_to(
    vendor: ToolVendor, served: Answer, request: Request = QUESTION, *, streamed: bool = False
) -> tuple[Reply, Any]:
    """The reply to a request, and the body that the server received."""
    with serving(served) as server:
        async with model_of(vendor, server, streamed=streamed) as model:
            reply = await model.generate(request)
        return reply, server.requests[0].json


@all_vendors
async def test_a_request_offers_its_tools_in_the_services_format(vendor: ToolVendor) -> None:
    _, body = await reply_to(vendor, vendor.vendor.answered("A"))

    assert vendor.offered(body) == [
        (spec.name, spec.description, spec.parameters) for spec in (ZOOM, ROTATE)
    ]

    _, body = await reply_to(
        vendor, vendor.vendor.answered("A"), Request(messages=QUESTION.messages)
    )
    assert "tools" not in body


@all_vendors
@plain_and_streamed
@pytest.mark.parametrize("text", ["", "I look closer."])
async def test_calls_are_read_in_order(vendor: ToolVendor, streamed: bool, text: str) -> None:
    served = vendor.replied(FIRST, SECOND, text=text, streamed=streamed)

    reply, _ = await reply_to(vendor, served, streamed=streamed)

    assert reply.text == text
    assert reply.state == "ok"
    assert [(call.id, call.name) for call in reply.tool_calls] == [FIRST[:2], SECOND[:2]]
    assert [call.arguments for call in reply.tool_calls] == [FIRST[2], SECOND[2]]


@all_vendors
@plain_and_streamed
async def test_a_conversation_with_calls_and_results_goes_back_as_it_was(
    vendor: ToolVendor, streamed: bool
) -> None:
    served = vendor.replied(FIRST, SECOND, text="I look.", thought="Hm.", streamed=streamed)
    reply, _ = await reply_to(vendor, served, streamed=streamed)
    messages = (
        *QUESTION.messages,
        Message(
            "assistant",
            (reply.text,),
            tool_calls=reply.tool_calls,
            continuation=reply.continuation,
        ),
        tool("call_a", "A crop."),
        tool("call_b", "A turned picture."),
    )

    _, body = await reply_to(
        vendor, vendor.vendor.answered("A"), Request(messages=messages, tools=(ZOOM, ROTATE))
    )

    assert vendor.results(body) == [("call_a", ["A crop."]), ("call_b", ["A turned picture."])]
    assert assistant_turns(vendor, body) == ASSISTANT[vendor.vendor.kind]


def assistant_turns(vendor: ToolVendor, body: Any) -> Any:
    """What a request contains between the question and the results."""
    turns = body.get("messages") or body.get("contents") or body["input"]
    results = 1 if vendor.vendor.kind in ("anthropic", "google") else 2
    return turns[1:-results]


ASSISTANT = {
    "openai": [
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Hm.",
            "tool_calls": [
                {
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "zoom", "arguments": '{"box":[0,0,10,10]}'},
                },
                {
                    "id": "call_b",
                    "type": "function",
                    "function": {"name": "rotate", "arguments": '{"degrees":90}'},
                },
            ],
        }
    ],
    "openai-responses": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "gAAA",
        },
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {
            "type": "function_call",
            "call_id": "call_a",
            "name": "zoom",
            "arguments": '{"box":[0,0,10,10]}',
        },
        {
            "type": "function_call",
            "call_id": "call_b",
            "name": "rotate",
            "arguments": '{"degrees":90}',
        },
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "Eq"},
                {"type": "text", "text": "I look."},
                {
                    "type": "tool_use",
                    "id": "call_a",
                    "name": "zoom",
                    "input": {"box": [0, 0, 10, 10]},
                },
                {"type": "tool_use", "id": "call_b", "name": "rotate", "input": {"degrees": 90}},
            ],
        }
    ],
    "google": [
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "I look."},
                {
                    "functionCall": {
                        "id": "call_a",
                        "name": "zoom",
                        "args": {"box": [0, 0, 10, 10]},
                    }
                },
                {
                    "functionCall": {"id": "call_b", "name": "rotate", "args": {"degrees": 90}},
                    "thoughtSignature": "CiQB",
                },
            ],
        }
    ],
}


@all_vendors
async def test_a_result_has_its_picture_if_the_service_takes_one(vendor: ToolVendor) -> None:
    (call,) = (await reply_to(vendor, vendor.replied(FIRST)))[0].tool_calls
    takes_pictures = vendor.vendor.kind in ("openai-responses", "anthropic")
    content = ("A crop.", Image(png(scene(0)))) if takes_pictures else ("A crop.",)
    messages = (
        *QUESTION.messages,
        Message("assistant", (), tool_calls=(call,)),
        tool("call_a", *content),
    )

    with serving(vendor.vendor.answered("A")) as server:
        async with model_of(vendor, server) as model:
            assert getattr(model, "takes_pictures_in_results", False) == takes_pictures
            await model.generate(Request(messages=messages, tools=(ZOOM,)))

    expected = ["A crop.", None] if takes_pictures else ["A crop."]
    assert vendor.results(server.requests[0].json) == [("call_a", expected)]


@all_vendors
@plain_and_streamed
async def test_calls_that_were_not_offered_are_no_part_of_a_reply(
    vendor: ToolVendor, streamed: bool
) -> None:
    hello = Request(messages=QUESTION.messages)
    with_text = vendor.replied(FIRST, text="A", thought="Hm.", streamed=streamed)

    reply, _ = await reply_to(vendor, with_text, hello, streamed=streamed)

    assert (reply.text, reply.tool_calls, reply.continuation) == ("A", (), None)
    with pytest.raises(Rejected, match="the reply has no text, only"):
        await reply_to(vendor, vendor.replied(FIRST, streamed=streamed), hello, streamed=streamed)


@pytest.mark.parametrize("arguments", ['{"box": [0, 0', "[1, 2]", "zoom in", "\ud800"])
@all_vendors
async def test_a_malformed_call_goes_back_as_an_object_and_a_valid_name(
    vendor: ToolVendor, arguments: str
) -> None:
    call = ToolCall(id="call_a", name="zoom in!" * 20, arguments=arguments)
    messages = (
        *QUESTION.messages,
        Message("assistant", ("I look.",), tool_calls=(call,)),
        tool("call_a", "The arguments are not JSON."),
    )

    _, body = await reply_to(
        vendor, vendor.vendor.answered("A"), Request(messages=messages, tools=(ZOOM,))
    )

    text = str(body)
    assert "malformed_arguments" in text
    assert "zoom_in_zoom_in_" in text and "zoom in!" not in text


async def test_a_streamed_call_without_an_index_continues_the_last_one() -> None:
    (vendor, *_) = TOOL_VENDORS
    pieces: list[Any] = [
        {"id": "x", "function": {"name": "zoom", "arguments": '{"box":'}},
        {"function": {"arguments": "[1,2,3,4]}"}},
        {"id": "y", "function": {"name": "rotate", "arguments": "{}"}},
    ]
    chunks: list[Any] = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})

    reply, _ = await reply_to(vendor, stream([*chunks, "[DONE]"]), streamed=True)

    assert reply.tool_calls == (
        ToolCall(id="x", name="zoom", arguments='{"box":[1,2,3,4]}'),
        ToolCall(id="y", name="rotate", arguments="{}"),
    )


async def test_a_call_without_an_id_gets_one_and_arguments_may_be_an_object() -> None:
    function = {"name": "zoom", "arguments": {"box": [1, 2, 3, 4]}}
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    (vendor, *_) = TOOL_VENDORS
    assert vendor.vendor is OPENAI

    reply, _ = await reply_to(vendor, answer(body))

    assert reply.tool_calls == (ToolCall(id="call-0", name="zoom", arguments='{"box":[1,2,3,4]}'),)


@pytest.mark.parametrize(
    "words",
    [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "registry.ollama.ai/library/moondream:latest does not support tools",
    ],
)
async def test_a_server_without_tool_calls_is_an_error_that_names_the_text_form(words: str) -> None:
    (vendor, *_) = TOOL_VENDORS

    with pytest.raises(Rejected, match="use --tool-form text") as caught:
        await reply_to(vendor, OPENAI.error(400, words))

    assert caught.value.hopeless


@plain_and_streamed
async def test_a_call_that_gemini_could_not_write_is_a_malformed_call(streamed: bool) -> None:
    vendor = next(it for it in TOOL_VENDORS if it.vendor is GOOGLE)
    candidate = {
        "content": None,
        "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: zoom(box=",
    }
    body = {"candidates": [candidate]}

    reply, _ = await reply_to(
        vendor, stream([body]) if streamed else answer(body), streamed=streamed
    )

    (call,) = reply.tool_calls
    assert call.arguments == "Malformed function call: zoom(box="
    assert reply.state == "ok"


@all_vendors
@plain_and_streamed
async def test_a_key_in_a_call_is_masked(
    vendor: ToolVendor, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY_OF_THIS_TEST", KEY)
    calls = ("call_a", "zoom", f'{{"box":"{KEY}"}}')
    served = vendor.replied(calls, thought=f"The key is {KEY}.", streamed=streamed)
    with serving(served) as server:
        profile = Profile(base_url=server.url, stream=streamed, api_key_env="A_KEY_OF_THIS_TEST")
        model: Any = registry.model(f"{vendor.vendor.kind}/m", profile).model
        reply = await model.generate(QUESTION)
        await model.close()

    assert reply.tool_calls
    assert KEY not in repr(reply)
