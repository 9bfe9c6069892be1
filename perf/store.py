"""A run on an object store, compared with the same run on the local disk.

usage: python perf/store.py [--n 10000] [--latency 0.1] [--work DIR]

Asks a model in this process (a reply of 200 bytes after `latency` seconds, 32 at once) n questions
twice: with a local folder, and with a bucket on a server on this machine (moto, whose CPU is not
counted). Prints the driver's CPU per sample (user + system time), as the slope from n / 10 to
n, which leaves out the start; the seconds; and for the store, the bytes sent, also relative to the
journal, the requests, and the objects at the end. A proxy in front of the server counts the bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from _commands import measured

SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
MODEL = """
import asyncio

async def says(messages):
    await asyncio.sleep({latency})
    return "yes " * 50
"""
REQUEST = re.compile(rb"(GET|PUT|HEAD|POST|DELETE) \S+ HTTP/1.1\r\n")


class Took(NamedTuple):
    """The CPU seconds and wall seconds that one run took."""

    cpu: float
    seconds: float


class Counting:
    """A proxy that forwards everything to a server and counts it."""

    def __init__(self, to: int) -> None:
        self._to = to
        self.sent = 0
        self.requests: Counter[str] = Counter()
        self.port = 0
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        ready.wait()

    async def _serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    async def _pass(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        text, server = await asyncio.open_connection("127.0.0.1", self._to)

        async def replies() -> None:
            while data := await text.read(1 << 16):
                back.write(data)
                await back.drain()
            back.close()

        task = asyncio.create_task(replies())
        while data := await client.read(1 << 16):
            self.sent += len(data)
            self.requests.update(match[1].decode() for match in REQUEST.finditer(data))
            server.write(data)
            await server.drain()
        server.close()
        await task


@contextmanager
def store() -> Iterator[tuple[Counting, str]]:
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        port = int(server.stdout.readline())
        signed = "AWS4-HMAC-SHA256 Credential=who/20260101/us-east-1/s3/aws4_request, Signature=x"
        bucket = urllib.request.Request(
            f"http://127.0.0.1:{port}/bucket", b"", {"Authorization": signed}, method="PUT"
        )
        urllib.request.urlopen(bucket).close()
        try:
            yield Counting(port), "s3://bucket/runs"
        finally:
            server.stdin.close()
            server.kill()


def run(work: Path, out: str, n: int, port: int) -> Took:
    words = ["run", "-b", str(work / "rows.jsonl"), "--task", "vqa", "--limit", str(n)]
    words += ["-m", f"python:{work / 'model.py'}:says", "--concurrency", "32", "--out", out]
    actual = measured(
        [sys.executable, "-m", "snellen", *words, "--no-score"],
        work / "log.txt",
        {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "who",
            "AWS_SECRET_ACCESS_KEY": "what",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "SNELLEN_HOME": str(work / "home"),
        },
    )
    return Took(actual["cpu"], actual["wall"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--work", type=Path)
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(dir=args.work))
    try:
        measure(work, args.n, args.latency)
    finally:
        shutil.rmtree(work)


def measure(work: Path, n: int, latency: float) -> None:
    rows = ({"id": f"s{i}", "question": f"Is {i} a number?", "answer": "yes"} for i in range(n))
    (work / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (work / "model.py").write_text(MODEL.format(latency=latency))
    few = n // 10
    with store() as (counting, url):
        slopes = {}
        for name, out in ("local", str(work / "runs")), ("store", url):
            short = run(work, f"{out}/few", few, counting.port)
            counting.sent = 0
            counting.requests.clear()
            result = run(work, f"{out}/all", n, counting.port)
            slopes[name] = (result.cpu - short.cpu) / (n - few)
            print(
                f"{name}: {1e3 * slopes[name]:.3f} ms CPU per sample, {result.cpu:.1f} s CPU and "
                f"{result.seconds:.1f} s for {n:,}"
            )
        print(f"store / local: {slopes['store'] / slopes['local']:.2f} of the CPU per sample")
        mirror = work / "home" / "mirror"
        journal = [*mirror.glob("*/*/bucket/runs/all/*/*/*/*s-*.jsonl")]
        size = sum(path.stat().st_size for path in journal)
        text = ", ".join(f"{count:,} {verb}" for verb, count in counting.requests.items())
        print(
            f"journal {size / 1e6:.2f} MB in {len(journal)} objects; sent {counting.sent / 1e6:.2f}"
            f" MB, {counting.sent / size:.2f} of it; requests: {text}"
        )


if __name__ == "__main__":
    main()
