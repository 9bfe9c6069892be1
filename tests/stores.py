"""An object store on this machine (moto), spoken to by plain HTTP, and machines that use it.

A machine is a process with a folder of its own for mirrors; it looks at the store more often than a
user's does, so that tests take seconds.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
COMMAND = """
import sys
from contextlib import suppress
with suppress(ImportError):
    import s3fs
    s3fs.S3FileSystem.retries = 1
from snellen.store import remote_lock as lock
lock.EVERY, lock.RENEWED, lock.LEASE, lock.AT_THE_END = 0.1, 0.3, 1.5, 2
from snellen import cli
sys.exit(cli.exit_code(sys.argv[1:]))
"""
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=who/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, "
    "Signature=unchecked"
)
_numbers = count(1)


@dataclass
class Bucket:
    """An empty bucket; `url` as users name it."""

    endpoint: str
    name: str

    @property
    def url(self) -> str:
        return f"s3://{self.name}"

    def put(self, key: str, data: bytes) -> None:
        self._ask("PUT", key, data)

    def get(self, key: str) -> bytes:
        return self._ask("GET", key)

    def remove(self, key: str) -> None:
        self._ask("DELETE", key)

    def objects(self) -> list[str]:
        listing = self._ask("GET", "?list-type=2").decode()
        return [unescape(key) for key in re.findall("<Key>([^<]*)</Key>", listing)]

    def _ask(self, method: str, key: str, data: bytes | None = None) -> bytes:
        path = key if key.startswith("?") else quote(key)
        url = f"{self.endpoint}/{self.name}/{path}"
        headers = {"Authorization": SIGNED, "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())


@contextmanager
def store_server() -> Iterator[str]:
    """The address of an empty store."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.stdin.close()
            server.kill()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    with store_server() as address:
        yield address


@pytest.fixture
def bucket(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A bucket, and what this process needs to reach it."""
    for name, value in environment(endpoint, tmp_path / "here").items():
        monkeypatch.setenv(name, value)
    bucket = Bucket(endpoint, f"bucket-{os.getpid()}-{next(_numbers)}")
    bucket.put("", b"")
    return bucket


def environment(endpoint: str, home: Path) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "who",
        "AWS_SECRET_ACCESS_KEY": "a secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SNELLEN_HOME": str(home),
    }


@dataclass
class Machine:
    """Somewhere that commands run, with mirrors of its own."""

    home: Path
    endpoint: str
    other: Mapping[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *args: str | Path, command: str = COMMAND) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", command, *map(str, args)],
            env={**os.environ, **environment(self.endpoint, self.home), **self.other},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.started:
            process.kill()
            process.communicate()

    def run(self, *args: str | Path, code: int = 0) -> tuple[str, str]:
        """What it wrote to standard output and standard error."""
        process = self.start(*args)
        out, err = process.communicate(timeout=100)
        assert process.returncode == code, err
        return out, err


class Proxy:
    """Stands before a store. `cut` is asked of the beginning of each request: a connection whose
    request it says yes to is cut after 2,000 bytes; `change` may change what is sent."""

    def __init__(self, endpoint: str) -> None:
        self._to = int(endpoint.rpartition(":")[2])
        self.cut: Callable[[bytes], bool] = lambda request: False
        self.change: Callable[[bytes], bytes] = lambda sent: sent
        self.gone = False
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._to)) as server:
            back = threading.Thread(target=self._back, args=(server, client), daemon=True)
            back.start()
            passed, doomed = 0, False
            with suppress(OSError):
                while sent := client.recv(1000):
                    if self.gone:
                        break
                    if sent.startswith((b"PUT ", b"GET ", b"POST ", b"HEAD ")):
                        passed, doomed = 0, self.cut(sent)
                    passed += len(sent)
                    if doomed and passed > 2000:
                        self.cuts += 1
                        break
                    server.sendall(self.change(sent))
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            back.join()

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while text := server.recv(1 << 16):
                client.sendall(text)


@pytest.fixture
def proxy(endpoint: str) -> Iterator[Proxy]:
    proxy = Proxy(endpoint)
    yield proxy
    proxy.close()
