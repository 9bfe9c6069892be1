"""Servers of files on this machine, for tests: real sockets, and every way in which one fails.

    with serving_files({"/a.zip": Served(b"...")}) as server: ...
    with serving_files({"/a.zip": lambda asked: in_turn(asked, cut, whole)}) as server: ...

`server.url` is where the paths begin; `server.asked` has what came, in order of arrival.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ETAG = '"first"'


@dataclass(frozen=True)
class ReceivedRequest:
    """One request: how many came before it for this path, and its headers, names in lower case."""

    number: int
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Served:
    """A file, and what is wrong with how it is served.

    `says` is a length that it has not; `cut` closes the connection after so many bytes of a reply;
    `trusting` sends a range of whatever file there is, without a look at `If-Range`; `unsaid` says
    no length at all. `stop` sends so many bytes, says it in `reached`, and then nothing until the
    client has gone.
    """

    body: bytes = b""
    status: int = 200
    etag: str | None = ETAG
    modified: str | None = None
    ranges: bool = True
    trusting: bool = False
    says: int | None = None
    cut: int | None = None
    unsaid: bool = False
    stop: int | None = None
    reached: threading.Event | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Served | Callable[[ReceivedRequest], Served]


def in_turn(*served: Served) -> Callable[[ReceivedRequest], Served]:
    """By order of arrival; the last one answers all the rest."""
    return lambda request: served[min(request.number, len(served) - 1)]


def moved(to: str, status: int = 302) -> Served:
    return Served(status=status, headers={"Location": to})


@dataclass
class Server:
    url: str
    requests: list[ReceivedRequest] = field(default_factory=list)
    most: int = 0
    """The most requests that were there at once."""


@contextmanager
def serving_files(files: Mapping[str, Answer]) -> Iterator[Server]:
    """A server with these paths; any other is 404."""
    lock = threading.Lock()
    now = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            nonlocal now
            with lock:
                number = sum(request.path == self.path for request in server.requests)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = ReceivedRequest(number, self.path, headers)
                server.requests.append(request)
                now += 1
                server.most = max(server.most, now)
            file = files.get(self.path.partition("?")[0], Served(status=404))
            try:
                self.send(file if isinstance(file, Served) else file(request), request)
            finally:
                with lock:
                    now -= 1

        def send(self, served: Served, request: ReceivedRequest) -> None:
            start, status = 0, served.status
            wanted = request.headers.get("range", "")
            condition = request.headers.get("if-range")
            version = (served.etag, served.modified)
            same = served.trusting or condition is None or condition in version
            headers = {"ETag": served.etag, "Last-Modified": served.modified, **served.headers}
            if wanted and served.ranges and same and status == 200:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(served.body):
                    status, start = 416, len(served.body)
                    headers["Content-Range"] = f"bytes */{len(served.body)}"
                else:
                    status = 206
                    span = f"{start}-{len(served.body) - 1}/{len(served.body)}"
                    headers["Content-Range"] = f"bytes {span}"
            body = served.body[start:]
            says = len(body) if served.says is None else served.says
            if not served.unsaid:
                headers["Content-Length"] = str(says)
            self.send_response(status)
            for name, value in headers.items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: served.stop if served.cut is None else served.cut])
            if served.reached is not None:
                served.reached.set()
                self.rfile.read(1)  # nothing more comes: this ends when the client does
                self.close_connection = True
                return
            # Whatever is not as said ends the connection, as the client cannot find the next reply.
            self.close_connection = served.unsaid or served.cut is not None or says != len(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join(10)
        http.server_close()
        assert not thread.is_alive()
