"""What is told when one's own code goes wrong, and how it is called."""

import asyncio
import sys
import threading
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.core.model import (
    Emission,
    Forks,
    Generates,
    Query,
    Ranked,
    Ranks,
    Reply,
    Request,
    SessionSpec,
    Streams,
)
from snellen.core.profile import Profile
from snellen.errors import Overloaded, Rejected, UsageError
from snellen.media.content import Frame, Image, Video, user
from snellen.models.python import Batched, Files, Python, of_object, open_model

HELLO = Request(messages=(user("hello"),), seed=3)


def written(folder: Path, source: str, name: str = "my_model") -> Path:
    path = folder / f"{name}.py"
    path.write_text(source)
    return path


def opened(
    folder: Path, source: str, name: str = "answer", profile: Profile | None = None
) -> Python:
    path = written(folder, source)
    model = open_model(f"{path}:{name}", profile=profile or Profile(), api_key=None)
    assert isinstance(model, Python)
    return model


def ask(folder: Path, source: str, name: str = "answer") -> Reply:
    return asyncio.run(opened(folder, source, name).generate(HELLO))


SAY = "(self, messages):\n  return messages[-1].text\n"


@pytest.mark.parametrize(
    "source",
    [
        f"class answer:\n async def generate{SAY}",
        f"class Mine:\n def generate{SAY}answer = Mine()\n",
        f"class Mine:\n async def __call__{SAY}answer = Mine()\n",
        f"class Mine:\n def __call__{SAY}answer = Mine()\n",
        "answer = lambda messages: messages[-1].text\n",
    ],
)
def test_whatever_can_be_called_is_a_model(tmp_path: Path, source: str) -> None:
    assert ask(tmp_path, source).text == "hello"


def test_a_back_end_of_ones_own_gives_a_whole_reply(tmp_path: Path) -> None:
    source = (
        "from snellen.core.model import Reply\n"
        "class answer:\n"
        "    async def generate(self, request):\n"
        "        return Reply(text=f'{request.seed}', stop='length')\n"
    )
    assert ask(tmp_path, source) == Reply(text="3", stop="length")


def test_a_name_in_an_installed_module_is_found() -> None:
    model = open_model("inspect:cleandoc", profile=Profile(), api_key=None)
    assert model.name == "python:inspect:cleandoc"
    assert model.revision is not None


class Ranker:
    name = "ranker"

    def generate(self, messages: object) -> str:
        return "A"

    async def rank(self, request: Request) -> list[Ranked]:
        return [Ranked(-1.0, 1)] if request.seed == 3 else [][9]


def test_an_object_that_ranks_too_still_does() -> None:
    model = of_object(Ranker(), "ranker")
    assert isinstance(model, Ranks)
    assert asyncio.run(model.rank(HELLO)) == [(-1.0, 1)]


def test_a_ranking_that_raises_is_rejected() -> None:
    model = of_object(Ranker(), "ranker")
    assert isinstance(model, Ranks)
    with pytest.raises(Rejected, match=r"ranker: IndexError: .*\(test_python.py, line \d+\)"):
        asyncio.run(model.rank(replace(HELLO, seed=4)))


def test_an_object_that_does_not_rank_is_not_said_to() -> None:
    assert not isinstance(of_object(len, "len"), Ranks)


def test_an_async_function_behind_a_sync_one_is_awaited() -> None:
    async def later(messages: object) -> str:
        return "later"

    model = of_object(lambda messages: later(messages), "later")
    assert isinstance(model, Python)
    assert asyncio.run(model.generate(HELLO)).text == "later"


def test_an_objects_revision_counts_beside_its_files_digest(tmp_path: Path) -> None:
    source = f"class answer:\n def __init__(self):\n  self.revision = 'step-2'\n def generate{SAY}"
    digest = blake2b(source.encode(), digest_size=16).hexdigest()
    assert opened(tmp_path, source).revision == f"step-2 {digest}"


@pytest.mark.parametrize("kind", ["python", "worker"])
def test_an_edit_of_a_module_that_the_file_imports_is_another_revision(
    tmp_path: Path, kind: str
) -> None:
    helper, unrelated = tmp_path / "helper_of_model.py", tmp_path / "unrelated.py"
    helper.write_text("WORD = 'A'\n")
    unrelated.write_text("")
    file = tmp_path / "my_model.py"
    file.write_text(f"from helper_of_model import WORD\ndef answer{SAY}")

    def revision() -> str | None:
        return registry.model(f"{kind}:{file}:answer").revision

    before = revision()
    unrelated.write_text("# edited\n")
    assert revision() == before
    helper.write_text("WORD = 'B'\n")
    assert revision() != before


def test_a_first_parameter_annotated_as_a_request_gets_one(tmp_path: Path) -> None:
    source = (
        "from snellen.core.model import Request\ndef answer(r: Request):\n  return str(r.seed)\n"
    )
    assert ask(tmp_path, source).text == "3"


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        (
            "def answer(messages):\n  raise KeyError('k')\n",
            r"KeyError: 'k' \(my_model.py, line 2\)",
        ),
        ("async def answer(messages):\n  raise KeyError('k')\n", r"KeyError: 'k' \(my_model.py"),
        (
            "def answer(messages):\n  raise StopIteration\n",
            r"StopIteration:  \(my_model.py, line 2",
        ),
        ("import json\ndef answer(messages):\n  json.loads('{')\n", r"\(my_model.py, line 3\)"),
    ],
)
def test_what_is_raised_is_told_with_the_line_of_ones_own_file(
    tmp_path: Path, source: str, pattern: str
) -> None:
    with pytest.raises(Rejected, match=pattern):
        ask(tmp_path, source)


def test_the_line_is_that_of_the_function_that_raised_in_another_file_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_generate.py").write_text("\n\ndef generate(text):\n    return {}[text]\n")
    source = "from my_generate import generate\ndef answer(messages):\n    return generate('k')\n"
    with pytest.raises(Rejected, match=r"KeyError: 'k' \(my_generate.py, line 4\)"):
        ask(tmp_path, source)


def test_a_batch_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    source = "class Mine:\n def generate_batch(self, batch):\n  return batch[9]\n"
    model = open_model(f"{written(tmp_path, source)}:Mine", profile=Profile(), api_key=None)
    assert isinstance(model, Batched)
    with pytest.raises(Rejected, match=r"IndexError: .* \(my_model.py, line 3\)"):
        model.generate_batch([HELLO])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("None", "returned None for 2 conversations"),
        ("'AB'", "returned a str for 2 conversations"),
        ("['A']", "returned a list of 1 for 2 conversations"),
        ("['A', 'B', 'C']", "returned a list of 3 for 2 conversations"),
        ("['A', 3]", "returned an int, not text"),
    ],
)
def test_a_batch_that_gives_something_else_than_its_replies_is_rejected(
    tmp_path: Path, expression: str, message: str
) -> None:
    source = f"class Mine:\n def generate_batch(self, batch):\n  return {expression}\n"
    model = open_model(f"{written(tmp_path, source)}:Mine", profile=Profile(), api_key=None)
    assert isinstance(model, Batched)
    with pytest.raises(Rejected, match=message):
        model.generate_batch([HELLO, HELLO])


def test_a_batch_that_would_be_awaited_fails_its_questions_and_the_run_ends(
    tmp_path: Path,
) -> None:
    source = "class Mine:\n async def generate_batch(self, batch):\n  return ['A'] * len(batch)\n"
    rows = tmp_path / "mine.jsonl"
    rows.write_text('{"question": "?", "A": "x", "B": "y", "answer": "A"}\n' * 3)
    model = f"python:{written(tmp_path, source)}:Mine"

    result = snellen.evaluate(str(rows), model, out=tmp_path / "runs")

    assert result.report.replies == {"failed": 3}
    assert any(
        "returned a coroutine for 1 conversation. The function must" in note
        for note in result.report.notes
    )


def test_an_installed_module_that_cannot_be_loaded_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    written(tmp_path, "1 / 0\n", "breaks_when_loaded")
    with pytest.raises(UsageError, match=r"breaks_when_loaded cannot be loaded: ZeroDivisionError"):
        open_model("breaks_when_loaded:answer", profile=Profile(), api_key=None)


def test_a_model_that_asks_for_another_try_gets_it(tmp_path: Path) -> None:
    source = (
        "from snellen.errors import Overloaded\n"
        "def answer(messages):\n    raise Overloaded('later', retry_after=2)\n"
    )
    with pytest.raises(Overloaded) as caught:
        ask(tmp_path, source)
    assert caught.value.retry_after == 2


def test_a_class_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    source = "class Mine:\n def __init__(self):\n  open('no such file')\n"
    with pytest.raises(UsageError, match=r"Mine\(\) failed: FileNotFoundError.*line 3"):
        opened(tmp_path, source, "Mine")


def test_a_class_that_needs_arguments_is_said(tmp_path: Path) -> None:
    source = "class Mine:\n def __init__(self, size):\n  pass\n"
    with pytest.raises(UsageError, match=r"Mine\(\) failed: TypeError.*size"):
        opened(tmp_path, source, "Mine")


def test_a_sync_function_runs_outside_the_loop_one_question_at_a_time(tmp_path: Path) -> None:
    source = (
        "import threading, time\n"
        "now = []\n"
        "def answer(messages):\n"
        "    now.append(1); time.sleep(0.005); count = len(now); now.pop()\n"
        "    return f'{threading.get_ident()} {count}'\n"
    )
    model = opened(tmp_path, source)

    async def body() -> list[Reply]:
        return await asyncio.gather(*(model.generate(HELLO) for _ in range(5)))

    texts = {reply.text for reply in asyncio.run(body())}
    assert model.concurrency == 1
    assert {text.split()[1] for text in texts} == {"1"}
    assert str(threading.get_ident()) not in {text.split()[0] for text in texts}


def test_a_profile_lets_a_sync_function_run_several_times_at_once(tmp_path: Path) -> None:
    source = (
        "import threading\n"
        "together = threading.Barrier(3)\n"
        "def answer(messages):\n    together.wait(10)\n    return 'met'\n"
    )
    model = opened(tmp_path, source, profile=Profile(concurrency=3))

    async def body() -> list[Reply]:
        return await asyncio.gather(*(model.generate(HELLO) for _ in range(3)))

    assert [reply.text for reply in asyncio.run(body())] == ["met"] * 3
    assert model.concurrency == 3


def test_an_async_function_is_not_held_to_one_at_a_time(tmp_path: Path) -> None:
    assert opened(tmp_path, "async def answer(messages):\n    return ''\n").concurrency is None


def test_a_module_beside_the_file_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    written(tmp_path, "WORD = 'beside'\n", "beside_my_model")
    source = "from beside_my_model import WORD\ndef answer(messages):\n    return WORD\n"
    assert ask(tmp_path, source).text == "beside"


def test_a_file_named_like_a_module_takes_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = written(tmp_path, "def answer(messages):\n    return 'mine'\n", "fractions")
    monkeypatch.delitem(sys.modules, "fractions", raising=False)

    model = open_model(f"{path}:answer", profile=Profile(), api_key=None)
    import fractions

    assert isinstance(model, Python)
    assert asyncio.run(model.generate(HELLO)).text == "mine"
    assert fractions.Fraction(1, 2) == 0.5


# -- OVO-Bench's own classes

PART = Request(messages=(user(Video(Path("a.mp4"), start=2.0, end=9.0), "what?"),))
FULL = Request(messages=(user(Video(Path("a.mp4")), "what?"),))


class Theirs:
    """As utils/OVOBench.py has it."""

    def inference(
        self, video_file_name: str, prompt: str, start_time: float = 0, end_time: float = 0
    ) -> object:
        return [f"{video_file_name} {prompt} {start_time} {end_time} {threading.get_ident()}"]


def test_an_inference_gets_the_file_the_words_and_the_seconds_in_a_thread() -> None:
    model = of_object(Theirs, "theirs")
    assert isinstance(model, Files) and isinstance(model, Generates)
    *arguments, thread = asyncio.run(model.generate(PART)).text.split()
    assert arguments == ["a.mp4", "what?", "2.0", "9.0"]
    assert int(thread) != threading.get_ident()


def test_an_inference_about_a_whole_file_gets_no_seconds() -> None:
    model = of_object(Theirs(), "theirs")
    assert isinstance(model, Files)
    assert asyncio.run(model.generate(FULL)).text.split()[:4] == ["a.mp4", "what?", "0", "0"]


class WholeFiles:
    """As models/QWen2VL.py has it."""

    def __init__(self, reply: object) -> None:
        self._reply = reply

    def inference(self, video_file_name: str, prompt: str) -> object:
        return self._reply


def test_an_inference_without_seconds_is_asked_about_whole_files_alone() -> None:
    model = of_object(WholeFiles("B"), "theirs")
    assert isinstance(model, Files)
    assert asyncio.run(model.generate(FULL)).text == "B"
    with pytest.raises(Rejected, match="would see all of it") as caught:
        asyncio.run(model.generate(PART))
    assert caught.value.hopeless


@pytest.mark.parametrize(
    ("result", "message"),
    [(None, "returned None"), (["A", "B"], "returned a list"), (3, "returned an int")],
)
def test_an_inference_that_gives_no_text_has_failed(result: object, message: str) -> None:
    model = of_object(WholeFiles(result), "theirs")
    assert isinstance(model, Files)
    with pytest.raises(Rejected, match=message):
        asyncio.run(model.generate(FULL))


def test_an_inference_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    source = "class Mine:\n def inference(self, video, prompt):\n  raise OSError('gone')\n"
    path = written(tmp_path, source)
    model = open_model(f"{path}:Mine", profile=Profile(), api_key=None)
    assert isinstance(model, Files)
    with pytest.raises(Rejected, match=r"OSError: gone \(my_model.py, line 3\)"):
        asyncio.run(model.generate(FULL))


def test_an_inference_is_asked_about_one_video() -> None:
    model = of_object(Theirs(), "theirs")
    assert isinstance(model, Files)
    with pytest.raises(Rejected, match="the question has 0"):
        asyncio.run(model.generate(HELLO))


# -- sessions

SESSIONS = """
class Mine:
    silence = ("...",)

    {a}def open(self, spec):
        return Session([])


class Session:
    def __init__(self, seen):
        self.seen = seen

    {a}def feed(self, frames):
        self.seen += [frame.time for frame in frames]
        return "now" if frames[0].time == 2.0 else None

    {a}def ask(self, query, must_answer):
        self.seen.append(query.text)
        return [str(self.seen)]

    {a}def fork(self):
        return Session([*self.seen])
"""


@pytest.mark.parametrize("a", ["", "async "])
def test_sessions_of_ones_own_are_sync_or_async_and_say_text(tmp_path: Path, a: str) -> None:
    path = written(tmp_path, SESSIONS.format(a=a))
    model = open_model(f"{path}:Mine", profile=Profile(), api_key=None)
    assert isinstance(model, Streams) and not isinstance(model, Generates)
    assert getattr(model, "silence", None) == ("...",)

    async def body() -> None:
        session = await model.open(SessionSpec())
        frames = [Frame(time=float(second), image=Image(b"")) for second in range(3)]
        assert await session.feed(frames[:1]) == []
        assert await session.feed(frames[2:]) == [Emission(text="now")]
        assert isinstance(session, Forks)
        fork = await session.fork()
        query = Query(id="1", text="what?")
        assert await fork.ask(query, must_answer=True) == [Emission(text="[0.0, 2.0, 'what?']")]
        await fork.close()
        assert await session.ask(query, must_answer=True) == [Emission(text="[0.0, 2.0, 'what?']")]

    asyncio.run(body())


def test_a_session_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    source = SESSIONS.format(a="").replace("self.seen +=", "raise StopIteration;")
    path = written(tmp_path, source)
    model = open_model(f"{path}:Mine", profile=Profile(), api_key=None)
    assert isinstance(model, Streams)

    async def body() -> None:
        session = await model.open(SessionSpec())
        with pytest.raises(Rejected, match=r"StopIteration:  \(my_model.py, line 14\)"):
            await session.feed([])

    asyncio.run(body())


def test_a_model_that_answers_and_watches_does_both() -> None:
    class Both:
        def generate(self, messages: object) -> str:
            return "answer"

        def open(self, spec: SessionSpec) -> object:
            return self

        def feed(self, frames: object) -> str:
            return "fed"

        def ask(self, query: Query, must_answer: bool) -> int:
            return 3

    model = of_object(Both(), "both")
    assert isinstance(model, Generates) and isinstance(model, Streams)

    async def body() -> None:
        assert (await model.generate(HELLO)).text == "answer"
        session = await model.open(SessionSpec())
        assert not isinstance(session, Forks)
        assert await session.feed([]) == [Emission(text="fed")]
        with pytest.raises(Rejected, match="returned an int"):
            await session.ask(Query(id="1", text="?"), must_answer=True)
        await session.close()

    asyncio.run(body())


def test_an_object_without_feed_and_ask_is_no_session() -> None:
    class Mine:
        def open(self, spec: SessionSpec) -> None:
            return None

    model = of_object(Mine(), "mine")
    assert isinstance(model, Streams)
    with pytest.raises(Rejected, match="returned None as a session"):
        asyncio.run(model.open(SessionSpec()))


@pytest.mark.parametrize(
    ("attribute", "sizes"),
    [("batch_size = 20", [20, 20, 20]), ("name = 'plain'", [8, 8, 8, 8, 8, 8, 8, 4])],
)
def test_a_batch_has_as_many_questions_as_the_object_declares(
    tmp_path: Path, attribute: str, sizes: list[int]
) -> None:
    source = f"""
class Mine:
    {attribute}

    def generate_batch(self, conversations):
        with open({str(tmp_path / "sizes")!r}, "a") as file:
            print(len(conversations), file=file)
        return ["A"] * len(conversations)
"""
    rows = tmp_path / "mine.jsonl"
    rows.write_text('{"question": "?", "A": "x", "B": "y", "answer": "A"}\n' * 60)
    model = f"python:{written(tmp_path, source)}:Mine"
    snellen.evaluate(str(rows), model, out=tmp_path / "runs", concurrency=60)
    assert [*map(int, (tmp_path / "sizes").read_text().split())] == sizes


@pytest.mark.parametrize("size", ["0", "'8'", "True"])
def test_a_batch_size_that_is_no_number_is_refused(tmp_path: Path, size: str) -> None:
    source = f"class Mine:\n batch_size = {size}\n def generate_batch(self, batch):\n  return []\n"
    with pytest.raises(UsageError, match="whole number above 0"):
        open_model(f"{written(tmp_path, source)}:Mine", profile=Profile(), api_key=None)
