"""A stand-in for a model's server. Each chat completion takes CPU seconds (`--work`), or only
waits (`--wait`; up to `--at-once` of them wait at the same time, and the others queue). `--reply`
is the form of the replies (`_replies.py`); 1,000 different ones are used in turn. Prints the port
on which it listens.

GET /stats returns the number of requests since the previous GET /stats, and the CPU seconds that
they took.
"""

import argparse
import asyncio
import itertools
import json
import time
from collections import deque

from _replies import FORMS, choice_replies

REPLIES = 1000


def completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "model": "stand-in",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 300, "completion_tokens": max(1, len(text) // 4)},
        }
    ).encode()


class Model:
    """Replies after `work` CPU seconds, one call after another, or after `wait` seconds."""

    def __init__(self, work: float, wait: float, at_once: int, form: str) -> None:
        self.work, self.wait, self.at_once = work, wait, at_once
        self._replies = itertools.cycle(
            [completion(text) for text in choice_replies(form, REPLIES)]
        )
        self.requests, self.cpu = 0, time.process_time()
        self._busy = 0
        self._queue: deque[Connection] = deque()

    def ask(self, connection: "Connection") -> None:
        self.requests += 1
        if self.work:
            until = time.thread_time() + self.work
            while time.thread_time() < until:
                pass
            connection.send(next(self._replies))
        elif not self.wait:
            connection.send(next(self._replies))
        elif self._busy < self.at_once:
            self._start(connection)
        else:
            self._queue.append(connection)

    def _start(self, connection: "Connection") -> None:
        self._busy += 1
        asyncio.get_running_loop().call_later(self.wait, self._end, connection)

    def _end(self, connection: "Connection") -> None:
        self._busy -= 1
        connection.send(next(self._replies))
        if self._queue:
            self._start(self._queue.popleft())

    def stats(self) -> bytes:
        now = time.process_time()
        actual = {"requests": self.requests, "cpu": now - self.cpu}
        self.requests, self.cpu = 0, now
        return json.dumps(actual).encode()


class Connection(asyncio.Protocol):
    def __init__(self, model: Model) -> None:
        self._model = model
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        _, name, length = head.partition(b"content-length:")
        full = end + 4 + (int(length.split(b"\r\n", 1)[0]) if name else 0)
        if len(self._buffer) < full:
            return
        del self._buffer[:full]  # a client sends its next request after the reply
        if head.startswith(b"get /stats"):
            self.send(self._model.stats())
        else:
            self._model.ask(self)

    def send(self, body: bytes) -> None:
        assert self._transport is not None
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._transport.write(head % len(body) + body)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=float, default=0.0)
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--reply", default="letter", choices=FORMS)
    args = parser.parse_args()
    model = Model(args.work, args.wait, args.at_once, args.reply)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(model), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
