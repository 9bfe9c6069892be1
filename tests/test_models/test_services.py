"""What every back end of a service does alike: what its server is asked, each in its own format,
and what becomes of answers, errors and streams."""

import json
import traceback
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

import snellen
from snellen import registry
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Generates, Generation, Reply, Request, Usage
from snellen.core.profile import ImageLimits, Profile, Timeouts, read_profile
from snellen.core.sample import Sample
from snellen.errors import ModelError, Overloaded, Rejected, UsageError
from snellen.media import images, video
from snellen.media.content import Frame, Image, Video, assistant, system, user
from snellen.testing import check_model
from tests.servers import (
    Answer,
    Decide,
    ReceivedRequest,
    closes,
    drips,
    hangs,
    in_turn,
    page,
    refusing,
    resets,
    serving,
    status,
)
from tests.vendors import (
    ANTHROPIC,
    GOOGLE,
    OPENAI,
    RESPONSES,
    VENDORS,
    Vendor,
    answer,
    event,
    google_error,
    stream,
)

IMAGES = Path(__file__).parents[2] / "src/snellen/benchmarks/rows/own/images"
HELLO = Request(messages=(user("hello"),))
KEY = "sk-a-key-that-nobody-may-see"
VARIABLE = "A_KEY_OF_THIS_TEST"
all_of_them = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)


def opened(vendor: Vendor, url: str, **profile: Any) -> Any:
    return registry.model(f"{vendor.kind}/m", Profile(**{**profile, "base_url": url})).model


@asynccontextmanager
async def asking(vendor: Vendor, url: str, **profile: Any) -> AsyncIterator[Generates]:
    model = opened(vendor, url, **profile)
    try:
        yield model
    finally:
        await model.close()


async def reply_to(
    vendor: Vendor, answer: Answer | Decide, request: Request = HELLO, **profile: Any
) -> Reply:
    with serving(answer) as server:
        async with asking(vendor, server.url, **profile) as model:
            return await model.generate(request)


async def error_of(
    vendor: Vendor, answer: Answer | Decide, request: Request = HELLO, **profile: Any
) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await reply_to(vendor, answer, request, **profile)
    return caught.value


async def http_request(vendor: Vendor, request: Request, **profile: Any) -> ReceivedRequest:
    """What a server gets."""
    with serving(vendor.answered("A")) as server:
        async with asking(vendor, server.url, **profile) as model:
            await model.generate(request)
    return server.requests[0]


# -- there


@all_of_them
async def test_pictures_and_words_are_interleaved_and_each_is_its_file_to_the_byte(
    vendor: Vendor,
) -> None:
    dots, circle = IMAGES / "dots.jpg", IMAGES / "circle.png"
    parts = ("before", Image(dots), "between", Image(circle), "after")

    request = await http_request(vendor, Request(messages=(user(*parts),)))

    expected = ["before", dots.read_bytes(), "between", circle.read_bytes(), "after"]
    assert vendor.turns(request) == [("user", expected)]


@all_of_them
async def test_a_video_goes_as_its_frames_in_order(vendor: Vendor) -> None:
    pictures = [images.load(Image(path)) for path in sorted(IMAGES.glob("*.png"))[:3]]
    frames = tuple(Frame(time=float(time), image=picture) for time, picture in enumerate(pictures))
    shown = user("before", Video(Path("v.mp4"), frames=frames), "after")

    request = await http_request(vendor, Request(messages=(shown,)))

    assert vendor.turns(request) == [
        ("user", ["before", *(picture.source for picture in pictures), "after"])
    ]


@all_of_them
async def test_a_video_without_frames_is_turned_down_before_anything_is_sent(
    vendor: Vendor,
) -> None:
    with serving(vendor.answered("A")) as server:
        async with asking(vendor, server.url) as model:
            with pytest.raises(Rejected, match=r"v\.mp4: no frames"):
                await model.generate(Request(messages=(user(Video(Path("v.mp4"))),)))
    assert server.requests == []


@all_of_them
async def test_a_conversation_keeps_its_roles_and_order(vendor: Vendor) -> None:
    turns = (system("Be brief."), user("1"), assistant("2"), user("3", Image(IMAGES / "dots.jpg")))

    request = await http_request(vendor, Request(messages=turns))

    assert vendor.turns(request) == [
        ("system", ["Be brief."]),
        ("user", ["1"]),
        ("assistant", ["2"]),
        ("user", ["3", (IMAGES / "dots.jpg").read_bytes()]),
    ]


@pytest.mark.parametrize("vendor", [ANTHROPIC, GOOGLE], ids=lambda vendor: vendor.kind)
@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ((user("1"), system("Be brief.")), "not the first"),
        ((system("a"), system("b"), user("1")), "not the first message"),
        ((system(Image(IMAGES / "dots.jpg")), user("1")), "pictures"),
    ],
)
async def test_what_a_system_cannot_say_there_is_turned_down(
    vendor: Vendor, messages: Any, words: str
) -> None:
    error = await error_of(vendor, vendor.answered("A"), Request(messages=messages))
    assert isinstance(error, Rejected)
    assert words in str(error)


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [
        (
            OPENAI,
            {"max_tokens": 7, "temperature": 0.0, "top_p": 0.5, "seed": 0, "stop": ["Q:"], "k": 1},
        ),
        (
            RESPONSES,
            {"max_output_tokens": 7, "temperature": 0.0, "top_p": 0.5, "store": False, "k": 1},
        ),
        (
            ANTHROPIC,
            {"max_tokens": 7, "temperature": 0.0, "top_p": 0.5, "stop_sequences": ["Q:"], "k": 1},
        ),
        (
            GOOGLE,
            {
                "generationConfig": {
                    "maxOutputTokens": 7,
                    "temperature": 0.0,
                    "topP": 0.5,
                    "seed": 0,
                    "stopSequences": ["Q:"],
                },
                "k": 1,
            },
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Vendor) else "",
)
async def test_settings_go_under_their_names_zeros_too(vendor: Vendor, expected: Any) -> None:
    generation = Generation(max_tokens=7, temperature=0.0, top_p=0.5, extra={"k": 1})
    stop = () if vendor is RESPONSES else ("Q:",)
    request = Request(messages=HELLO.messages, generation=generation, seed=0, stop=stop)

    body = (await http_request(vendor, request)).json

    for name in ("model", "messages", "input", "contents"):
        body.pop(name, None)
    assert body == expected


async def test_words_to_stop_at_are_turned_down_where_they_cannot_be_told() -> None:
    request = Request(messages=HELLO.messages, stop=("Q:",))
    error = await error_of(RESPONSES, RESPONSES.answered("A"), request)
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert "openai/NAME" in str(error)


async def test_anthropic_is_told_its_version_and_how_many_tokens_whoever_asks() -> None:
    request = await http_request(ANTHROPIC, HELLO)
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.json["max_tokens"] == 4096


async def test_anthropic_is_told_no_text_of_white_space_alone() -> None:
    request = await http_request(ANTHROPIC, Request(messages=(user("a", "", "\n", "b"),)))
    assert ANTHROPIC.turns(request) == [("user", ["a", "b"])]


async def test_a_gif_goes_to_google_as_a_png_of_the_same_pixels(tmp_path: Path) -> None:
    import PIL.Image

    path = tmp_path / "still.gif"
    PIL.Image.open(IMAGES / "circle.png").convert("P").save(path)

    [(_, [sent])] = GOOGLE.turns(await http_request(GOOGLE, Request(messages=(user(Image(path)),))))

    assert isinstance(sent, bytes) and sent.startswith(b"\x89PNG")
    assert (images.pixels(Image(sent)) == images.pixels(Image(path))).all()


async def test_a_gif_goes_to_the_others_as_it_is(tmp_path: Path) -> None:
    import PIL.Image

    path = tmp_path / "still.gif"
    PIL.Image.open(IMAGES / "circle.png").convert("P").save(path)

    body = (await http_request(ANTHROPIC, Request(messages=(user(Image(path)),)))).json

    source = body["messages"][0]["content"][0]["source"]
    assert source["media_type"] == "image/gif"


async def test_a_google_model_is_named_in_the_address() -> None:
    with serving(GOOGLE.answered("A")) as server:
        for name in ("gemini-x", "tunedModels/my one", "models/gemini-x"):
            model = registry.model(f"google/{name}", Profile(base_url=server.url)).model
            assert isinstance(model, Generates)
            check_model(model, HELLO)
    paths = list(dict.fromkeys(request.path for request in server.requests))
    assert paths == [
        "/v1/models/gemini-x:generateContent",
        "/v1/tunedModels/my%20one:generateContent",
    ]


async def test_google_s_own_settings_are_merged_into_ours() -> None:
    thinking = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}, "topK": 1}}
    generation = Generation(max_tokens=7, extra=thinking)
    body = (
        await http_request(GOOGLE, Request(messages=HELLO.messages, generation=generation))
    ).json
    assert body["generationConfig"] == {
        "maxOutputTokens": 7,
        "thinkingConfig": {"thinkingBudget": 0},
        "topK": 1,
    }


@pytest.mark.parametrize("extra", [{"generationConfig": 3}, {"native_video": "yes"}])
def test_settings_of_google_s_of_another_type_are_refused_at_once(extra: Any) -> None:
    with pytest.raises(UsageError, match=next(iter(extra))):
        opened(GOOGLE, "http://127.0.0.1:9/v1beta", extra=extra)


# -- the key


@all_of_them
async def test_the_key_goes_in_its_header_and_nowhere_else(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    request = await http_request(vendor, HELLO, api_key_env=VARIABLE)

    assert request.headers[vendor.key_header] == vendor.key.format(KEY)
    assert [name for name, value in request.headers.items() if KEY in value] == [vendor.key_header]
    assert request.path == vendor.path
    assert KEY.encode() not in request.body


@pytest.mark.parametrize("vendor", [OPENAI, RESPONSES], ids=lambda vendor: vendor.kind)
@pytest.mark.parametrize(
    ("route", "query"),
    [("/openai/deployments/m", "?api-version=2024-10-21"), ("/openai/v1/", "")],
)
async def test_azure_s_routes_get_the_key_in_azure_s_header(
    vendor: Vendor, route: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    with serving(vendor.answered("A")) as server:
        url = server.url.removesuffix("/v1") + route + query
        settings = {"api_key_env": VARIABLE, "key_header": "api-key"}
        async with asking(vendor, url, **settings) as model:
            await model.generate(HELLO)

    [request] = server.requests
    assert request.path == route.rstrip("/") + vendor.path.removeprefix("/v1") + query
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


async def test_a_key_in_the_usual_header_is_a_bearer_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    settings = {"api_key_env": VARIABLE, "key_header": "authorization"}
    request = await http_request(ANTHROPIC, HELLO, **settings)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in request.headers


@pytest.mark.parametrize("name", ["", "api key", "x\r\ny", "x:"])
def test_a_header_that_is_none_is_refused_with_the_field_s_name(name: str) -> None:
    with pytest.raises(UsageError, match="key_header"):
        Profile(key_header=name)


def test_the_fields_of_a_server_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('key_header = "api-key"\nstream = true\n')
    profile = read_profile(path)
    assert (profile.key_header, profile.stream) == ("api-key", True)
    assert profile.changes_answers() == {}


def echo(vendor: Vendor, number: int) -> Callable[[ReceivedRequest], Answer]:
    return lambda request: vendor.error(number, f"no: {request.headers[vendor.key_header]}" * 9)


def sent_to(vendor: Vendor, request: ReceivedRequest) -> str:
    return request.headers[vendor.key_header]


@all_of_them
@pytest.mark.parametrize(
    "how", ["401", "400", "500", "page", "event", "closes", "resets", "hangs", "no end"]
)
async def test_the_key_is_in_no_message_traceback_or_output(
    vendor: Vendor,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers: dict[str, Answer | Decide] = {
        "401": echo(vendor, 401),
        "400": echo(vendor, 400),
        "500": echo(vendor, 500),
        "page": lambda request: page(f"<html>{request.headers}</html>"),
        "event": lambda request: stream([vendor.refused_with(400, sent_to(vendor, request))]),
        "no end": lambda request: stream([sent_to(vendor, request)]),
        "closes": closes(),
        "resets": resets(vendor.answered("A" * 99)),
        "hangs": hangs(),
    }
    monkeypatch.setenv(VARIABLE, KEY)
    first = 0.1 if how == "hangs" else 10
    profile = Profile(api_key_env=VARIABLE, stream=True, timeout=Timeouts(first=first))
    error = await error_of(vendor, answers[how], **msgspec.structs.asdict(profile))
    seen = "".join([*traceback.format_exception(error), caplog.text, *capfd.readouterr()])
    assert type(error).__name__ in seen
    assert KEY not in seen


@all_of_them
async def test_a_key_with_a_slash_is_hidden_however_the_server_writes_it(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-a/key/that+nobody=may-see"
    monkeypatch.setenv(VARIABLE, key)
    body = vendor.error(400, f"no: {key}").body.replace(b"/", rb"\/")
    error = await error_of(vendor, Answer(400, body), api_key_env=VARIABLE)
    assert str(error).endswith("no: [key]")


@all_of_them
async def test_a_reply_that_repeats_the_key_in_pieces_is_kept_without_it(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    half = len(KEY) // 2
    pieces = ("I was sent ", KEY[:half], KEY[half:])
    answer = vendor.streamed(*pieces, thoughts=(KEY[:half], KEY[half:]))
    reply = await reply_to(vendor, answer, stream=True, api_key_env=VARIABLE)
    assert (reply.text, reply.reasoning) == ("I was sent [key]", "[key]")


@all_of_them
def test_a_run_keeps_its_key_to_itself(
    vendor: Vendor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def echoing(request: ReceivedRequest) -> Answer:
        """Every second question fails, with what was sent in the words."""
        text = f"you sent {sent_to(vendor, request)}"
        return (
            vendor.error(400, text) if request.number % 2 else vendor.answered(text, thought=text)
        )

    monkeypatch.setenv(VARIABLE, KEY)
    with serving(echoing) as server:
        result = snellen.evaluate(
            "eyechart",
            f"{vendor.kind}/m",
            base_url=server.url,
            api_key_env=VARIABLE,
            limit=6,
            concurrency=1,
            out=tmp_path,
        )
    print(result, result.json())
    shown = capsys.readouterr()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert b"you sent" in b"".join(files)
    assert KEY.encode() not in b"".join(files)
    assert KEY not in shown.out + shown.err + caplog.text


@pytest.mark.parametrize(
    ("kind", "variables"),
    [
        ("openai", ["OPENAI_API_KEY"]),
        ("openai-responses", ["OPENAI_API_KEY"]),
        ("anthropic", ["ANTHROPIC_API_KEY"]),
        ("google", ["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ],
)
def test_a_service_s_key_is_looked_for_by_its_own_names_and_goes_to_no_other_server(
    kind: str, variables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in registry.keys_set():
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=f"no key .* in {' or '.join(variables)}"):
        registry.model(f"{kind}/m")
    for name in reversed(variables):
        monkeypatch.setenv(name, f"the-key-in-{name}")
        there: Any = registry.model(f"{kind}/m").model
        assert f"the-key-in-{name}" in str(vars(there._there.transport))
        assert there._there.key_variable == name
    elsewhere: Any = registry.model(f"{kind}/m", Profile(base_url="http://127.0.0.1:9/v1")).model
    assert "the-key-in" not in str(vars(elsewhere._there.transport))


# -- replies


USED = Usage(input=300, output=7, reasoning=5, cached=100)


@all_of_them
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_whole_reply_has_text_thoughts_and_counts(vendor: Vendor, streamed: bool) -> None:
    answer = (
        vendor.streamed("It is", " A.", thoughts=["Let me", " see."])
        if streamed
        else vendor.answered("It is A.", thought="Let me see.")
    )
    reply = await reply_to(vendor, answer, stream=streamed)
    assert (reply.text, reply.reasoning, reply.state) == ("It is A.", "Let me see.", "ok")
    assert (reply.stop, reply.usage) == (vendor.ends, USED)


@all_of_them
@pytest.mark.parametrize("streamed", [False, True])
async def test_cut_withheld_and_empty_replies_are_replies(vendor: Vendor, streamed: bool) -> None:
    def answers(text: str, stop: str) -> Answer:
        return vendor.streamed(text, stop=stop) if streamed else vendor.answered(text, stop=stop)

    for text, word, stop, state in (
        ("It i", vendor.cut, "length", "truncated"),
        ("", vendor.cut, "length", "truncated"),
        ("", vendor.withheld, "filter", "refused"),
        ("It i", vendor.withheld, "filter", "refused"),
        ("", vendor.ends, vendor.ends, "empty"),
    ):
        reply = await reply_to(vendor, answers(text, word), stream=streamed)
        assert (reply.text, reply.stop, reply.state) == (text, stop, state)


@pytest.mark.parametrize(
    "word", ["RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]
)
async def test_google_has_many_words_for_withheld(word: str) -> None:
    assert (await reply_to(GOOGLE, GOOGLE.answered("", stop=word))).state == "refused"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_question_that_google_blocks_is_refused(streamed: bool) -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
    answer = stream([body]) if streamed else Answer(body=json.dumps(body).encode())
    reply = await reply_to(GOOGLE, answer, stream=streamed)
    assert (reply.text, reply.stop, reply.usage) == ("", "filter", Usage(input=9))


async def test_a_context_that_is_full_cuts_anthropic_s_reply() -> None:
    answer = ANTHROPIC.answered("It i", stop="model_context_window_exceeded")
    assert (await reply_to(ANTHROPIC, answer)).state == "truncated"


async def test_a_part_that_refuses_is_no_text() -> None:
    body = RESPONSES.full("", "", "completed")
    body["output"][0]["content"] = [{"type": "refusal", "refusal": "I cannot."}]
    reply = await reply_to(RESPONSES, Answer(body=json.dumps(body).encode()))
    assert (reply.text, reply.state) == ("", "refused")


async def test_thoughts_themselves_are_kept_where_no_summary_comes() -> None:
    body = RESPONSES.full("A", "", "completed")
    thought = {"type": "reasoning_text", "text": "Let me see."}
    body["output"].insert(0, {"type": "reasoning", "summary": [], "content": [thought]})
    reply = await reply_to(RESPONSES, Answer(body=json.dumps(body).encode()))
    assert reply.reasoning == "Let me see."


@pytest.mark.parametrize("code", ["content_filter", "image_content_policy_violation"])
@pytest.mark.parametrize("vendor", [OPENAI, RESPONSES], ids=lambda vendor: vendor.kind)
async def test_an_error_of_the_filter_s_is_a_withheld_reply(vendor: Vendor, code: str) -> None:
    assert (await reply_to(vendor, status(400, "flagged", code=code))).stop == "filter"


async def test_counts_that_are_absent_are_not_nought() -> None:
    body = GOOGLE.full("A", "", "STOP")
    body["usageMetadata"] = {"promptTokenCount": 3}
    reply = await reply_to(GOOGLE, Answer(body=json.dumps(body).encode()))
    assert reply.usage == Usage(input=3)


@all_of_them
async def test_a_server_that_does_not_stream_is_understood_all_the_same(vendor: Vendor) -> None:
    assert (await reply_to(vendor, vendor.answered("A"), stream=True)).text == "A"


@all_of_them
async def test_the_contract_of_back_ends_is_kept(vendor: Vendor) -> None:
    with serving(vendor.answered("A")) as server:
        assert check_model(opened(vendor, server.url), HELLO).text == "A"


# -- streams


@all_of_them
async def test_a_stream_is_asked_for_by_the_profile(vendor: Vendor) -> None:
    request = await http_request(vendor, HELLO, stream=True)
    if vendor is GOOGLE:
        assert request.path == "/v1/models/m:streamGenerateContent?alt=sse"
    else:
        assert request.json["stream"] is True


@all_of_them
async def test_the_first_piece_is_timed_and_not_the_head(vendor: Vendor) -> None:
    waiting = b": waiting\n\n" * 50
    answer = vendor.streamed("It is A.")
    slow = drips(replace(answer, body=waiting + answer.body), 0.02, piece=len(waiting))
    reply = await reply_to(vendor, slow, stream=True)
    assert reply.times is not None
    assert reply.times.first is not None and reply.times.total is not None
    assert 0.02 <= reply.times.first <= reply.times.total


@all_of_them
async def test_a_stream_cut_anywhere_is_asked_for_again_or_was_whole(vendor: Vendor) -> None:
    """The connection ends as if all was well, after each event and within each."""
    events = [*map(event, vendor.events(["It is", " A."], ["Hm."], vendor.ends))]
    body = b"".join(events)
    ends = {sum(map(len, events[:n])) for n in range(len(events))}
    cuts = sorted(ends | set(range(0, len(body), 13)))
    answers = [replace(stream([]), body=body[:cut]) for cut in cuts]
    outcomes: list[str | None] = []
    with serving(in_turn(*answers)) as server:
        async with asking(vendor, server.url, stream=True) as model:
            for _ in cuts:
                try:
                    outcomes.append((await model.generate(HELLO)).text)
                except Overloaded as error:
                    outcomes.append(None)
                    assert "the stream ended before" in str(error) or "is not JSON" in str(error)
    # Where nothing but chat's trailing counts and mark are missing, the reply had ended.
    last = 2 if vendor is OPENAI else 0
    ended = sum(map(len, events[: len(events) - last]))
    assert outcomes == ["It is A." if cut >= ended else None for cut in cuts]


@all_of_them
async def test_a_stream_that_is_reset_is_asked_for_again(vendor: Vendor) -> None:
    error = await error_of(vendor, resets(vendor.streamed("It is A.")), stream=True)
    assert isinstance(error, Overloaded)
    assert "the connection broke in the middle of a reply" in str(error)


@all_of_them
async def test_a_stream_that_hangs_is_left_in_time(vendor: Vendor) -> None:
    answer = drips(vendor.streamed("It is A."), 0.05)
    error = await error_of(vendor, answer, stream=True, timeout=Timeouts(first=5, total=0.2))
    assert isinstance(error, Overloaded)
    assert "timeout `total`" in str(error)


@all_of_them
@pytest.mark.parametrize(
    ("number", "kind"), [(400, Rejected), (401, Rejected), (429, Overloaded), (500, Overloaded)]
)
async def test_an_error_within_a_stream_is_what_it_is_without(
    vendor: Vendor, number: int, kind: type[ModelError]
) -> None:
    begun = vendor.events(["It is"], [], vendor.ends)[:2]
    within = await error_of(
        vendor, stream([*begun, vendor.refused_with(number, "so it is")]), stream=True
    )
    alone = await error_of(vendor, vendor.error(number, "so it is"))
    assert isinstance(alone, kind)
    assert type(within) is type(alone)
    assert str(within).rpartition("/v1: ")[2] == str(alone).rpartition("/v1: ")[2]
    assert getattr(within, "throttled", None) == getattr(alone, "throttled", None)
    assert getattr(within, "hopeless", None) == getattr(alone, "hopeless", None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", Overloaded),
        ("rate_limit_exceeded", Overloaded),
        ("vector_store_timeout", Overloaded),
        ("invalid_prompt", Rejected),
        ("image_too_large", Rejected),
        ("unsupported_image_media_type", Rejected),
        ("data_residency_mismatch", Rejected),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_response_that_failed_is_an_error(
    code: str, kind: type[ModelError], streamed: bool
) -> None:
    response = RESPONSES.full("", "", "completed")
    response |= {"status": "failed", "output": [], "error": {"code": code, "message": "so it is"}}
    last = {"type": "response.failed", "response": response}
    answer = stream([last]) if streamed else Answer(body=json.dumps(response).encode())
    error = await error_of(RESPONSES, answer, stream=streamed)
    assert isinstance(error, kind)
    assert "so it is" in str(error)


async def test_what_vllm_says_within_a_stream_has_its_status() -> None:
    chunk = {"error": {"message": "too long", "type": "BadRequestError", "code": 400}}
    error = await error_of(OPENAI, stream([chunk]), stream=True)
    assert isinstance(error, Rejected)
    assert "400: too long" in str(error)


@pytest.mark.parametrize("stop", ["abort", "error", "insufficient_system_resource"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_that_the_server_broke_off_is_asked_for_again(
    stop: str, streamed: bool
) -> None:
    begun = OPENAI.streamed("It i", stop=stop) if streamed else OPENAI.answered("It i", stop=stop)
    error = await error_of(OPENAI, begun, stream=streamed)
    assert isinstance(error, Overloaded)
    assert f"it broke the reply off ({stop})" in str(error)


@pytest.mark.parametrize(("code", "kind"), [(402, Rejected), (403, Rejected), (502, Overloaded)])
@pytest.mark.parametrize("in_choice", [False, True])
async def test_an_error_in_a_body_of_status_200_is_what_its_code_says(
    code: int, kind: type[ModelError], in_choice: bool
) -> None:
    failure = {"error": {"code": code, "message": "so it is"}}
    body = OPENAI.full("It i", "", "error")
    body["choices"][0] |= failure
    error = await error_of(OPENAI, answer(body if in_choice else failure))
    assert isinstance(error, kind)
    assert f"{code}: so it is" in str(error)


async def test_a_context_that_is_full_cuts_mistral_s_reply() -> None:
    assert (
        await reply_to(OPENAI, OPENAI.answered("It i", stop="model_length"))
    ).state == "truncated"


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC], ids=lambda vendor: vendor.kind)
async def test_a_message_that_neither_speaks_nor_ends_is_no_reply(vendor: Vendor) -> None:
    begun = json.loads(json.dumps(vendor.full("", "", "so")).replace('"so"', "null"))
    error = await error_of(vendor, answer(begun))
    assert isinstance(error, Overloaded)
    assert "the reply is not a whole" in str(error)


@pytest.mark.parametrize("candidate", [{}, {"content": {"role": "model"}}])
async def test_a_candidate_of_google_s_that_neither_speaks_nor_ends_is_no_reply(
    candidate: Any,
) -> None:
    error = await error_of(GOOGLE, answer({"candidates": [candidate]}))
    assert isinstance(error, Overloaded)
    assert "not a reply of Gemini's" in str(error)


# -- no reply


@all_of_them
@pytest.mark.parametrize("number", [408, 429, 500, 503, 529])
async def test_a_server_that_is_busy_is_asked_again(vendor: Vendor, number: int) -> None:
    error = await error_of(vendor, vendor.error(number, "so busy", **{"Retry-After": "3"}))
    assert isinstance(error, Overloaded)
    assert f"{number}: so busy" in str(error)
    assert (error.throttled, error.retry_after) == (number == 429, 3.0)


@all_of_them
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (400, "400: so it is"),
        (401, f"401: so it is. Is the key in {VARIABLE} right?"),
        (402, "402: so it is. Check the account's credit and billing."),
        (403, "403: so it is"),
        (404, "404: so it is. Does the server have a model 'm'? Is the address right?"),
        (413, "413: so it is"),
    ],
)
async def test_a_refused_question_is_not_asked_again(
    vendor: Vendor, number: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    error = await error_of(vendor, vendor.error(number, "so it is"), api_key_env=VARIABLE)
    assert isinstance(error, Rejected)
    assert words in str(error)
    # OpenAI's 403 may be of one question's; Anthropic's and Google's are of the key's.
    of_the_key = number == 403 and vendor in (ANTHROPIC, GOOGLE)
    assert error.hopeless == (number in (401, 402, 404) or of_the_key)


@pytest.mark.parametrize(
    ("vendor", "number", "body"),
    [
        (ANTHROPIC, 400, ANTHROPIC.broken(400, "Your credit balance is too low to access it.")),
        (OPENAI, 429, {"error": {"message": "no more", "code": "insufficient_quota"}}),
        (RESPONSES, 429, {"error": {"message": "no more", "code": "insufficient_quota"}}),
    ],
)
async def test_an_account_without_money_ends_the_run(
    vendor: Vendor, number: int, body: Any
) -> None:
    error = await error_of(vendor, Answer(number, json.dumps(body).encode()))
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert "Check the account's credit and billing." in str(error)


@all_of_them
async def test_a_temperature_that_a_service_refuses_ends_the_run_with_what_to_do(
    vendor: Vendor,
) -> None:
    words = "`temperature` is deprecated for this model."
    error = await error_of(vendor, vendor.error(400, words))
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert f"{words} If the model does not accept a temperature, use --temperature default" in str(
        error
    )


@pytest.mark.parametrize("by", ["profile", "argument"])
def test_the_default_temperature_is_none_whatever_the_benchmark_asks_for(
    by: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"temperature": "default"}
    with serving(ANTHROPIC.answered("A")) as server:
        profile = Profile(base_url=server.url, **(settings if by == "profile" else {}))
        more = settings if by == "argument" else {}
        result = snellen.evaluate(
            "eyechart", "anthropic/m", profile=profile, limit=1, out=tmp_path, **more
        )
    assert "temperature" not in server.requests[0].json
    assert result.report.identity["generation"]["temperature"] is None


ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"


def failed(number: int, *details: Any, **more: Any) -> Answer:
    return Answer(number, json.dumps(google_error(number, "so it is", *details, **more)).encode())


async def test_google_s_word_for_a_wrong_key_is_met_with_where_it_came_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    why = {"@type": ERROR_INFO, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    error = await error_of(GOOGLE, failed(400, why), api_key_env=VARIABLE)
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert f"Is the key in {VARIABLE} right?" in str(error)


async def test_a_country_that_google_does_not_serve_ends_the_run() -> None:
    error = await error_of(GOOGLE, failed(400, state="FAILED_PRECONDITION"))
    assert isinstance(error, Rejected)
    assert error.hopeless


@pytest.mark.parametrize(("delay", "seconds"), [("22s", 22.0), ("0.5s", 0.5), ("soon", None)])
async def test_google_says_in_its_details_how_long_to_wait(
    delay: str, seconds: float | None
) -> None:
    wait = {"@type": RETRY_INFO, "retryDelay": delay}
    error = await error_of(GOOGLE, failed(429, wait))
    assert isinstance(error, Overloaded)
    assert (error.throttled, error.retry_after) == (True, seconds)


@pytest.mark.parametrize(("period", "kind"), [("PerDay", Rejected), ("PerMinute", Overloaded)])
async def test_a_day_s_quota_that_is_spent_ends_the_run_and_a_minute_s_does_not(
    period: str, kind: type[ModelError]
) -> None:
    quota = {"quotaId": f"GenerateRequests{period}PerProjectPerModel-FreeTier"}
    quota_failure = {"@type": QUOTA_FAILURE, "violations": [quota]}
    error = await error_of(
        GOOGLE, failed(429, quota_failure, {"@type": RETRY_INFO, "retryDelay": "22s"})
    )
    assert isinstance(error, kind)
    assert getattr(error, "hopeless", True)


async def test_an_error_in_a_list_is_read_too() -> None:
    body = json.dumps([GOOGLE.broken(503, "so busy")]).encode()
    error = await error_of(GOOGLE, Answer(503, body))
    assert "503: so busy" in str(error)


@all_of_them
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page(), "the reply is not JSON, but '<html><body>Bad gateway</body></html>'"),
        (Answer(200, b""), "the reply is not JSON, but nothing"),
        (Answer(200, b"null"), "the reply is not a"),
        (Answer(200, b"{}"), "the reply is not a"),
        (Answer(200, b'{"choices": 3, "output": 3, "content": 3, "candidates": 3}'), "is not a"),
        (resets(page("x" * 999)), "the connection broke in the middle of a reply"),
        (closes(), "the server closed the connection without a reply"),
        (stream(["[1, 2]"]), "the reply is not a"),
        (stream(["{"]), "the reply is not JSON, but '{'"),
        (stream([{"id": "1"}]), "the stream ended before"),
    ],
)
async def test_a_body_that_is_no_reply_is_asked_for_again(
    vendor: Vendor, answer: Answer, words: str
) -> None:
    error = await error_of(vendor, answer)
    assert isinstance(error, Overloaded)
    assert words in str(error)


ODD: tuple[Any, ...] = (None, True, 3, "x", [], {}, [[]], [{}], {"x": {}})


def with_odd_values(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by what nobody expects there."""
    yield from ODD
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            for odd in with_odd_values(part):
                variant: Any = copy(value)
                variant[key] = odd
                yield variant


@all_of_them
async def test_odd_values_anywhere_make_a_reply_or_an_error_of_ours(vendor: Vendor) -> None:
    events = vendor.events(["A"], ["Hm."], vendor.ends)
    answers = [answer(odd) for odd in with_odd_values(vendor.full("A", "Hm.", vendor.ends))]
    answers += [stream(odd) for odd in with_odd_values(events) if isinstance(odd, list) and odd]
    answers += [stream([odd]) for odd in with_odd_values(vendor.refused_with(400, "no"))]
    answers += [Answer(400, answer(odd).body) for odd in with_odd_values(vendor.broken(400, "no"))]
    with serving(in_turn(*answers)) as server:
        async with asking(vendor, server.url, stream=True) as model:
            for _ in answers:
                with suppress(ModelError):
                    reply = await model.generate(HELLO)
                    assert isinstance(reply.text, str) and isinstance(reply.stop, str | None)
    assert len(server.requests) == len(answers) > 200


@all_of_them
async def test_a_server_that_is_not_there_may_come(vendor: Vendor) -> None:
    with refusing() as url:
        async with asking(vendor, url) as model:
            with pytest.raises(Overloaded, match="nothing accepts connections there"):
                await model.generate(HELLO)


@all_of_them
async def test_a_long_error_page_is_quoted_in_short(vendor: Vendor) -> None:
    for long in (page("x" * 9000, 400), vendor.error(400, "x" * 9000)):
        words = str(await error_of(vendor, long))
        assert "x" * 300 in words
        assert "x" * 301 not in words


# -- a benchmark end to end


def first_requests(benchmark: Benchmark, n: int) -> Iterator[tuple[Sample, Request]]:
    """A benchmark's first questions, as a model is to be asked them."""
    for row in islice(benchmark.data, n):
        sample = benchmark.read(row)
        request = benchmark.request(sample, (), generation=Generation(), seed=None)
        assert request is not None
        yield sample, request


@all_of_them
@pytest.mark.parametrize("streamed", [False, True])
def test_a_benchmark_s_pictures_arrive_to_the_byte_and_replies_are_scored(
    vendor: Vendor, streamed: bool, tmp_path: Path
) -> None:
    benchmark = registry.benchmark("eyechart")
    targets = {}
    for sample, request in first_requests(benchmark, 5):
        [picture] = request.messages[-1].images
        targets[images.load(picture).source] = str(sample.target)

    def right(incoming: ReceivedRequest) -> Answer:
        [picture] = [
            part for _, parts in vendor.turns(incoming) for part in parts if part in targets
        ]
        target = targets[picture]
        return vendor.streamed(*target) if streamed else vendor.answered(target)

    with serving(right) as server:
        result = snellen.evaluate(
            benchmark,
            f"{vendor.kind}/m",
            profile=Profile(base_url=server.url, stream=streamed),
            limit=5,
            out=tmp_path,
        )
    assert (result.report.n, result.failed) == (5, 0)
    assert result.scoring().metrics["accuracy"].value == 1.0
    assert len(server.requests) == 5


@all_of_them
def test_a_video_s_frames_arrive_to_the_byte(vendor: Vendor, tmp_path: Path) -> None:
    benchmark = registry.benchmark("eyechart-video:clips=3")
    with serving(vendor.answered("A")) as server:
        result = snellen.evaluate(
            benchmark,
            f"{vendor.kind}/m",
            base_url=server.url,
            limit=3,
            frames="uniform:4",
            out=tmp_path,
        )
    assert (result.report.n, result.failed) == (3, 0)
    expected = [
        [frame.image.source for frame in video.shown(clip).frames]
        for _, request in first_requests(vary(benchmark, frames="uniform:4"), 3)
        for clip in request.messages[-1].videos
    ]
    arrived = [
        [part for part in parts if isinstance(part, bytes)]
        for incoming in server.requests
        for _, parts in vendor.turns(incoming)
    ]
    assert all(len(frames) == 4 for frames in expected)
    assert sorted(arrived) == sorted(expected)


# -- Google: a video's file


NATIVE: dict[str, Any] = {"extra": {"native_video": True}}


def clip(folder: Path, name: str = "clip.mp4", **fields: Any) -> Video:
    """A video's file, of which nothing is decoded, so that any bytes will do."""
    path = folder / name
    path.write_bytes(bytes(range(256)) * 9)
    return Video(path, **fields)


async def part_sent(folder: Path, **fields: Any) -> Any:
    request = Request(messages=(user(clip(folder, **fields), "What is it?"),))
    body = (
        await http_request(GOOGLE, replace(request, generation=Generation(**NATIVE)), **NATIVE)
    ).json
    assert "native_video" not in body
    [video, text] = body["contents"][0]["parts"]
    assert text == {"text": "What is it?"}
    return video


async def test_a_video_s_file_goes_to_google_to_the_byte(tmp_path: Path) -> None:
    sent = await part_sent(tmp_path)
    assert sent.keys() == {"inlineData"}
    assert sent["inlineData"]["mimeType"] == "video/mp4"
    data = b64decode(sent["inlineData"]["data"], validate=True)
    assert data == (tmp_path / "clip.mp4").read_bytes()


@pytest.mark.parametrize(
    ("fields", "metadata"),
    [
        ({"start": 1.5, "end": 90.0}, {"startOffset": "1.5s", "endOffset": "90s"}),
        ({"end": 1 / 3}, {"endOffset": "0.333333333s"}),
        ({"policy": "fps:0.5"}, {"fps": 0.5}),
        ({"end": 10.0, "policy": "fps:2"}, {"endOffset": "10s", "fps": 2.0}),
    ],
)
async def test_google_is_told_which_part_may_be_seen_and_at_which_rate(
    fields: Any, metadata: Any, tmp_path: Path
) -> None:
    assert (await part_sent(tmp_path, **fields))["videoMetadata"] == metadata


@pytest.mark.parametrize("policy", ["uniform:64", "fps:1,max=256", "fps:25", "last:4@1", "every"])
async def test_a_policy_that_google_cannot_keep_ends_the_run(policy: str, tmp_path: Path) -> None:
    request = Request(messages=(user(clip(tmp_path, policy=policy)),))
    error = await error_of(GOOGLE, GOOGLE.answered("A"), request, **NATIVE)
    assert isinstance(error, Rejected)
    assert error.hopeless
    assert "--frames fps:1" in str(error)


async def test_a_file_that_google_does_not_take_fails_its_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, words in (
        (clip(tmp_path, "clip.mkv"), "Gemini does not accept this type of video"),
        (replace(clip(tmp_path), source=tmp_path / "none.mp4"), "is missing"),
        (replace(clip(tmp_path), within=tmp_path / "folder"), "outside the folder of the data"),
    ):
        error = await error_of(
            GOOGLE, GOOGLE.answered("A"), Request(messages=(user(file),)), **NATIVE
        )
        assert isinstance(error, Rejected)
        assert words in str(error)
        assert not error.hopeless
    monkeypatch.setattr("snellen.models.google.MOST_BYTES", 2303)
    request = Request(messages=(user(clip(tmp_path)),))
    error = await error_of(GOOGLE, GOOGLE.answered("A"), request, **NATIVE)
    assert isinstance(error, Rejected)
    assert "Remove native_video" in str(error)


@pytest.mark.parametrize("limits", [ImageLimits(), ImageLimits(max_side=64)])
def test_a_run_by_files_decodes_nothing_and_is_another_run(
    limits: ImageLimits, tmp_path: Path
) -> None:
    def run(extra: dict[str, Any]) -> Any:
        return snellen.evaluate(
            "eyechart-video:clips=3",
            "google/m",
            profile=Profile(base_url=server.url, extra=extra, images=limits),
            limit=2,
            frames="fps:2",
            out=tmp_path,
        )

    with serving(GOOGLE.answered("A")) as server:
        results = [run({"native_video": True}), run({})]
    assert [(result.report.n, result.failed) for result in results] == [(2, 0), (2, 0)]
    by_file, by_frames = server.requests[:2], server.requests[2:]
    for request in by_file:
        kinds = [part["inlineData"]["mimeType"] for part in inline(request)]
        assert kinds == ["video/mp4"]
    for request in by_frames:
        assert {part["inlineData"]["mimeType"] for part in inline(request)} == {"image/jpeg"}
    records = [
        json.loads(line)
        for path in tmp_path.rglob("replies*.jsonl")
        for line in path.read_text().splitlines()
    ]
    shown = [bool(seen.get("frames")) for record in records for seen in record["media"]]
    assert sorted(shown) == [False, False, True, True]


def inline(request: ReceivedRequest) -> list[Any]:
    parts = [part for turn in request.json["contents"] for part in turn["parts"]]
    return [part for part in parts if "inlineData" in part]
