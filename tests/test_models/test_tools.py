"""Calls of tools in requests and replies: checked, stored, and refused where they cannot be sent.

No benchmark asks with tools yet; this is what those that will rely on.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen.core.model import Generation, Reply, Request, check_tools, request_digest
from snellen.core.outputs import check_reply
from snellen.core.profile import ImageLimits, Serve
from snellen.core.tools import MalformedCall, ToolSpec, call_arguments
from snellen.errors import Rejected
from snellen.media.content import Image, Message, ToolCall, assistant, system, tool, user
from snellen.models.executors.serve import ModelServer, Served
from snellen.models.limited import limited
from snellen.models.recorded import Recorded
from snellen.models.sliding_window import SlidingWindow
from snellen.registry.models import from_object
from snellen.store import Key, ReplyRecord, Run, reply_record

ZOOM = ToolSpec(
    name="zoom",
    description="Shows a part of a picture.",
    parameters={"type": "object", "properties": {"box": {"type": "array"}}},
)
CROP = ToolCall(id="call-1", name="crop", arguments='{"x": 3}')
WITH_TOOLS = (
    user("What is in the corner?"),
    Message("assistant", ("I look closer.",), tool_calls=(CROP,)),
    tool("call-1", "A cat."),
)


class Model:
    name = "mine"

    async def generate(self, request: Request) -> Reply:
        return Reply(text="yes")


class TakesTools(Model):
    takes_tools = True
    takes_pictures_in_results = True
    wants_frames = False
    notes = ("a note",)


def wrappers(model: Model, folder: Path) -> list[Any]:
    """The model in all that passes requests on to it."""
    server = ModelServer("mine", Serve(kind="vllm"), logs=folder, environment={}, patience=1)

    class InBatches(type(model)):  # type: ignore[misc]
        def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]:
            return [Reply(text="yes") for _ in requests]

    return [
        limited(model, ImageLimits(max_side=8)),
        Served(model, server),
        SlidingWindow(model, 4),
        from_object(model).model,
        from_object(InBatches()).model,
    ]


async def test_wrappers_say_what_the_model_inside_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "vllm"  # looked up, and not started
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    model = TakesTools()
    for wrapped in wrappers(model, tmp_path):
        for name in ("name", "takes_tools", "takes_pictures_in_results", "wants_frames", "notes"):
            assert getattr(wrapped, name) == getattr(model, name), (type(wrapped), name)
        await wrapped.close()
    for wrapped in wrappers(Model(), tmp_path):
        assert not getattr(wrapped, "takes_tools", False)
        assert getattr(wrapped, "wants_frames", True)
        await wrapped.close()


def test_a_request_without_tools_has_the_digest_that_56a9bc9_gave_it() -> None:
    request = Request(
        messages=(
            system("Be brief."),
            user("What is this?", Image(b"", digest="sha256:ab")),
            assistant("A cat."),
            user("Sure?"),
        ),
        choices=("yes", "no"),
        generation=Generation(max_tokens=8, temperature=0),
        seed=3,
        stop=("\n",),
    )

    assert request_digest(request) == "ed444cc5a3096490fcae210642c518e7"


def test_what_a_message_says_of_tools_is_part_of_the_digest() -> None:
    first, called, answered = WITH_TOOLS
    other_call = replace(called, tool_calls=(replace(CROP, arguments="{}"),))
    requests = [
        (first, called, answered),
        (first, other_call, answered),
        (first, called, tool("call-2", "A cat.")),
        (first, assistant("I look closer."), answered),
    ]

    digests = {request_digest(Request(messages=messages)) for messages in requests}

    assert len(digests) == len(requests)


def test_the_tools_that_a_request_offers_are_part_of_its_digest() -> None:
    messages = WITH_TOOLS[:1]
    offers = [
        (),
        (ZOOM,),
        (replace(ZOOM, name="crop"),),
        (replace(ZOOM, description="Shows a part of the picture."),),
        (replace(ZOOM, parameters={"type": "object"}),),
        (ZOOM, replace(ZOOM, name="crop")),
    ]

    digests = {request_digest(Request(messages=messages, tools=tools)) for tools in offers}

    assert len(digests) == len(offers)


def test_what_continues_a_conversation_is_part_of_the_digest() -> None:
    first, called, answered = WITH_TOOLS
    signed = replace(called, continuation='{"signature": "abc"}')

    digests = {
        request_digest(Request(messages=messages))
        for messages in ((first, called, answered), (first, signed, answered))
    }

    assert len(digests) == 2


def test_the_arguments_of_a_call_are_a_json_object_or_malformed() -> None:
    assert call_arguments(CROP) == {"x": 3}
    assert call_arguments(replace(CROP, arguments="")) == {}
    for arguments in ('{"x": 3', "[3]", "null", "x=3", "\ud800"):
        with pytest.raises(MalformedCall):
            call_arguments(replace(CROP, arguments=arguments))


def test_a_back_end_that_cannot_send_tools_refuses_them() -> None:
    request = Request(messages=WITH_TOOLS)
    offering = Request(messages=WITH_TOOLS[:1], tools=(ZOOM,))

    with pytest.raises(Rejected, match=r"^mine: the request contains tools or tool calls, and"):
        check_tools(request, Model())

    with pytest.raises(Rejected, match=r"^mine: the request contains tools or tool calls, and"):
        check_tools(offering, Model())

    check_tools(request, TakesTools())
    check_tools(offering, TakesTools())
    check_tools(Request(messages=WITH_TOOLS[:1]), Model())


def test_a_callers_object_may_use_the_names_of_traits_for_something_else() -> None:
    class Notebook(Model):
        notes = "seen: nothing yet"

        def takes_tools(self) -> bool:
            return True

    model = from_object(Notebook()).model

    assert not hasattr(model, "notes")
    with pytest.raises(Rejected, match="cannot send them"):
        check_tools(Request(messages=WITH_TOOLS), model)


async def test_a_recorded_conversation_with_tools_is_answered_again() -> None:
    request = Request(messages=WITH_TOOLS)
    recorded = Recorded("recorded/x", {request_digest(request): Reply(text="A cat.")})

    check_tools(request, recorded)
    assert await recorded.generate(request) == Reply(text="A cat.")


def test_limits_of_pictures_hide_no_tools() -> None:
    check_tools(Request(messages=WITH_TOOLS), limited(TakesTools(), ImageLimits(max_side=8)))


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ("crop", "mine: Reply.tool_calls is a str, not a list of ToolCall."),
        ([{"id": "1"}], "mine: Reply.tool_calls[0] is a dict, not a ToolCall."),
        (
            [ToolCall(id="1", name="crop", arguments={"x": 3})],  # type: ignore[arg-type]
            "mine: Reply.tool_calls[0].arguments is a dict, not text.",
        ),
    ],
)
def test_calls_of_another_type_fail_their_question(calls: Any, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_reply(Reply(tool_calls=calls), "mine")

    assert str(caught.value) == reason


def test_a_reply_that_only_calls_tools_is_not_empty() -> None:
    assert check_reply(Reply(tool_calls=[CROP]), "mine").tool_calls == (CROP,)  # type: ignore[arg-type]
    assert Reply(tool_calls=(CROP,)).state == "ok"
    assert Reply().state == "empty"


def test_calls_come_back_from_the_journal_and_a_reply_without_them_stores_none(
    tmp_path: Path,
) -> None:
    replies = [
        Reply(text="I look.", tool_calls=(CROP,), continuation='{"signature": "abc"}'),
        Reply(text="A cat."),
    ]
    run = Run(tmp_path)
    for step, reply in enumerate(replies):
        run.append_reply(reply_record(Key("a", step=step), "digest", "", reply=reply))
    run.close()

    records = [record for record in Run(tmp_path).replies() if isinstance(record, ReplyRecord)]

    assert [record.as_reply() for record in records] == replies
    first, second = (tmp_path / "replies.jsonl").read_text().splitlines()
    assert '"tool_calls":[{"id":"call-1","name":"crop","arguments":"{\\"x\\": 3}"}]' in first
    assert "tool_calls" not in second
