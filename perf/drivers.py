"""One driver compared with two, on two cores, against a server that replies at once.

usage: python perf/drivers.py [--n 20000] [--rounds 3] [--reply sentence] [--work DIR] [--cpus 0,1]

A driver takes d seconds of CPU per question, and the server s. One driver is limited by its own
core, so it asks 1/d questions per second. Two drivers and the server share two cores, so they can
ask at most 2/(d + s). The budget is 0.93 of that: rate of two drivers / rate of one driver >=
0.93 x 2d/(d + s). Rates, d, and s are those between 10 % and 90 % of the questions, so that start
and scoring are left out. d and s come from the same round.

When other processes use the cores, the rates say little. `CPU` is then the better column: the CPU
per question of one driver and the server, divided by that of two drivers and the server, which is
the same ratio if the cores are always busy.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--n", type=int, default=20_000)
ap.add_argument("--rounds", type=int, default=3)
ap.add_argument("--reply", choices=("letter", "sentence", "reasoning"), default="sentence")
ap.add_argument("--concurrency", type=int, default=64)
ap.add_argument("--work", default="/tmp/snellen-drivers")
ap.add_argument("--cpus", default="0,1")
args = ap.parse_args()
WORK = Path(args.work)
TICKS = os.sysconf("SC_CLK_TCK")
REPLIES = {
    "letter": "A",
    "sentence": "The answer is A.",
    "reasoning": "The picture shows a street with two cars and a tree. " * 28 + "The answer is A.",
}
SERVER = """
import asyncio, json, sys
message = {"role": "assistant", "content": sys.argv[1]}
body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    "usage": {"prompt_tokens": 300, "completion_tokens": 9}})
reply = (f"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: {len(body)}"
    f"\\r\\n\\r\\n{body}").encode()
n = 0

class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""
    def data_received(self, data):
        global n
        self.buffer += data
        while (end := self.buffer.find(b"\\r\\n\\r\\n")) >= 0:
            head = self.buffer[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\\r")[0]) if start >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            if head.startswith(b"get"):
                text = str(n)
                self.transport.write(f"HTTP/1.1 200 OK\\r\\nContent-Length: {len(text)}\\r\\n\\r\\n"
                                     f"{text}".encode())
            else:
                n += 1
                self.transport.write(reply)

async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass
class Measured:
    """What one run took, per question."""

    rate: float
    """Questions per second."""
    drivers: float
    """CPU seconds of all drivers per question."""
    server: float
    """CPU seconds of the server per question."""
    busy: float
    """The share of two cores that the drivers and the server used."""


def cpu_of(pid: int) -> float:
    """The CPU seconds of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def children(pid: int) -> list[int]:
    try:
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def stored(out: Path) -> int:
    """The size of the journals in bytes, which is proportional to the questions answered."""
    return sum(path.stat().st_size for path in out.glob("*/*/*/replies*.jsonl"))


def measure(rows: Path, drivers: int, port: int, server: int, line: int) -> Measured:
    out = WORK / "runs"
    shutil.rmtree(out, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "snellen", "run", "-b", str(rows), "--task", "mcq"),
        *("-m", "openai/m", "--base-url", f"http://127.0.0.1:{port}/v1", "--out", str(out)),
        *("--concurrency", str(args.concurrency), "--no-score", "-q"),
        *(("--drivers", str(drivers)) if drivers > 1 else ()),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    marks = []
    for share in (0.1, 0.9):
        while stored(out) < share * args.n * line and process.poll() is None:
            time.sleep(0.01)
        pids = [process.pid, *children(process.pid)]
        marks.append((time.monotonic(), stored(out) / line, sum(map(cpu_of, pids)), cpu_of(server)))
    assert process.wait() == 0
    (begin, n_0, cpu_0, server_0), (end, n_1, cpu_1, server_1) = marks
    n = n_1 - n_0
    used = cpu_1 - cpu_0 + server_1 - server_0
    seconds = end - begin
    return Measured(n / seconds, (cpu_1 - cpu_0) / n, (server_1 - server_0) / n, used / seconds / 2)


def line_size(rows: Path, port: int) -> int:
    """The size of a line of the journal in bytes."""
    out = WORK / "runs"
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "snellen", "run", "-b", str(rows), "--task", "mcq"),
            *("-m", "openai/m", "--base-url", f"http://127.0.0.1:{port}/v1"),
            *("--out", str(out), "--no-score", "-q", "--limit", "100"),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return stored(out) // 100


def main() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    cpus = {int(number) for number in args.cpus.split(",")}
    os.sched_setaffinity(0, cpus)
    rows = WORK / "rows.jsonl"
    with rows.open("w") as file:
        for i in range(args.n):
            row = {"id": f"s{i:06d}", "question": f"Which {i:06d}?", "answer": "ABCD"[i % 4]}
            file.write(json.dumps(row | dict.fromkeys("ABCD", "an option")) + "\n")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, REPLIES[args.reply]], stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        line = line_size(rows, port)
        print(f"{'drivers':>7} {'rate':>8} {'d, ms':>7} {'s, ms':>7} {'busy':>6} {'load':>6}")
        ratios, efficiencies = [], []
        for _ in range(args.rounds):
            pair = []
            for drivers in (1, 2):
                it = measure(rows, drivers, port, server.pid, line)
                pair.append(it)
                print(
                    f"{drivers:7} {it.rate:8.0f} {1000 * it.drivers:7.3f} {1000 * it.server:7.3f} "
                    f"{it.busy:6.2f} {os.getloadavg()[0]:6.1f}",
                    flush=True,
                )
            alone, both = pair
            bound = 2 * alone.drivers / (alone.drivers + alone.server)
            ratios.append(both.rate / alone.rate / bound)
            efficiencies.append((alone.drivers + alone.server) / (both.drivers + both.server))
            print(f"        two / one {both.rate / alone.rate:.2f}, bound 2d/(d+s) {bound:.2f}")
        print(
            f"rate: {median(ratios):.3f} of the bound (at least 0.93), "
            f"CPU: {median(efficiencies):.3f}; medians of {args.rounds} rounds"
        )
    finally:
        server.kill()


main()
