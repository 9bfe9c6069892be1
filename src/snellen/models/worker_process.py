"""The process of a `worker:` session, and the format of calls and answers. The process reads calls
from a pipe and answers them.

Calls and answers are encoded with MessagePack. Four bytes before each call or answer contain its
length (big-endian).
"""

from __future__ import annotations

import asyncio
import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, Literal

import msgspec

from snellen.core.model import Emission, Forks, Query, Replays, Session, SessionSpec
from snellen.errors import ModelError, Overloaded, Rejected, UsageError, message_of
from snellen.media.content import Frame, Image
from snellen.models.threads import CallThreads
from snellen.models.user_code import Calls, errors_as, load_object, opened

Do = Literal["open", "feed", "ask", "fork", "replay", "close"]
LENGTH = struct.Struct(">I")
MOST_BYTES = 64 << 20
"""The maximum size of an answer, in bytes."""


class SentFrame(msgspec.Struct, frozen=True, kw_only=True):
    """A frame that is sent to a session."""

    time: float
    """The media time of the frame, in seconds."""
    data: bytes
    """The encoded picture."""
    mime: str | None
    """The media type of the picture; None if not known."""
    width: int | None
    """The width of the picture in pixels; None if not known."""
    height: int | None
    """The height of the picture in pixels; None if not known."""
    digest: str | None
    """The digest of `data`, as `sha256:<hex>`; None if not known."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call to a session."""

    number: int
    """The number of the call."""
    do: Do
    """The method of the session to call."""
    session: int = 0
    """The number of the session. The number of a fork is the number of the call that created the
    fork."""
    spec: SessionSpec | None = None
    """The session's settings, for the method `open`."""
    frames: tuple[SentFrame, ...] = ()
    """The frames, for the methods `feed` and `replay`."""
    query: Query | None = None
    """The question, for the methods `ask` and `replay`."""
    must_answer: bool = False
    """Whether the session must answer the question now, for the method `ask`."""
    messages: tuple[Emission, ...] = ()
    """The messages of the interrupted session, for the method `replay`."""


class CallFailure(msgspec.Struct, frozen=True, kw_only=True):
    """An error that a call raised."""

    text: str
    """The error message."""
    later: bool = False
    """Whether a retry may help."""
    hopeless: bool = False
    """Whether every other question would fail with the same error."""
    retry_after: float | None = None
    """The seconds to wait before a retry; None if unknown."""
    throttled: bool = False
    """Whether the server rejected the request because it received too many requests."""

    @staticmethod
    def of(error: ModelError | UsageError) -> CallFailure:
        return CallFailure(
            text=message_of(error),
            later=isinstance(error, Overloaded),
            hopeless=isinstance(error, UsageError) or getattr(error, "hopeless", False),
            retry_after=getattr(error, "retry_after", None),
            throttled=getattr(error, "throttled", False),
        )

    def error(self) -> ModelError:
        if self.later:
            return Overloaded(self.text, retry_after=self.retry_after, throttled=self.throttled)
        return Rejected(self.text, hopeless=self.hopeless)


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call."""

    number: int
    """The number of the call."""
    emissions: tuple[Emission, ...] = ()
    """The emissions of the session."""
    forks: bool = False
    """Whether the session can be forked."""
    replays: bool = False
    """Whether the session can continue an interrupted session."""
    failure: CallFailure | None = None
    """The error; None if the call succeeded."""


def packed(what: Call | CallResult) -> bytes:
    body = msgspec.msgpack.encode(what)
    return LENGTH.pack(len(body)) + body


def shown(frame: Frame) -> SentFrame:
    image = frame.image
    assert isinstance(image.source, bytes)
    return SentFrame(
        time=frame.time,
        data=image.source,
        mime=image.mime,
        width=image.width,
        height=image.height,
        digest=image.digest,
    )


def frame_of(sent: SentFrame) -> Frame:
    image = Image(
        sent.data, mime=sent.mime, width=sent.width, height=sent.height, digest=sent.digest
    )
    return Frame(time=sent.time, image=image)


# -- the process


def main() -> None:
    """Answer the calls on standard input until the input ends. The first command-line argument,
    `FILE:NAME`, names the model that opens the sessions."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Redirect both streams, so that the model's output does not mix with answers, and the model
    # cannot read calls.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    asyncio.run(_Serving(sys.argv[1], answers).all(calls))


class _Serving:
    def __init__(self, name: str, answers: BinaryIO) -> None:
        self._name = name
        self._title = f"worker:{os.path.basename(name)}"
        self._answers = answers
        self._sessions: dict[int, Session] = {}
        self._reading = ThreadPoolExecutor(1)
        self._threads = CallThreads(1, self._title)

    async def all(self, calls: BinaryIO) -> None:
        loop = asyncio.get_running_loop()
        # Read in a thread, so that the session's own tasks can continue meanwhile.
        while call := await loop.run_in_executor(self._reading, _next, calls):
            try:
                emissions = await self._done(call)
            except (ModelError, UsageError) as error:
                answer = CallResult(number=call.number, failure=CallFailure.of(error))
            else:
                session = self._sessions.get(call.session)
                answer = CallResult(
                    number=call.number,
                    emissions=emissions,
                    forks=isinstance(session, Forks),
                    replays=isinstance(session, Replays),
                )
            self._answers.write(packed(answer))
            self._answers.flush()

    async def _done(self, call: Call) -> tuple[Emission, ...]:
        if call.do == "open":
            assert call.spec is not None
            self._sessions[call.session] = await self._opened(call.spec)
            return ()
        session = self._sessions[call.session]
        if call.do == "feed":
            return tuple(await session.feed([frame_of(frame) for frame in call.frames]))
        if call.do == "ask":
            assert call.query is not None
            return tuple(await session.ask(call.query, must_answer=call.must_answer))
        if call.do == "replay":
            assert isinstance(session, Replays)
            event = call.query or frame_of(call.frames[0])
            await session.replay(event, call.messages)
        elif call.do == "fork":
            assert isinstance(session, Forks)
            self._sessions[call.number] = await session.fork()
        else:
            del self._sessions[call.session]
            await session.close()
        return ()

    async def _opened(self, spec: SessionSpec) -> Session:
        own = load_object(self._name, "worker")
        model = own.value
        if isinstance(model, type):
            with errors_as(UsageError, f"{self._title}: {model.__name__}() failed", own.source):
                model = model()
        if not callable(getattr(model, "open", None)):
            raise UsageError(
                f"{self._title}: the model has no method `open`, so it cannot watch streams."
            )
        calls = Calls(name=self._title, source=own.source, threads=self._threads)
        return await opened(calls, model.open, spec)


def _next(calls: BinaryIO) -> Call | None:
    head = calls.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return msgspec.msgpack.decode(calls.read(*LENGTH.unpack(head)), type=Call)


if __name__ == "__main__":
    main()
