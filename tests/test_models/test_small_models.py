"""Models without a server: recorded, scripted, one's own, and those that do not look."""

import asyncio
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.core.model import Generates, Generation, Ranked, Reply, Request, request_digest
from snellen.errors import CatalogError, Overloaded, Rejected, UsageError
from snellen.media.content import Frame, Image, user
from snellen.models.recorded import Recorded
from snellen.models.scripted import Scripted
from snellen.testing import check_model, check_ranks, check_streams

CHOICES = ("a cat", "a dog", "a horse")
LISTED = Request(messages=(user("Which?\nA. a cat\nB. a dog\nC. a horse"),), choices=CHOICES)
BARE = Request(messages=(user("Which of these is it?"),), choices=CHOICES)


def ask(model: object, request: Request) -> Reply:
    assert isinstance(model, Generates)
    return asyncio.run(model.generate(request))


# -- models that do not look


def test_a_blind_model_names_a_choice_by_its_letter_where_the_question_lists_it() -> None:
    assert ask(registry.model("baseline/first").model, LISTED).text == "A"
    assert ask(registry.model("baseline/longest").model, LISTED).text == "C"


def test_a_blind_model_says_the_choice_itself_where_no_letters_are_listed() -> None:
    assert ask(registry.model("baseline/longest").model, BARE).text == "a horse"


def test_the_random_model_draws_by_the_seed_and_evenly() -> None:
    model = registry.model("baseline/random").model
    drawn = [
        ask(model, Request(messages=LISTED.messages, choices=CHOICES, seed=seed)).text
        for seed in range(300)
    ]
    again = ask(model, Request(messages=LISTED.messages, choices=CHOICES, seed=7)).text

    assert again == drawn[7]
    assert all(
        70 <= drawn.count(letter) <= 130 for letter in "ABC"
    )  # 100 ± 3.7 standard deviations


# -- recorded


def test_a_recorded_reply_is_found_by_its_request() -> None:
    model = Recorded("r", {request_digest(LISTED): Reply(text="B", stop="stop")})

    assert ask(model, LISTED).text == "B"


@pytest.mark.parametrize(
    "other",
    [
        Request(messages=LISTED.messages, choices=CHOICES, seed=1),
        Request(messages=LISTED.messages, choices=CHOICES, generation=Generation(max_tokens=3)),
        BARE,
    ],
)
def test_another_request_has_no_recorded_reply(other: Request) -> None:
    model = Recorded("r", {request_digest(LISTED): Reply(text="B", stop="stop")})

    with pytest.raises(Rejected, match="r has no reply to this request"):
        ask(model, other)


def test_a_run_is_replayed(tmp_path: Path) -> None:
    first = snellen.evaluate("eyechart:n=8", "baseline/reader", out=tmp_path / "one")

    again = snellen.evaluate("eyechart:n=8", f"recorded/{first.run}", out=tmp_path / "two")

    assert again.report.replies == {"ok": 8}
    assert again.headline.value == first.headline.value


# -- scripted


def test_scripted_outcomes_come_in_order_and_the_last_one_stays() -> None:
    model = Scripted(["A", Overloaded("busy"), Reply(text="C")])

    assert ask(model, LISTED).text == "A"
    with pytest.raises(Overloaded):
        ask(model, LISTED)
    assert [ask(model, LISTED).text for _ in range(2)] == ["C", "C"]
    assert len(model.requests) == 4


def test_scripted_keeps_all_three_protocols() -> None:
    picture = Image(b"pixels")
    frames = [Frame(time=float(second), image=picture) for second in range(5)]

    check_model(Scripted(lambda request: "A"), LISTED)
    check_ranks(Scripted(rank=lambda request: [Ranked(-0.1, 1)] * 3), LISTED)
    check_streams(Scripted(stream={1.5: "now", 3.0: "again"}), frames)


def test_a_scripted_session_speaks_when_the_frame_of_its_time_has_come() -> None:
    async def feed_all() -> list[list[str]]:
        from snellen.core.model import SessionSpec

        session = await Scripted(stream={1.5: "now", 3.0: "again"}).open(SessionSpec())
        frames = [Frame(time=float(second), image=Image(b"")) for second in range(4)]
        return [[emission.text for emission in await session.feed([frame])] for frame in frames]

    assert asyncio.run(feed_all()) == [[], [], ["now"], ["again"]]


# -- one's own

FUNCTION = "def answer(messages):\n    return messages[-1].text.upper()\n"
ASYNC = "async def answer(messages):\n    return 'async'\n"
CLASS = (
    "class Mine:\n    def generate(self, messages):\n        return str(len(messages[-1].images))\n"
)
TAKES_REQUEST = "def answer(request):\n    return f'{request.seed}'\n"
BATCH = (
    "class Mine:\n    def generate_batch(self, batch):\n        return [m[-1].text for m "
    "in batch]\n"
)


def own(tmp_path: Path, source: str, name: str = "answer") -> registry.Opened:
    path = tmp_path / "my_model.py"
    path.write_text(source)
    return registry.model(f"python:{path}:{name}")


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        (FUNCTION, "answer", "HELLO"),
        (ASYNC, "answer", "async"),
        (CLASS, "Mine", "0"),
        (TAKES_REQUEST, "answer", "5"),
        (BATCH, "Mine", "hello"),
    ],
)
def test_a_function_or_class_of_ones_own_is_a_model(
    tmp_path: Path, source: str, name: str, expected: str
) -> None:
    model = own(tmp_path, source, name).model
    assert isinstance(model, Generates)

    assert check_model(model, Request(messages=(user("hello"),), seed=5)).text == expected


def test_ones_own_function_gets_images_with_their_bytes(tmp_path: Path) -> None:
    source = (
        "def answer(messages):\n    i = messages[-1].images[0]\n    return f'{i.mime} "
        "{i.width} {len(i.source)}'\n"
    )
    benchmark = registry.benchmark("eyechart:n=1")
    sample = next(benchmark.sample(row.position, row) for row in benchmark.data)
    request = benchmark.request(sample)
    assert request is not None

    text = ask(own(tmp_path, source).model, request).text

    picture = request.messages[0].images[0].source
    assert isinstance(picture, bytes)
    assert text == f"image/png 336 {len(picture)}"


def test_what_ones_own_code_raises_fails_the_question_and_says_where(tmp_path: Path) -> None:
    opened = own(tmp_path, "def answer(messages):\n    return 1 / 0\n")

    with pytest.raises(
        Rejected, match=r"ZeroDivisionError: division by zero \(my_model.py, line 2\)"
    ):
        ask(opened.model, LISTED)


def test_what_is_not_text_fails_the_question(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="returned an int, not text"):
        ask(own(tmp_path, "def answer(messages):\n    return 3\n").model, LISTED)


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        (FUNCTION, "anwser", "has no 'anwser'; it has answer"),
        ("x = 3\n", "x", "is not a model. A model is a function, or has a method `generate`"),
        ("def answer(:\n", "answer", "cannot be loaded: SyntaxError"),
        ("import nothing_of_the_kind\n", "answer", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_opened_is_said(tmp_path: Path, source: str, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        own(tmp_path, source, name)


def test_a_changed_file_is_another_revision(tmp_path: Path) -> None:
    revision = own(tmp_path, FUNCTION).revision
    assert revision is not None
    assert revision != own(tmp_path, FUNCTION + "\n# changed\n").revision


def test_weights_that_a_file_does_not_show_are_named_beside_it(tmp_path: Path) -> None:
    from snellen.core.profile import Profile

    own_revision = own(tmp_path, FUNCTION).revision
    profile = Profile(revision="step-2000")

    opened = registry.model(f"python:{tmp_path / 'my_model.py'}:answer", profile)

    assert opened.revision == f"step-2000 {own_revision}"
    assert registry.model("baseline/first", profile).revision == "step-2000"
    assert registry.model("baseline/first").revision is None


@pytest.mark.parametrize("name", ["baseline/randm", "nothing/x", "openai", "openai/"])
def test_an_unknown_model_is_met_with_those_there_are(name: str) -> None:
    with pytest.raises(CatalogError, match=r"no model .*(Did you mean|Models: |names of models)"):
        registry.model(name)


def test_the_official_key_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from snellen.core.profile import Profile
    from snellen.models import openai

    monkeypatch.setenv("OPENAI_API_KEY", "sk-official")
    opened = registry.model("openai/m", Profile(base_url="http://127.0.0.1:9/v1"))

    assert isinstance(opened.model, openai.OpenAI)
    assert "sk-official" not in str(vars(opened.model._there.transport))


def test_a_named_key_that_is_not_set_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from snellen.core.profile import Profile

    monkeypatch.delenv("MY_KEY", raising=False)
    profile = Profile(base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY")
    with pytest.raises(UsageError, match="the environment variable MY_KEY is not set"):
        registry.model("openai/m", profile)
