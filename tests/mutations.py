"""Mutated replies of model servers, from a seed, and a server that sends them as they are.

Run many more of them than the tests do:

    python -m tests.mutations 5000            # replies for each back end
    python -m tests.mutations 5000 --seed 7

None is a 429: the runner waits as long as such a reply says, and asks again.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import re
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from snellen.api import Finished, Plan, run_plan
from snellen.core.profile import Profile, Timeouts
from snellen.registry import benchmark
from tests.servers import Answer
from tests.vendors import VENDORS, Vendor

KINDS = ("json",) * 12 + ("bytes",) * 6 + ("wait",) * 3 + ("header", "header", "status", "line")
"""What is mutated: mostly the body, since after other mutations little of a reply is read."""
BLOCK = 1000
"""Replies of one run."""
RETRY: dict[str, Any] = {"attempts": 1, "give_up": 1_000_000, "backoff": 0.0}

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    5,
    -1,
    2**31,
    2**63,
    2**64 - 1,
    2**64,
    10**400,
    -(2**63) - 1,
    0.5,
    -0.0,
    1e308,
    1e999,
    float("nan"),
    "",
    " ",
    "A",
    "\0",
    "\x1b[2J",
    "\ud800",
    "\u202e",
    "é" * 50,
    "[DONE]",
    "error",
    "content_filter",
    "length",
    "2147483648s",
    "9" * 400 + "s",
    "1.5.5s",
    [],
    [None],
    [[]],
    [5],
    ["A"],
    [{}],
    {},
    {"": None},
    {"text": 5},
    {"error": "x"},
    {"type": "text", "text": None},
]
STATUSES = [
    100,
    101,
    103,
    199,
    200,
    200,
    200,
    201,
    204,
    206,
    226,
    299,
    301,
    302,
    304,
    307,
    399,
    400,
    401,
    402,
    403,
    404,
    408,
    409,
    413,
    418,
    421,
    425,
    451,
    499,
    500,
    502,
    503,
    504,
    520,
    529,
    599,
    600,
    700,
    999,
]
STATUS_LINES = [
    b"HTTP/1.0 200 OK",
    b"HTTP/1.1 200",
    b"HTTP/1.1  200 OK",
    b"HTTP/1.1 0200 OK",
    b"HTTP/1.1 20 OK",
    b"HTTP/1.1 99999999999999999999 OK",
    b"HTTP/1.1 -200 OK",
    b"HTTP/1.1 +200 OK",
    b"HTTP/2 200 OK",
    b"HTTP/9.9 200 OK",
    b"HTTP/1.1 200 \xff\xfe",
    b"HTTP/1.1 \xd9\xa2\xd9\xa0\xd9\xa0 OK",
    b"ICY 200 OK",
    b"200 OK",
    b"",
    b"\0",
    b"SSH-2.0-OpenSSH_9.6",
    b"HTTP/1.1 200 " + b"x" * 9000,
]
WAITS = [
    "Mon, 01 Jan 99999999999 00:00:00 GMT",
    "Mon, 01 Jan 2030 00:00:00 +99999999999999",
    "Mon, 01 Jan 2030 00:00:00 -99999999999999",
    "Mon, 01 Jan 0001 00:00:00 +2359",
    "Mon, 31 Dec 9999 23:59:59 -2359",
    "Mon, 01 Jan 1 00:00:00 GMT",
    "Mon, 99 Jan 2030 00:00:00 GMT",
    "Mon, 01 Jan 2030 99:99:99 GMT",
    "0",
    "-1",
    "1e999",
    "9" * 400,
    "1.5.5",
    ".",
    "NaN",
    "inf",
    "\xb2",
    "Mon,",
    ",,,",
    "Jan",
    "01 Jan",
    "Mon, 01 Jan 2030",
    "Mon 1:2:3",
    "1 Jan 70 0:0:0 +",
    ":::",
    "Mon, 01 Jan 2030 00.00.00 GMT",
    "Mon, 01-Jan-2030 00:00:00 GMT",
    "\t",
    '"5"',
    "5, 6",
]
HEADERS = [
    ("Content-Type", "text/event-stream"),
    ("Content-Type", "application/json"),
    ("Content-Type", ""),
    ("Content-Type", "text/event-stream; charset=\xff"),
    ("Content-Type", "a/b/c;;;="),
    ("Content-Encoding", "gzip"),
    ("Content-Encoding", "deflate"),
    ("Content-Encoding", "br"),
    ("Content-Encoding", "zstd"),
    ("Content-Encoding", "gzip, gzip"),
    ("Content-Encoding", "nothing"),
    ("Content-Length", "0"),
    ("Content-Length", "-1"),
    ("Content-Length", "+5"),
    ("Content-Length", "99999999999999999999"),
    ("Content-Length", "5, 6"),
    ("Content-Length", "x"),
    ("Transfer-Encoding", "chunked"),
    ("Transfer-Encoding", "gzip, chunked"),
    ("Transfer-Encoding", "\xff"),
    ("Connection", "upgrade"),
    ("Upgrade", "h2c"),
    ("Location", "http://[::1"),
    ("Location", "\xff//"),
    ("Set-Cookie", "a" * 5000),
    ("", "x"),
    ("Bad Name", "x"),
    ("X", "\0"),
    ("X", "a\r\n b"),
    ("X", "y" * 9000),
    ("Retry-After", "\xff"),
]
BYTES = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"data: ",
    b"data:",
    b"event: ",
    b"id: \0\n",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"1e999",
    b"null",
    b"0\r\n\r\n",
    b"[" * 5000,
    b'{"a":' * 3000,
]


class Mutations:
    """The mutated replies of one vendor, by their number."""

    def __init__(self, vendor: Vendor, seed: int) -> None:
        self._vendor = vendor
        self._seed = seed

    def reply(self, number: int) -> bytes:
        """What goes over the wire for one request, framing and all."""
        draw = random.Random(f"{self._vendor.kind} {self._seed} {number}")
        status, headers, body = self._valid(draw)
        line = f"HTTP/1.1 {status} X".encode()
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            match draw.choice(KINDS):
                case "json":
                    body = _with_other_values(body, draw)
                case "bytes":
                    body = _with_other_bytes(body, draw)
                case "wait":
                    line = f"HTTP/1.1 {draw.choice((503, 500, 408))} X".encode()
                    headers.append(("Retry-After", _wait(draw)))
                case "header":
                    headers.append(draw.choice(HEADERS))
                    if headers[-1] == ("Content-Encoding", "gzip") and draw.random() < 0.7:
                        body = _with_other_bytes(gzip.compress(body, mtime=0), draw)
                case "status":
                    line = f"HTTP/1.1 {draw.choice(STATUSES)} X".encode()
                case "line":
                    line = draw.choice(STATUS_LINES)
        names = {name for name, _ in headers}
        if "Content-Length" not in names and "Transfer-Encoding" not in names:
            headers.append(("Content-Length", str(len(body))))
        # Else a client may ask its next question over a connection that is just being closed.
        headers.append(("Connection", "close"))
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return line + b"\r\n" + fields.encode("latin-1") + b"\r\n" + body

    def _valid(self, draw: random.Random) -> tuple[int, list[tuple[str, str]], bytes]:
        vendor = self._vendor
        answer: Answer = draw.choice(
            (
                vendor.answered("A", thought="Hm."),
                vendor.answered("", stop=vendor.withheld),
                vendor.streamed("A", ", then", thoughts=["Hm."]),
                vendor.streamed("A", stop=vendor.cut),
                vendor.error(draw.choice((400, 401, 403, 404, 500, 503))),
            )
        )
        assert answer.status is not None
        return answer.status, [*answer.headers.items()], answer.body


def _wait(draw: random.Random) -> str:
    if draw.random() < 0.5:
        return draw.choice(WAITS)
    value = draw.choice(WAITS[:8])
    digits = "".join(draw.choices("0123456789", k=draw.randrange(1, 25)))
    at = draw.randrange(len(value))
    return value[:at] + draw.choice((digits, "", " ", "-", "+", ":", "GMT")) + value[at + 1 :]


def _with_other_values(body: bytes, draw: random.Random) -> bytes:
    """JSON, or one event's JSON, with a value replaced, removed, or repeated."""
    lines = body.split(b"\n")
    with_data = [at for at, line in enumerate(lines) if line.startswith(b"data: {")]
    if with_data:
        at = draw.choice(with_data)
        lines[at] = b"data: " + _with_another_value(lines[at][6:], draw)
        return b"\n".join(lines)
    return _with_another_value(body, draw)


def _with_another_value(text: bytes, draw: random.Random) -> bytes:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    slots: list[tuple[Any, Any]] = [*_slots(value)]
    if not slots or draw.random() < 0.05:
        return json.dumps(draw.choice(VALUES)).encode()
    holder, key = draw.choice(slots)
    match draw.choice(("replace", "replace", "replace", "remove", "repeat")):
        case "replace":
            holder[key] = draw.choice(VALUES)
        case "remove":
            del holder[key]
        case "repeat" if isinstance(holder, list):
            holder += [copy.deepcopy(holder[key])] * draw.randrange(1, 50)
        case _:
            holder[key] = [holder[key]]
    return json.dumps(value).encode()


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a value inside a JSON document."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _slots(value[key])


def _with_other_bytes(body: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(body) + 1)
    end = min(len(body), at + draw.randrange(1, 40))
    match draw.choice(("flip", "delete", "insert", "cut", "repeat", "line ends")):
        case "flip":
            return body[:at] + bytes([draw.randrange(256)]) + body[at + 1 :]
        case "delete":
            return body[:at] + body[end:]
        case "insert":
            return body[:at] + draw.choice(BYTES) + body[at:]
        case "cut":
            return body[:at]
        case "repeat":
            return body[:at] + body[at:end] * draw.randrange(2, 30) + body[end:]
        case _:
            return body.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b"")))


@contextmanager
def sending(raw: Callable[[bytes], bytes]) -> Iterator[str]:
    """A server that answers each request with the bytes that `raw` gives for its body, and closes
    the connection."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(5.0)
                connection.sendall(raw(_request_body(connection)))
                connection.shutdown(socket.SHUT_WR)
                connection.recv(65536)
            except OSError:
                pass  # the client did not wait for the rest

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)
        assert not thread.is_alive()


def _request_body(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536) or b"\r\n\r\n"
    head, _, body = received.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            left = int(line.partition(b":")[2]) - len(body)
            while left > 0 and (block := connection.recv(65536)):
                left -= len(block)
                body += block
    return body


def run_on(replies: Sequence[bytes], vendor: Vendor, folder: Path) -> Finished:
    """A run whose every second question gets one of the replies, and the others a valid one, so
    that failures in a row do not end it."""
    rows = folder / "rows.jsonl"
    row = {"A": "x", "B": "y", "answer": "A"}
    lines = [
        json.dumps({"id": f"q{i}", "question": f"Which of {i}?", **row})
        for i in range(2 * len(replies))
    ]
    rows.write_text("\n".join(lines))
    body = vendor.answered("A").body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    valid = f"{head}Connection: close\r\n\r\n".encode() + body

    def raw(request: bytes) -> bytes:
        # By the question and not by the connection: some clients connect once more.
        match = re.search(rb"Which of (\d+)\?", request)
        assert match is not None, request
        i = int(match[1])
        return replies[i // 2] if i % 2 else valid

    with sending(raw) as url:
        plan = Plan(
            benchmarks=[benchmark(str(rows))],
            models=[f"{vendor.kind}/m"],
            profile=Profile(base_url=url, timeout=Timeouts(connect=5.0, first=5.0, total=5.0)),
            out=folder / "runs",
            concurrency=1,
            retry=RETRY,
        )
        return run_plan(plan)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description="Send mutated replies to each back end.")
    parser.add_argument("replies", type=int, help="how many for each back end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[vendor.kind for vendor in VENDORS])
    parser.add_argument("--first", type=int, default=0, help="the number of the first reply")
    options = parser.parse_args()
    end = options.first + options.replies
    for vendor in VENDORS:
        if options.only not in (None, vendor.kind):
            continue
        mutations = Mutations(vendor, options.seed)
        for start in range(options.first, end, BLOCK):
            replies = [mutations.reply(i) for i in range(start, min(start + BLOCK, end))]
            with tempfile.TemporaryDirectory() as folder:
                finished = run_on(replies, vendor, Path(folder))
            assert finished.result is not None and finished.stopped is None, finished.stopped
            states = finished.result.report.replies
            assert sum(states.values()) == 2 * len(replies), states
            print(vendor.kind, start, states, flush=True)


if __name__ == "__main__":
    main()
