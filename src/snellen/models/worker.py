"""worker:FILE:NAME: sessions of a class of one's own, each in a process of its own that is handed
frames and questions through a pipe, and nothing else.

NAME is what `python:FILE:NAME` takes for streams: a class, made without arguments, or an object,
with `open(spec)`. It is made anew for each session, so nothing stays from one video to the next.

The process is started in an empty temporary folder that is also its HOME, with what finds programs
and devices of the environment and nothing else of it, and with no open file but the pipes. It gets
a frame when its time has come, as encoded bytes, and a question under a name that says nothing.
Forks are asked one after the other, and before the next frame is handed over: while one answers, no
later frame is in the process.

What is not prevented: a process of the same user may read that user's files, if it knows or finds
where they are, and what the system tells of other processes (/proc/PID/fd of the one that decodes,
where that is allowed). This keeps honest code from seeing ahead by mistake, and code that looks
around from finding anything at hand. To keep out code that searches the disk, run all of Snellen as
a user, or in a container, in which FILE's process cannot read the videos.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence
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
"""The folder that this package lies in."""
LAST_WORDS = 2000
"""Bytes that are kept of what a process writes on standard error."""
GONE = 1.0
"""Seconds that a process is given to end."""
SAID = 300
"""Characters of them that are told."""


def open_model(
    name: str,
    *,
    profile: Profile,
    api_key: str | None,
    environment: Mapping[str, str] | None = None,
) -> Worker:
    """The sessions of what `FILE:NAME` means; `environment` is what their processes have of it
    beside a folder of their own.

    Raises:
        UsageError: there is no such file. What is in it is found out when a session opens.
    """
    file, attribute = split(name, "worker")
    path = Path(file).resolve()
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"worker:{name}: there is no file {file} that ends in .py.")
    return Worker(
        f"worker:{name}",
        f"{path}:{attribute}",
        revision=digest_of_code(path),
        timeout=profile.timeout.total,
        concurrency=profile.concurrency or 1,
        environment=environment or {"PATH": os.defpath},
    )


class Worker:
    """A model that watches streams, `concurrency` of them at once, each in a process. `timeout` is
    for each call, in seconds."""

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
        """A session in a process that is started for it.

        Raises:
            Rejected: the process ends or hangs, or what it is to load gives no session; says what
                the last was that it wrote.
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
        return (_ForkingWorkerSession if answer.forks else _WorkerSession)(child, 0)


class _WorkerSession:
    """A session in the process, or a fork of one there."""

    def __init__(self, child: _Child, number: int) -> None:
        self._child = child
        self._number = number

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        await self._none_answers()
        given = tuple(map(shown, frames))
        return self._said(await self._child.call("feed", self._number, frames=given))

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        await self._none_answers()
        hidden = self._child.hidden(query)
        return self._said(
            await self._child.call("ask", self._number, query=hidden, must_answer=must_answer)
        )

    async def close(self) -> None:
        """Let a fork go; with the session itself its process ends."""
        if self._number == 0:
            await self._child.end()
        else:
            await self._child.let_go(self._number)

    async def _none_answers(self) -> None:
        """Wait until no fork is left to answer, before time goes on in the process."""
        if self._number == 0:
            await self._child.idle.wait()

    def _said(self, answer: CallResult) -> Sequence[Emission]:
        return [self._child.named(one) for one in answer.said]


class _ForkingWorkerSession(_WorkerSession):
    async def fork(self) -> Session:
        await self._none_answers()
        return _ForkingWorkerSession(self._child, await self._child.fork(self._number))


class _Child:
    """The process, and the one call at a time that it answers."""

    def __init__(self, name: str, timeout: float, places: asyncio.Semaphore) -> None:
        self.idle = asyncio.Event()
        """No fork of the session is open."""
        self.idle.set()
        self._name = name
        self._timeout = timeout
        self._places = places
        self._folder = TemporaryDirectory(prefix="session-", ignore_cleanup_errors=True)
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._last_words = b""
        self._one_by_one = asyncio.Lock()
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
            start_new_session=True,  # what it starts itself ends with it
        )
        self._listening = asyncio.create_task(self._listen(self._process))

    async def call(self, do: Do, session: int, **more: Any) -> CallResult:
        """What the process answers.

        Raises:
            Overloaded, Rejected: as its session says. Rejected: it ended, hangs, or answers in
                another form; then it is no more.
        """
        async with self._one_by_one:
            if self._error is not None:
                raise self._error
            call = Call(number=next(self._numbers), do=do, session=session, **more)
            # Until it has answered: who calls may be cancelled, and nobody wait for the answer.
            self._error = Rejected(f"{self._name}: its process was left in the midst of a call")
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await self._exchange(call)
            except TimeoutError:
                reason = f"did not answer within {self._timeout:g} s"
            except (EOFError, ConnectionError):
                reason = "ended"
            except (msgspec.DecodeError, ValueError) as error:
                reason = f"answered in another form than asked for ({error})"
            else:
                self._error = None
                if answer.failure is not None:
                    raise answer.failure.error()
                return answer
            self._error = Rejected(f"{self._name}: its process {reason}{await self._told()}.")
            raise self._error

    async def fork(self, session: int) -> int:
        """The number of a fork that is made."""
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
        """Kill the process, and what it started."""
        self._error = self._error or Rejected(f"{self._name}: its session was closed")
        self._kill()
        await self._gone()
        self._folder.cleanup()
        if not self._is_over:
            self._is_over = True
            self._places.release()

    # -- questions' names

    def hidden(self, query: Query) -> Query:
        """The question under another name: its own may say how many more there are."""
        name = blake2b(query.id.encode(), key=self._secret, digest_size=8).hexdigest()
        self._names[name] = query.id
        return replace(query, id=name)

    def named(self, emission: Emission) -> Emission:
        """What was said, for the question under its own name."""
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
            raise ValueError(f"the answer to call {answer.number}, not {call.number}")
        return answer

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read what it writes on standard error, of which the end is kept."""
        assert process.stderr is not None
        while said := await process.stderr.read(1 << 16):
            self._last_words = (self._last_words + said)[-LAST_WORDS:]

    async def _told(self) -> str:
        """How the process ended, which is over now, and its last words."""
        await self._gone()  # one that ended says how
        code = self._process.returncode if self._process is not None else None
        self._kill()
        await self._gone()
        how = "" if code is None else f" with code {code}"
        words = " ".join(self._last_words.decode(errors="replace").split())
        said = f"; the last it wrote is {words[-SAID:]!r}" if words else ""
        return how + said

    async def _gone(self) -> None:
        """Wait until it is, and all is read that it wrote; not long, for what it started may live
        on in a group of its own."""
        if self._process is not None and self._listening is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(GONE):
                    await asyncio.gather(self._process.wait(), asyncio.shield(self._listening))

    def _kill(self) -> None:
        if self._process is None or self._killed:
            return
        self._killed = True  # its number may be another's later
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
