"""What a server that speaks chat completions is asked, and what becomes of each of its answers."""

import asyncio
import json
import traceback
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from snellen.core.model import Generation, Reply, Request, Usage
from snellen.core.profile import Profile, Timeouts
from snellen.errors import ModelError, Overloaded, Rejected
from snellen.media import images
from snellen.media.content import Frame, Image, Video, assistant, system, user
from snellen.models.openai import OpenAI, open_model
from tests.servers import (
    Answer,
    Decide,
    ReceivedRequest,
    closes,
    completion,
    drips,
    hangs,
    in_turn,
    page,
    refusing,
    resets,
    serving,
    status,
)

IMAGES = Path(__file__).parents[2] / "src/snellen/benchmarks/rows/own/images"
HELLO = Request(messages=(user("hello"),))
KEY = "sk-a-key-that-nobody-may-see"


@asynccontextmanager
async def opened(url: str, *, api_key: str | None = None, **profile: Any) -> AsyncIterator[OpenAI]:
    model = open_model("m", profile=Profile(base_url=url, **profile), api_key=api_key)
    try:
        yield model
    finally:
        await model.close()


async def reply_to(answer: Answer | Decide, request: Request = HELLO, **settings: Any) -> Reply:
    with serving(answer) as server:
        async with opened(server.url, **settings) as model:
            return await model.generate(request)


async def error_of(answer: Answer | Decide, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await reply_to(answer, **settings)
    return caught.value


async def sent(request: Request) -> Any:
    """The body that a server gets."""
    with serving(completion("A")) as server:
        async with opened(server.url) as model:
            await model.generate(request)
    return server.requests[0].json


# -- there


async def test_a_question_of_words_is_a_plain_string_and_nothing_unasked_is_sent() -> None:
    assert await sent(HELLO) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
    }


async def test_a_conversation_keeps_its_roles_and_order() -> None:
    turns = (system("Be brief."), user("1", "2"), assistant("3"), user("4"))

    assert (await sent(Request(messages=turns)))["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1\n2"},
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": "4"},
    ]


async def test_text_and_images_are_interleaved_as_they_came() -> None:
    dots, circle = Image(IMAGES / "dots.jpg"), Image(IMAGES / "circle.png")
    body = await sent(Request(messages=(user("before", dots, "between", circle, "after"),)))

    parts = body["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    assert [part.get("text") for part in parts[::2]] == ["before", "between", "after"]


@pytest.mark.parametrize(("name", "mime"), [("dots.jpg", "jpeg"), ("circle.png", "png")])
async def test_bytes_at_the_server_are_those_on_disk(name: str, mime: str) -> None:
    body = await sent(Request(messages=(user(Image(IMAGES / name)),)))

    head, _, data = body["messages"][0]["content"][0]["image_url"]["url"].partition(",")
    assert head == f"data:image/{mime};base64"
    assert b64decode(data, validate=True) == (IMAGES / name).read_bytes()


async def test_settings_go_under_their_names_zeros_too() -> None:
    generation = Generation(max_tokens=7, temperature=0.0, top_p=0.5, extra={"top_k": 1})
    request = Request(messages=HELLO.messages, generation=generation, seed=0, stop=("\n", "Q:"))

    body = await sent(request)

    del body["model"], body["messages"]
    assert body == {
        "max_tokens": 7,
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 1,
        "seed": 0,
        "stop": ["\n", "Q:"],
    }


async def test_extra_fields_win_over_ours_and_none_leaves_ours_out() -> None:
    extra = {"temperature": None, "top_p": 0.1}
    generation = Generation(temperature=0.0, top_p=0.5, extra=extra)

    body = await sent(Request(messages=HELLO.messages, generation=generation))

    assert "temperature" not in body
    assert body["top_p"] == 0.1


async def test_the_newer_name_of_the_token_limit_takes_the_place_of_the_older() -> None:
    generation = Generation(max_tokens=7, extra={"max_completion_tokens": 900})

    body = await sent(Request(messages=HELLO.messages, generation=generation))

    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 900


def test_the_official_service_gets_the_newer_name() -> None:
    model = open_model("m", profile=Profile(base_url="https://api.openai.com/v1"), api_key=None)
    request = Request(messages=HELLO.messages, generation=Generation(max_tokens=7))

    body = json.loads(model._body(request))

    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 7


async def test_a_video_goes_as_its_frames_in_order() -> None:
    pictures = [images.load(Image(path)) for path in sorted(IMAGES.glob("*.png"))[:2]]
    frames = tuple(Frame(time=float(time), image=picture) for time, picture in enumerate(pictures))
    video = Video(Path("v.mp4"), frames=frames)
    with serving(completion("A")) as server:
        async with opened(server.url) as model:
            await model.generate(Request(messages=(user("before", video, "after"),)))
    content = json.loads(server.requests[0].body)["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "image_url", "text"]
    sent = [b64decode(part["image_url"]["url"].partition(",")[2]) for part in content[1:3]]
    assert sent == [picture.source for picture in pictures]


async def test_a_video_without_frames_is_turned_down_before_anything_is_sent() -> None:
    with serving(completion("A")) as server:
        async with opened(server.url) as model:
            with pytest.raises(Rejected, match=r"v\.mp4: no frames"):
                await model.generate(Request(messages=(user(Video(Path("v.mp4"))),)))
    assert server.requests == []


async def test_the_key_goes_in_its_header() -> None:
    with serving(completion("A")) as server:
        async with opened(server.url, api_key=KEY) as model:
            await model.generate(HELLO)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


# -- replies


@pytest.mark.parametrize(
    ("answer", "text", "stop", "state"),
    [
        (completion("A"), "A", "stop", "ok"),
        (completion("A", stop=None), "A", None, "ok"),
        (completion("é\u2028\U0001f600"), "é\u2028\U0001f600", "stop", "ok"),
        (completion(""), "", "stop", "empty"),
        (completion(None), "", "stop", "empty"),
        (completion("A", stop="length"), "A", "length", "truncated"),
        (completion("", stop="length"), "", "length", "truncated"),
        (completion("", stop="content_filter"), "", "filter", "refused"),
        (completion("I was ab", stop="content_filter"), "I was ab", "filter", "refused"),
        (completion(None, refusal="I cannot."), "", "filter", "refused"),
        (completion("A", refusal=None), "A", "stop", "ok"),
        (status(400, "flagged", code="content_filter"), "", "filter", "refused"),
        (
            completion([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]),
            "AB",
            "stop",
            "ok",
        ),
        (completion("<think>hm</think>A"), "<think>hm</think>A", "stop", "ok"),
    ],
)
async def test_a_reply_of_every_kind_has_its_state(
    answer: Answer, text: str, stop: str | None, state: str
) -> None:
    reply = await reply_to(answer)
    assert (reply.text, reply.stop, reply.state) == (text, stop, state)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_is_kept_apart(name: str) -> None:
    message: dict[str, Any] = {name: "Let me see."}
    reply = await reply_to(completion("A", **message))
    assert (reply.text, reply.reasoning) == ("A", "Let me see.")


async def test_tokens_are_as_the_server_counted_them() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 5},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    assert (await reply_to(completion("A", usage=usage))).usage == Usage(
        input=10, output=7, reasoning=5, cached=4
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ([], None),
        ({"prompt_tokens": 1, "completion_tokens_details": None}, Usage(input=1)),
        ({"prompt_tokens": "1", "completion_tokens_details": "none"}, Usage()),
    ],
)
async def test_tokens_that_are_not_counted_are_absent(usage: Any, expected: Usage | None) -> None:
    assert (await reply_to(completion("A", usage=usage))).usage == expected


async def test_fields_of_another_type_than_theirs_are_absent() -> None:
    reply = await reply_to(completion("A", reasoning=["x"]))
    assert (reply.text, reply.stop, reply.reasoning) == ("A", "stop", None)
    assert (await reply_to(completion("A", stop=3))).stop is None


async def test_a_reply_is_timed() -> None:
    times = (await reply_to(completion("A", delay=0.05))).times
    assert times is not None and times.first is not None and times.total is not None
    assert 0.04 < times.first <= times.total


async def test_a_reply_of_five_megabytes_is_whole() -> None:
    assert (await reply_to(completion("x" * 5_000_000))).text == "x" * 5_000_000


async def test_a_reply_that_drips_is_whole() -> None:
    assert (await reply_to(drips(completion("A"), 0.0005))).text == "A"


async def test_replies_go_to_those_who_asked() -> None:
    def echo(request: ReceivedRequest) -> Answer:
        number = int(request.json["messages"][0]["content"])
        return completion(str(number), delay=0.03 if number % 2 else 0.0)

    with serving(echo) as server:
        async with opened(server.url) as model:
            requests = [Request(messages=(user(str(number)),)) for number in range(40)]
            replies = await asyncio.gather(*map(model.generate, requests))
    assert [reply.text for reply in replies] == [str(number) for number in range(40)]


# -- no reply, perhaps later


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page(), "the reply is not JSON, but '<html><body>Bad gateway</body></html>'"),
        (Answer(200, completion("A").body[:-9]), 'the reply is not JSON, but \'{"object"'),
        (Answer(200, b'{"choices": "\xff\xfe"}'), 'the reply is not JSON, but \'{"choices"'),
        (Answer(200, b""), "the reply is not JSON, but nothing"),
        (Answer(200, b"null"), "the reply is not a chat completion, but 'null'"),
        (Answer(200, b'{"error": "busy"}'), "/v1: 500: busy"),
        (Answer(200, b'{"choices": []}'), "the reply is not a chat completion, but"),
        (Answer(200, b'{"choices": null}'), "the reply is not a chat completion, but"),
        (Answer(200, b'{"choices": [{"text": "A"}]}'), "the reply is not a chat completion, but"),
        (Answer(200, b'{"choices": [{"message": null}]}'), "the reply is not a chat completion"),
        (resets(completion("A" * 1000)), "the connection broke in the middle of a reply"),
        (closes(), "the server closed the connection without a reply"),
    ],
)
async def test_a_body_that_is_no_reply_is_asked_for_again(answer: Answer, words: str) -> None:
    error = await error_of(answer)
    assert isinstance(error, Overloaded)
    assert words in str(error)
    assert not error.throttled


@pytest.mark.parametrize("number", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_a_server_that_is_busy_is_asked_again(number: int) -> None:
    error = await error_of(status(number, "so busy"))
    assert isinstance(error, Overloaded)
    assert f"{number}: so busy" in str(error)
    assert error.throttled == (number == 429)
    assert error.retry_after is None


@pytest.mark.parametrize("number", [429, 503])
async def test_the_wait_that_a_server_asks_for_is_kept(number: int) -> None:
    error = await error_of(status(number, retry_after="3"))
    assert isinstance(error, Overloaded)
    assert error.retry_after == 3.0


async def test_a_server_that_hangs_is_left_in_time() -> None:
    error = await error_of(hangs(), timeout=Timeouts(first=0.1))
    assert isinstance(error, Overloaded)
    assert "no reply started within 0.1 s" in str(error)


async def test_a_server_that_is_not_there_may_come() -> None:
    with refusing() as url:
        async with opened(url) as model:
            with pytest.raises(Overloaded, match="nothing accepts connections there"):
                await model.generate(HELLO)


async def test_after_an_error_the_next_question_is_answered() -> None:
    failures = (resets(completion("A" * 99)), status(500), page(), completion("B"))
    with serving(in_turn(*failures)) as server:
        async with opened(server.url) as model:
            for _ in range(3):
                with pytest.raises(Overloaded):
                    await model.generate(HELLO)
            assert (await model.generate(HELLO)).text == "B"


async def test_above_its_limit_a_server_turns_away_and_answers_the_rest() -> None:
    with serving(completion("A", delay=0.1), at_once=3) as server:
        async with opened(server.url) as model:
            calls = (model.generate(HELLO) for _ in range(5))
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
    turned_away = [
        outcome for outcome in outcomes if isinstance(outcome, Overloaded) and outcome.throttled
    ]
    assert len(turned_away) == 2
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == server.most == 3


# -- no reply, and none to be expected


@pytest.mark.parametrize(
    ("answer", "words", "hopeless"),
    [
        (status(400, "too many images"), "400: too many images", False),
        (status(400, "line\n break"), "400: line break", False),
        (status(403, "not allowed"), "403: not allowed", False),
        (status(413, "too large"), "413: too large", False),
        (status(422, "bad field"), "422: bad field", False),
        (page("<h1>Go away</h1>", 403), "403: '<h1>Go away</h1>'", False),
        (Answer(400, b'{"error": "plain words"}'), "400: plain words", False),
        (Answer(400, b'{"message": "bare", "code": 400}'), "400: bare", False),
        (Answer(422, b'{"detail": [{"msg": "x"}]}'), '422: \'{"detail"', False),
        (Answer(400, b""), "400: nothing", False),
        (
            status(404, "no such model"),
            "404: no such model. Does the server have a model 'm'",
            True,
        ),
        (
            status(404, "No such model."),
            "404: No such model. Does the server have a model 'm'",
            True,
        ),
        (status(404, "Which model?"), "404: Which model? Does the server have a model 'm'", True),
        (status(402, "no money"), "402: no money. Check the account's credit and billing.", True),
        (status(402, "No money."), "402: No money. Check the account's credit and billing.", True),
        (
            status(429, "no money", code="insufficient_quota"),
            "Check the account's credit and billing.",
            True,
        ),
        (status(307), "307: the server redirects to nowhere", True),
    ],
)
async def test_a_refused_question_is_not_asked_again(
    answer: Answer, words: str, hopeless: bool
) -> None:
    error = await error_of(answer)
    assert isinstance(error, Rejected)
    assert words in str(error)
    assert error.hopeless == hopeless


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"api_key": KEY, "api_key_env": "MY_KEY"}, "Is the key in MY_KEY right?"),
        ({"api_key": KEY}, "Is the key in OPENAI_API_KEY right?"),
        ({}, "Pass the name of the environment variable that holds the key with --api-key-env."),
    ],
)
async def test_a_wrong_key_is_met_with_where_it_came_from(
    settings: dict[str, str], words: str
) -> None:
    error = await error_of(status(401, "who are you"), **settings)
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert f"401: who are you. {words}" in str(error)


async def test_a_long_error_page_is_quoted_in_short() -> None:
    for answer in (page("x" * 9000, 400), status(400, "x" * 9000)):
        words = str(await error_of(answer))
        assert "x" * 300 in words
        assert "x" * 301 not in words


# -- the key


def echo(number: int) -> Callable[[ReceivedRequest], Answer]:
    return lambda request: status(number, f"no: {request.headers['authorization']}" * 9)


def echo_in_a_page(request: ReceivedRequest) -> Answer:
    return page(f"<html>{request.headers}</html>")


@pytest.mark.parametrize(
    "answer",
    [
        echo(401),
        echo(400),
        echo(500),
        echo_in_a_page,
        closes(),
        resets(completion("A" * 99)),
        hangs(),
    ],
)
async def test_the_key_is_in_no_message_traceback_or_output(
    answer: Answer | Decide, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    error = await error_of(answer, api_key=KEY, timeout=Timeouts(first=0.1))
    seen = "".join([*traceback.format_exception(error), caplog.text, *capfd.readouterr()])
    assert type(error).__name__ in seen
    assert KEY not in seen


async def test_a_reply_that_repeats_the_key_is_kept_without_it() -> None:
    reply = await reply_to(
        lambda request: completion(request.headers["authorization"]), api_key=KEY
    )
    assert reply.text == "Bearer [key]"
