"""worker:FILE:NAME: runs each session of your own class in a separate process. The process gets
only frames and questions, through a pipe.

NAME is a streaming model as in `python:FILE:NAME`: an object with `open(spec)`, or the object's
class, which is instantiated without arguments. The model is loaded again for each session, so
nothing carries over from one video to the next.

The process starts in an empty temporary folder, which is also its HOME. The environment of the
process has only the variables that are needed to find programs and devices, and the only open files
are the pipes. The process gets each frame, as encoded bytes, only at the time of the frame. The
process gets each question with a meaningless id. Forks answer one after another, before the next
frame arrives. While a fork answers, the process therefore has no later frames.

The process runs as the same user as Snellen, so the process can read that user's files if it knows
or finds their paths. On some systems, the process can also read information about other processes,
such as /proc/PID/fd of the process that decodes videos. The separation keeps honest code from
seeing later frames by mistake, and no video files are in the folder of the process. For protection
against code that searches the disk, set up a user account or a container in which FILE's process
cannot read the videos.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from snellen.core.model import Emission, Query, Session, SessionSpec
from snellen.core.profile import Profile
from snellen.errors import ModelError, Rejected, UsageError
from snellen.media.content import Frame
from snellen.models.code_files import digest_of_code
from snellen.models.user_code import split
from snellen.models.worker_process import LENGTH, MOST_BYTES, Call, CallResult, Do, packed, shown

SOURCE = Path(__file__).parents[2]
"""The folder that contains the package `snellen`."""
LAST_WORDS = 2000
"""The maximum number of bytes that are kept of a process's standard error."""
GONE = 1.0
"""The maximum number of seconds to wait for a process to end."""
QUOTED = 300
"""The maximum number of characters that messages quote from standard error."""


def open_model(
    name: str,
    *,
    profile: Profile,
    api_key: str | None,
    environment: Mapping[str, str] | None = None,
) -> Worker:
    """Open the model at `FILE:NAME`. `environment` contains the environment variables of the
    model's processes, except the variables for each process's own folder.

    Raises:
        UsageError: the file does not exist. The file's content is checked only when a session
            opens.
    """
    file, attribute = split(name, "worker")
    path = Path(file).resolve()
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(
            f"worker:{name}: {file} does not exist or is not a Python file (a file whose name ends "
            "in .py)."
        )
    return Worker(
        f"worker:{name}",
        f"{path}:{attribute}",
        revision=digest_of_code(path),
        timeout=profile.timeout.total,
        concurrency=profile.concurrency or 1,
        environment=environment or {"PATH": os.defpath},
    )


class Worker:
    """A model that watches streams, each in a separate process. At most `concurrency` streams are
    open at once. `timeout` is the time limit of each call, in seconds."""

    def __init__(
        self,
        name: str,
        what: str,
        *,
        revision: str,
        timeout: float,
        concurrency: int,
        environment: Mapping[str, str],
    ) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = concurrency
        self._what = what
        self._timeout = timeout
        self._environment = environment
        self._places = asyncio.Semaphore(concurrency)

    async def open(self, spec: SessionSpec) -> Session:
        """Open a session in a new process.

        Raises:
            Rejected: the process ends or hangs, or the user's code does not return a session. The
                message quotes the end of the process's standard error.
        """
        await self._places.acquire()
        child = _Child(self.name, self._timeout, self._places)
        answer = None
        try:
            await child.start(self._what, self._environment)
            answer = await child.call("open", 0, spec=spec)
        finally:
            if answer is None:
                await child.end()
        session = (_ForkingWorkerSession if answer.forks else _WorkerSession)(child, 0)
        if answer.replays:
            session.replay = session.replay_call
        return session


class _WorkerSession:
    """The session that runs in the process, or a fork of the session in the same process."""

    replay: Callable[[Frame | Query, Sequence[Emission]], Coroutine[Any, Any, None]]

    def __init__(self, child: _Child, number: int) -> None:
        self._child = child
        self._number = number

    async def replay_call(self, event: Frame | Query, messages: Sequence[Emission]) -> None:
        """The method `replay`, if the session in the process has one."""
        sent = tuple(map(self._child.with_hidden_id, messages))
        if isinstance(event, Frame):
            what: dict[str, Any] = {"frames": (shown(event),)}
        else:
            what = {"query": self._child.hidden(event)}
        await self._child.call("replay", self._number, messages=sent, **what)

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        await self._none_answers()
        sent = tuple(map(shown, frames))
        return self._emissions(await self._child.call("feed", self._number, frames=sent))

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        await self._none_answers()
        hidden = self._child.hidden(query)
        return self._emissions(
            await self._child.call("ask", self._number, query=hidden, must_answer=must_answer)
        )

    async def close(self) -> None:
        """Close a fork, or close the session and end the process."""
        if self._number == 0:
            await self._child.end()
        else:
            await self._child.let_go(self._number)

    async def _none_answers(self) -> None:
        """Wait until no fork is open, so that no fork gets later frames."""
        if self._number == 0:
            await self._child.idle.wait()

    def _emissions(self, answer: CallResult) -> Sequence[Emission]:
        return [self._child.with_own_id(emission) for emission in answer.emissions]


class _ForkingWorkerSession(_WorkerSession):
    async def fork(self) -> Session:
        await self._none_answers()
        return _ForkingWorkerSession(self._child, await self._child.fork(self._number))


class _Child:
    """The process of a session, which answers one call at a time."""

    def __init__(self, name: str, timeout: float, places: asyncio.Semaphore) -> None:
        self.idle = asyncio.Event()
        """An event that is set while the session has no open fork."""
        self.idle.set()
        self._name = name
        self._timeout = timeout
        self._places = places
        self._folder = TemporaryDirectory(prefix="session-", ignore_cleanup_errors=True)
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._last_words = b""
        self._call_lock = asyncio.Lock()
        self._numbers = count(1)
        self._forks: set[int] = set()
        self._error: ModelError | None = None
        self._killed = False
        self._is_over = False
        self._secret = secrets.token_bytes(16)
        self._names: dict[str, str] = {}

    async def start(self, what: str, environment: Mapping[str, str]) -> None:
        folder = self._folder.name
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "snellen.models.worker_process",
            what,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=folder,
            env={**environment, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": str(SOURCE)},
            start_new_session=True,  # so that its own child processes are killed together with it
        )
        self._listening = asyncio.create_task(self._listen(self._process))

    async def call(self, do: Do, session: int, **more: Any) -> CallResult:
        """Send a call to the process, and return the answer.

        Raises:
            Overloaded, Rejected: the session raised this error.
            Rejected: the process ended, hangs, or sent a malformed answer. In these cases,
                the process is killed.
        """
        async with self._call_lock:
            if self._error is not None:
                raise self._error
            call = Call(number=next(self._numbers), do=do, session=session, **more)
            # If the caller is cancelled, no one reads the answer, so this error stays.
            self._error = Rejected(
                f"{self._name}: an earlier call to the model's process was interrupted"
            )
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await self._exchange(call)
            except TimeoutError:
                reason = f"did not answer within {self._timeout:g} s"
            except (EOFError, ConnectionError):
                reason = "ended"
            except (msgspec.DecodeError, ValueError) as error:
                reason = f"sent a malformed answer ({error})"
            else:
                self._error = None
                if answer.failure is not None:
                    raise answer.failure.error()
                return answer
            self._error = Rejected(
                f"{self._name}: the model's process {reason}{await self._ending()}."
            )
            raise self._error

    async def fork(self, session: int) -> int:
        """Fork a session, and return the number of the fork."""
        answer = await self.call("fork", session)
        self._forks.add(answer.number)
        self.idle.clear()
        return answer.number

    async def let_go(self, session: int) -> None:
        try:
            if self._error is None:
                await self.call("close", session)
        finally:
            self._forks.discard(session)
            if not self._forks:
                self.idle.set()

    async def end(self) -> None:
        """Kill the process and its child processes."""
        self._error = self._error or Rejected(f"{self._name}: the session was closed")
        self._kill()
        await self._gone()
        self._folder.cleanup()
        if not self._is_over:
            self._is_over = True
            self._places.release()

    # -- ids of questions

    def hidden(self, query: Query) -> Query:
        """Replace the id of a question, since the id may reveal how many more questions there
        are."""
        name = self._hidden_id(query.id)
        self._names[name] = query.id
        return replace(query, id=name)

    def _hidden_id(self, name: str) -> str:
        return blake2b(name.encode(), key=self._secret, digest_size=8).hexdigest()

    def with_hidden_id(self, emission: Emission) -> Emission:
        """Replace the id of the question that an emission names."""
        if emission.query is None:
            return emission
        return replace(emission, query=self._hidden_id(emission.query))

    def with_own_id(self, emission: Emission) -> Emission:
        """Restore the original id of the question in an emission."""
        return replace(emission, query=self._names.get(emission.query or ""))

    # -- the pipes

    async def _exchange(self, call: Call) -> CallResult:
        assert self._process is not None
        calls, answers = self._process.stdin, self._process.stdout
        assert calls is not None and answers is not None
        calls.write(packed(call))
        await calls.drain()
        (length,) = LENGTH.unpack(await answers.readexactly(LENGTH.size))
        if length > MOST_BYTES:
            raise ValueError(f"{length:,} bytes")
        answer = msgspec.msgpack.decode(await answers.readexactly(length), type=CallResult)
        if answer.number != call.number:
            raise ValueError(f"it answers call {answer.number}, not {call.number}")
        return answer

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read the process's standard error, and keep the end of this output."""
        assert process.stderr is not None
        while chunk := await process.stderr.read(1 << 16):
            self._last_words = (self._last_words + chunk)[-LAST_WORDS:]

    async def _ending(self) -> str:
        """Kill the process. Return a text that describes how the process ended and quotes the end
        of its standard error."""
        await self._gone()  # a process that has ended by itself then has an exit code
        code = self._process.returncode if self._process is not None else None
        self._kill()
        await self._gone()
        how = "" if code is None else f" with code {code}"
        words = " ".join(self._last_words.decode(errors="replace").split())
        quote = f". The end of its standard error is {words[-QUOTED:]!r}" if words else ""
        return how + quote

    async def _gone(self) -> None:
        """Wait a short time for the process to end and for its output to be read. Child processes
        in another process group may keep the output open for longer."""
        if self._process is not None and self._listening is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(GONE):
                    await asyncio.gather(self._process.wait(), asyncio.shield(self._listening))

    def _kill(self) -> None:
        if self._process is None or self._killed:
            return
        self._killed = True  # never kill twice, since another process may get the same id later
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
