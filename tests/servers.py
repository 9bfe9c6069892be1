"""Model servers on this machine, for tests: real sockets, and every way in which a server fails.

    with serving(said("A")) as server: ...
    with serving(in_turn(status(500), status(500), said("B"))) as server: ...
    with serving(lambda asked: said("A") if b"cat" in asked.body else hangs()) as server: ...

`server.url` is the `base_url` to give; `server.asked` has what came, in order of arrival.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import monotonic
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    """One request: its number from 0, and what was sent. Header names are in lower case."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """What the server does: after `delay` seconds it sends head and body, `pause` seconds a `piece`
    of so many bytes.

    After `cut` bytes of the body it resets the connection. With status None there is no reply: the
    connection is closed after `delay`.
    """

    status: int | None = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0
    pause: float = 0.0
    piece: int = 1
    cut: int | None = None


Decide = Callable[[ReceivedRequest], Answer]
FOREVER = 3600.0


# -- answers


USAGE = {"prompt_tokens": 300, "completion_tokens": 1, "total_tokens": 301}


def completion(
    text: Any, *, stop: Any = "stop", usage: Any = USAGE, delay: float = 0.0, **message: Any
) -> Answer:
    """A chat completion; further fields go into its message."""
    completion = {
        "object": "chat.completion",
        "model": "mock",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": stop,
            }
        ],
        "usage": usage,
    }
    return Answer(body=json.dumps(completion).encode(), delay=delay)


def status(
    number: int,
    words: str = "injected",
    *,
    code: str | None = None,
    retry_after: str | None = None,
) -> Answer:
    """An error in OpenAI's shape."""
    body = json.dumps({"error": {"message": words, "code": code}}).encode()
    headers = {"Content-Type": "application/json"}
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return Answer(number, body, headers)


def page(html: str = "<html><body>Bad gateway</body></html>", number: int = 200) -> Answer:
    return Answer(number, html.encode(), {"Content-Type": "text/html"})


def hangs() -> Answer:
    return Answer(None, delay=FOREVER)


def closes() -> Answer:
    return Answer(None)


def resets(answer: Answer) -> Answer:
    """Half of the body, then a reset."""
    return replace(answer, cut=len(answer.body) // 2)


def drips(answer: Answer, pause: float, *, piece: int = 1) -> Answer:
    return replace(answer, pause=pause, piece=piece)


def in_turn(*answers: Answer) -> Decide:
    """By order of arrival; the last one answers all the rest."""
    return lambda request: answers[min(request.number, len(answers) - 1)]


# -- servers


@contextmanager
def serving(
    answer: Answer | Decide,
    *,
    latency: float = 0.0,
    at_once: int | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Server]:
    """A server in a thread of its own. Above `at_once` requests it answers 429."""
    server = Server(answer, latency=latency, at_once=at_once)
    started = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(server.run(started, tls),))
    thread.start()
    assert started.wait(10)
    try:
        yield server
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


@contextmanager
def refusing() -> Iterator[str]:
    """An address where nothing listens, kept from everybody else meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


class Server:
    """Answers each request as told, and writes down what came and how many were there at once."""

    def __init__(self, answer: Answer | Decide, *, latency: float, at_once: int | None) -> None:
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.timeline: list[tuple[float, int]] = []
        self.port = 0
        self._answer = answer
        self._latency = latency
        self._at_once = at_once
        self._now = 0
        self._scheme = "http"

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}/v1"

    @property
    def most(self) -> int:
        """The most requests that were there at once, those turned away left out."""
        return max((now for _, now in self.timeline), default=0)

    def mean(self, since: float, until: float) -> float:
        """The mean number of requests at once between two instants of `time.monotonic()`."""
        marks = [*self.timeline, (max(until, self.timeline[-1][0]), 0)]
        held = sum(
            now * max(0.0, min(end, until) - max(start, since))
            for (start, now), (end, _) in pairwise(marks)
        )
        return held / (until - since)

    async def run(self, started: threading.Event, tls: ssl.SSLContext | None) -> None:
        self._scheme = "https" if tls else "http"
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, ssl=tls, limit=1 << 20, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the test is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False where the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = dict(_field(line) for line in head[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = ReceivedRequest(len(self.requests), path, headers, body)
        self.requests.append(request)
        if self._at_once is not None and self._now >= self._at_once:
            return await _send(writer, status(429, "too many at once"))
        self._count(1)
        try:
            answer = self._answer if isinstance(self._answer, Answer) else self._answer(request)
            await self._wait(reader, self._latency + answer.delay)
            return await _send(writer, answer)
        finally:
            self._count(-1)

    async def _wait(self, reader: asyncio.StreamReader, seconds: float) -> None:
        """Wait, unless the client goes away: then its request is no longer there."""
        if not seconds:
            return
        gone = asyncio.ensure_future(reader.read(1))
        done, _ = await asyncio.wait({gone}, timeout=seconds)
        if done:
            raise ConnectionResetError
        gone.cancel()

    def _count(self, change: int) -> None:
        self._now += change
        self.timeline.append((monotonic(), self._now))


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    if answer.status is None:
        return False
    headers = {**answer.headers, "Content-Length": str(len(answer.body))}
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} X\r\n{fields}\r\n".encode("latin-1"))
    for piece in _pieces(answer):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(answer.pause)
    if answer.cut is None:
        return True
    # Closed without waiting for what was not sent, a connection is reset.
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    return False


def _pieces(answer: Answer) -> Sequence[bytes]:
    body = answer.body[: answer.cut]
    size = answer.piece if answer.pause else max(1, len(body))
    return [body[at : at + size] for at in range(0, len(body), size)]
