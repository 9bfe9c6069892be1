"""Sessions in a process of their own: what passes the pipe, and what is told when one ends."""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import (
    Emission,
    Forks,
    Generation,
    Query,
    Replays,
    Session,
    SessionSpec,
    Streams,
    Usage,
)
from snellen.core.profile import Profile, Timeouts
from snellen.errors import Overloaded, Rejected, UsageError
from snellen.media.content import Frame, Image
from snellen.testing import check_streams

SPEC = SessionSpec(rate=2.0, seed=3, generation=Generation(max_tokens=7, extra={"a": [1, None]}))
HELLO = """
class Hello:
    def open(self, spec):
        return Session([f"{spec}"])


class Session:
    def __init__(self, said):
        self.said = said

    def feed(self, frames):
        self.said += [f"{one.time} {one.image.source!r} {one.image.width}" for one in frames]

    async def ask(self, query, must_answer):
        self.said.append(f"{query.text} {query.choices} {must_answer}")
        return "\\n".join(self.said)

    def fork(self):
        return Session([*self.said])
"""


def frame(time: float) -> Frame:
    return Frame(time=time, image=Image(b"\0\xff", mime="image/jpeg", width=4, height=2))


def query(text: str) -> Query:
    return Query(id="12_3", text=text, choices=("x", "y"))


def opened(folder: Path, source: str, name: str, profile: Profile | None = None) -> Streams:
    path = folder / "mine.py"
    path.write_text(source)
    model = registry.model(f"worker:{path}:{name}", profile).model
    assert isinstance(model, Streams)
    return model


def within(
    folder: Path,
    body: Callable[[Session], Awaitable[Any]],
    source: str = HELLO,
    name: str = "Hello",
    profile: Profile | None = None,
) -> Any:
    """What is done with one session, which is closed."""

    async def all_of_it() -> Any:
        session = await opened(folder, source, name, profile).open(SPEC)
        try:
            return await body(session)
        finally:
            await session.close()

    return asyncio.run(all_of_it())


def test_what_is_handed_over_arrives_and_what_is_said_comes_back(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        assert await session.feed([frame(0.0), frame(0.5)]) == []
        (emission,) = await session.ask(query("é?"), must_answer=True)
        assert emission.text.splitlines() == [
            str(SPEC),
            r"0.0 b'\x00\xff' 4",
            r"0.5 b'\x00\xff' 4",
            "é? ('x', 'y') True",
        ]

    within(tmp_path, body)


def test_a_fork_leaves_no_trace(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        assert isinstance(session, Forks)
        fork = await session.fork()
        await fork.feed([frame(9.0)])
        await fork.ask(query("one"), must_answer=True)
        await fork.close()
        (emission,) = await session.ask(query("two"), must_answer=True)
        assert emission.text.splitlines()[1:] == ["two ('x', 'y') True"]

    within(tmp_path, body)


def test_nothing_later_is_handed_over_while_a_fork_is_open(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        assert isinstance(session, Forks)
        fork = await session.fork()
        later = asyncio.create_task(session.feed([frame(9.0)]))
        await fork.ask(query("one"), must_answer=True)
        await asyncio.sleep(0.2)
        assert not later.done()
        await fork.close()
        assert await later == []

    within(tmp_path, body)


def test_a_session_without_fork_is_not_said_to_have_one(tmp_path: Path) -> None:
    async def body(session: Session) -> bool:
        return isinstance(session, Forks)

    assert within(tmp_path, body, HELLO.replace("def fork", "def no_fork")) is False


REPLAYING = (
    HELLO
    + """
    def replay(self, event, messages):
        text = event.text if hasattr(event, "text") else event.time
        self.said += [f"replayed {text}", *(f"{one.text} to {one.query}" for one in messages)]
        self.said += [event.id] if hasattr(event, "text") else []
"""
)


def test_a_session_that_can_replay_gets_each_event_with_what_was_said_then(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        assert isinstance(session, Replays)
        await session.replay(query("when?"), [])
        await session.replay(frame(1.0), [Emission(text="now", query="12_3"), Emission(text="too")])
        (emission,) = await session.ask(query("two"), must_answer=True)
        _, first, name, second, *messages, _ = emission.text.splitlines()
        assert (first, second) == ("replayed when?", "replayed 1.0")
        # The question has the same name in the message, and it is not its own.
        assert messages == [f"now to {name}", "too to None"]
        assert "12_3" not in emission.text

    within(tmp_path, body, REPLAYING)


def test_a_session_without_replay_is_not_said_to_have_one(tmp_path: Path) -> None:
    async def body(session: Session) -> bool:
        return isinstance(session, Replays)

    assert within(tmp_path, body) is False


ECHO = """
from snellen.errors import Overloaded, Rejected
from snellen.core.model import Emission, Usage


class Echo:
    def open(self, spec):
        return self

    def feed(self, frames):
        print("printed")
        return [Emission(text="a", final=False, silence=0.25, usage=Usage(output=1)), "b", ""]

    def ask(self, query, must_answer):
        if query.text == "later":
            raise Overloaded("busy", retry_after=2.0, throttled=True)
        if query.text == "never":
            raise Rejected("no", hopeless=True)
        if query.text == "number":
            return 3
        return Emission(text="yes", query=query.id)
"""


def test_emissions_keep_what_they_say_of_themselves_and_prints_are_not_in_the_way(
    tmp_path: Path,
) -> None:
    async def body(session: Session) -> None:
        first = Emission(text="a", final=False, silence=0.25, usage=Usage(output=1))
        assert await session.feed([frame(0.0)]) == [first, Emission(text="b")]

    within(tmp_path, body, ECHO, "Echo")


def test_a_question_goes_under_another_name_and_comes_back_under_its_own(tmp_path: Path) -> None:
    source = ECHO.replace('text="yes"', "text=query.id")

    async def body(session: Session) -> None:
        (emission,) = await session.ask(query("what?"), must_answer=True)
        assert emission.query == "12_3"
        assert re.fullmatch("[0-9a-f]{16}", emission.text)

    within(tmp_path, body, source, "Echo")


def test_errors_that_are_raised_arrive_as_they_are(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        with pytest.raises(Overloaded, match="busy") as busy:
            await session.ask(query("later"), must_answer=True)
        assert (busy.value.retry_after, busy.value.throttled) == (2.0, True)
        with pytest.raises(Rejected, match="no") as never:
            await session.ask(query("never"), must_answer=True)
        assert never.value.hopeless
        with pytest.raises(Rejected, match="returned an int"):
            await session.ask(query("number"), must_answer=True)
        (emission,) = await session.ask(query("and now?"), must_answer=True)
        assert emission.text == "yes"

    within(tmp_path, body, ECHO, "Echo")


def test_what_is_raised_is_told_with_its_line(tmp_path: Path) -> None:
    source = (
        "class Mine:\n def open(self, spec):\n  return self\n def feed(self, frames):\n  [][0]\n"
    )
    source += " def ask(self, query, must_answer):\n  pass\n"

    async def body(session: Session) -> None:
        with pytest.raises(Rejected, match=r"IndexError: .* \(mine.py, line 5\)"):
            await session.feed([frame(0.0)])

    within(tmp_path, body, source, "Mine")


DIES = """
import os, sys, time


class Dies:
    def open(self, spec):
        return self

    def feed(self, frames):
        print("out of memory at layer 7", file=sys.stderr, flush=True)
        os._exit(3)

    def ask(self, query, must_answer):
        print("waiting for a lock", flush=True)
        time.sleep(60)
"""


def test_one_that_dies_is_told_of_with_its_last_words(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        message = r"ended with code 3. The end of its standard error is 'out of memory at layer 7'"
        with pytest.raises(Rejected, match=message):
            await session.feed([frame(0.0)])
        with pytest.raises(Rejected, match=message):
            await session.ask(query("still there?"), must_answer=True)

    within(tmp_path, body, DIES, "Dies")


def test_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    profile = Profile(timeout=Timeouts(total=2.0))

    async def body(session: Session) -> None:
        message = (
            r"did not answer within 2 s. The end of its standard error is 'waiting for a lock'"
        )
        with pytest.raises(Rejected, match=message):
            await session.ask(query("well?"), must_answer=True)

    within(tmp_path, body, DIES, "Dies", profile)


def test_one_that_writes_into_the_pipe_itself_is_given_up(tmp_path: Path) -> None:
    source = """
import os
class Forger:
    def open(self, spec):
        return self
    def feed(self, frames):
        for number in range(3, 20):
            try:
                os.write(number, b"\\0\\0\\0\\1!")
            except OSError:
                pass
    def ask(self, query, must_answer):
        return "yes"
"""

    async def body(session: Session) -> None:
        with pytest.raises(Rejected, match="a malformed answer"):
            await session.feed([frame(0.0)])

    within(tmp_path, body, source, "Forger")


def test_a_session_that_is_closed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    source = """
import os, subprocess, sys
class Here:
    def open(self, spec):
        self.other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        return self
    def feed(self, frames):
        return f"{os.getpid()} {self.other.pid} {os.getcwd()}"
    def ask(self, query, must_answer):
        pass
"""

    async def body(session: Session) -> str:
        (emission,) = await session.feed([frame(0.0)])
        return emission.text

    own, other, folder = within(tmp_path, body, source, "Here").split()
    assert not Path(folder).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(own), 0)
    # A signal takes a while to end the other.
    deadline = time.monotonic() + 10
    while _runs(int(other)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(int(other))


def _runs(pid: int) -> bool:
    """Whether there is such a process, which nobody may have waited for."""
    try:
        return "Z (zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("1 / 0\n", "Mine", "mine.py cannot be loaded: ZeroDivisionError"),
        ("Mine = 3\n", "Other", "has no 'Other'; it has Mine"),
        ("Mine = 3\n", "Mine", "has no method `open`"),
        ("class Mine:\n def __init__(self):\n  open('x')\n", "Mine", r"Mine\(\) failed: FileNotF"),
        ("class Mine:\n def open(self, spec):\n  pass\n", "Mine", "returned None as a session"),
    ],
)
def test_what_gives_no_session_is_said_when_one_opens(
    tmp_path: Path, source: str, name: str, message: str
) -> None:
    with pytest.raises(Rejected, match=message) as caught:
        asyncio.run(opened(tmp_path, source, name).open(SPEC))
    assert caught.value.hopeless


def test_a_file_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist or is not a Python file"):
        registry.model(f"worker:{tmp_path}/none.py:Mine")
    with pytest.raises(UsageError, match="Write worker:FILE:NAME"):
        registry.model("worker:mine.py")


def test_another_file_is_another_revision(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HELLO)
    first = registry.model(f"worker:{path}:Hello")
    path.write_text(HELLO + "#\n")
    assert registry.model(f"worker:{path}:Hello").revision != first.revision
    assert first.concurrency == 1


def test_no_more_sessions_are_open_than_are_wanted_at_once(tmp_path: Path) -> None:
    model = opened(tmp_path, HELLO, "Hello", Profile(concurrency=1))

    async def body() -> None:
        first = await model.open(SPEC)
        second = asyncio.create_task(model.open(SPEC))
        await asyncio.sleep(0.5)
        assert not second.done()
        await first.close()
        await (await second).close()

    asyncio.run(body())


def test_a_session_in_a_process_keeps_the_contract(tmp_path: Path) -> None:
    check_streams(opened(tmp_path, HELLO, "Hello"), [frame(0.0), frame(0.5)])
