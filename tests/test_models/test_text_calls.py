"""Tools as text: which texts are calls, and what a model without native calls gets."""

import json

import pytest

from snellen.core.marked_calls import with_calls
from snellen.core.model import Reply, Request
from snellen.core.tools import ToolSpec, is_malformed
from snellen.media.content import Image, Message, ToolCall, assistant, system, tool, user
from snellen.models.text_calls import in_text, with_text_calls

ZOOM = ToolSpec(
    name="zoom",
    description="Show a part.",
    parameters={"type": "object", "properties": {"box": {"type": "array"}}},
)
CALL = '{"name": "zoom", "arguments": {"box": [1, 2, 3, 4]}}'
BOX = ("zoom", '{"box":[1,2,3,4]}')


def calls(text: str) -> tuple[str, list[tuple[str, str]]]:
    reply = with_calls(Reply(text=text))
    return reply.text, [(call.name, call.arguments) for call in reply.tool_calls]


TEXTS = {
    # what a model wrote: the text that is left, and the calls
    "no call": ("The answer is A.", "The answer is A.", []),
    "a call": (f"<tool_call>{CALL}</tool_call>", "", [BOX]),
    "lines around": (f"<tool_call>\n{CALL}\n</tool_call>\n", "", [BOX]),
    "text around": (f"I look. <tool_call>{CALL}</tool_call> So.", "I look.\nSo.", [BOX]),
    "two calls": (f"<tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>", "", [BOX, BOX]),
    "a fence": (f"I look.\n```tool_call\n{CALL}\n```\nSo.", "I look.\nSo.", [BOX]),
    "a fence without an end": (f"```tool_call\n{CALL}", "", [BOX]),
    "no arguments": ('<tool_call>{"name": "grid"}</tool_call>', "", [("grid", "{}")]),
    "JSON without a mark": (CALL, CALL, []),
    "another fence": (f"```json\n{CALL}\n```", f"```json\n{CALL}\n```", []),
    "a fence in a line": (f"Use ```tool_call {CALL}```", f"Use ```tool_call {CALL}```", []),
    "thoughts": (
        f"<think><tool_call>{CALL}</tool_call></think>A",
        f"<think><tool_call>{CALL}</tool_call></think>A",
        [],
    ),
    "after thoughts": (
        f"<think>Hm.</think>I look. <tool_call>{CALL}</tool_call>",
        "<think>Hm.</think>I look.",
        [BOX],
    ),
}
MALFORMED = {
    "words": "<tool_call>zoom into the corner</tool_call>",
    "a comma too many": '<tool_call>{"name": "zoom", "arguments": {},}</tool_call>',
    "no name": '<tool_call>{"arguments": {}}</tool_call>',
    "another field": '<tool_call>{"name": "zoom", "parameters": {}}</tool_call>',
    "arguments as text": '<tool_call>{"name": "zoom", "arguments": "{}"}</tool_call>',
    "a list": f"<tool_call>[{CALL}]</tool_call>",
    "two objects": f"<tool_call>{CALL}{CALL}</tool_call>",
    "no end": '<tool_call>{"name": "zoom", "argum',
    "nothing": "<tool_call></tool_call>",
    "half a surrogate pair": '<tool_call>{"name": "\ud83d", </tool_call>',
}


@pytest.mark.parametrize("kind", TEXTS)
def test_only_a_marked_object_is_a_call(kind: str) -> None:
    written, left, expected = TEXTS[kind]

    assert calls(written) == (left, expected)


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_mark_around_anything_else_is_a_malformed_call(kind: str) -> None:
    reply = with_calls(Reply(text=f"I look. {MALFORMED[kind]}"))

    assert [is_malformed(call) for call in reply.tool_calls] == [True]
    assert reply.text == "I look."


def test_an_unclosed_call_does_not_hide_the_next() -> None:
    assert calls(f"<tool_call>oops <tool_call>{CALL}</tool_call>") == ("", [("", "oops"), BOX])


def test_a_reply_keeps_what_the_model_wrote() -> None:
    written = f"I  look.\n\n<tool_call>{CALL}</tool_call> \n"
    reply = with_calls(Reply(text=written, stop="stop"), earlier=3)

    assert json.loads(reply.continuation or "") == written
    assert [call.id for call in reply.tool_calls] == ["call-4"]
    sent = in_text(
        Request(
            messages=(
                user("Which?"),
                Message(
                    "assistant",
                    (reply.text,),
                    tool_calls=reply.tool_calls,
                    continuation=reply.continuation,
                ),
                tool("call-4", "Nothing."),
            )
        )
    )
    assert sent.messages[1] == assistant(written)


def test_a_model_gets_the_instructions_before_the_question_and_results_as_a_user() -> None:
    crop = Image(b"", digest="sha256:ab")
    zoom_call = ToolCall(id="1", name="zoom", arguments="{}")
    messages = (
        system("Be brief."),
        user("Which?"),
        Message("assistant", ("I look.",), tool_calls=(zoom_call,)),
        tool("1", "Picture 2:", crop),
        tool("2", "Error: no."),
        user("Answer now."),
    )

    sent = in_text(Request(messages=messages, tools=(ZOOM,)))

    assert sent.tools == ()
    assert [message.role for message in sent.messages] == ["system", "user", "assistant", "user"]
    instructions, question = sent.messages[1].content
    assert isinstance(instructions, str) and question == "Which?"
    assert '{"name":"zoom","description":"Show a part."' in instructions
    assert '<tool_call>{"name": "NAME", "arguments": {...}}</tool_call>' in instructions
    assert sent.messages[2] == assistant(
        'I look.\n<tool_call>{"name": "zoom", "arguments": {}}</tool_call>'
    )
    assert sent.messages[3] == user(
        *("Result of zoom:", "Picture 2:", crop),
        *("Result of the call:", "Error: no.", "Answer now."),
    )
    assert not any(message.has_tools for message in sent.messages)


async def test_a_request_without_tools_is_passed_on_unchanged() -> None:
    class Echo:
        name = "echo"

        async def generate(self, request: Request) -> Reply:
            return Reply(text=f"{request.messages[0].text} <tool_call>{CALL}</tool_call>")

    request = Request(messages=(user("Which?"),))

    reply = await with_text_calls(Echo()).generate(request)

    assert reply == Reply(text=f"Which? <tool_call>{CALL}</tool_call>")
