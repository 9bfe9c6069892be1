"""Kills `snellen run` at random times (SIGKILL), restarts it each time, and checks the result.

usage: python perf/kill.py [--runs 100] [--kills 1] [--n 2000] [--seed 1] [--drivers N] [--peers
../shared/bench/peers] [--work DIR]

Each run of N questions (50 ms, 32 at once) is killed `kills` times, at times drawn uniformly
between its first request and its expected end, and continued by the same command. At the end, each
key must have exactly one reply, and the server must have seen at most N + kills x 32 requests. The
script prints seeds and times. `--runs 1 --kills 100` kills one run a hundred times.

With `--drivers N`, each kill hits the supervisor or one of its N drivers, drawn at random. A killed
driver is replaced once. A killed supervisor is started again.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--runs", type=int, default=100)
ap.add_argument("--kills", type=int, default=1)
ap.add_argument("--n", type=int, default=2000)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--drivers", type=int, default=1)
ap.add_argument("--peers", default=str(Path(__file__).parents[2] / "shared/bench/peers"))
ap.add_argument("--work", default="/tmp/snellen-kill")
ap.add_argument("--port", type=int, default=18081)
args = ap.parse_args()
SNELLEN = Path(sys.executable).with_name("snellen")
WORK = Path(args.work)
LATENCY, CONCURRENCY = 0.05, 32


def server(path: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{args.port}{path}", data=data)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b"{}")


def rows() -> Path:
    path = WORK / "rows.jsonl"
    with path.open("w") as file:
        for i in range(args.n):
            row = {"id": i, "question": f"[item {i:06d}] Which?", "answer": "ABCD"[i % 4]}
            file.write(json.dumps(row | dict.fromkeys("ABCD", "an option")) + "\n")
    return path


def start(path: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(SNELLEN), "run", "-b", str(path), "-m", "openai/mock", "--base-url", f"http://127.0.0.1:{args.port}/v1",
         "--concurrency", str(CONCURRENCY), "--out", str(out),
         *(("--drivers", str(args.drivers)) if args.drivers > 1 else ())],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def requests() -> int:
    return int(server("/stats")["requests"])


def processes(process: subprocess.Popen[bytes]) -> list[int]:
    """The supervisor and its drivers; only the process itself without drivers."""
    try:
        drivers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        drivers = ""
    return [process.pid, *map(int, drivers.split())]


def kill_repeatedly(run: int, path: Path) -> None:
    random_ = random.Random(f"{args.seed} {run}")
    out = WORK / f"runs{run}"
    shutil.rmtree(out, ignore_errors=True)
    server("/reset", {"latency": LATENCY})
    instants = []
    process: subprocess.Popen[bytes] | None = None
    for kill in range(args.kills):
        before = requests()
        left = (args.n - min(before, args.n)) * LATENCY / CONCURRENCY / (args.kills - kill)
        if process is None or process.poll() is not None:
            process = start(path, out)
            while requests() == before and process.poll() is None:
                time.sleep(0.002)
        instant = random_.uniform(0, max(left, 0.01))
        time.sleep(instant)
        if process.poll() is None:
            pids = processes(process)
            victim = pids[random_.randrange(len(pids))]
            os.kill(victim, signal.SIGKILL)
            instants.append(round(instant, 3))
            if victim == process.pid:
                process.communicate()
    if process is not None and process.poll() is None:
        process.communicate()
    process = start(path, out)
    _, words = process.communicate()
    if process.returncode:
        sys.exit(f"run {run}: exit {process.returncode}: {words.decode()[-1000:]}")
    journals = [*out.glob("*/*/*/replies*.jsonl")]
    finals = Counter(
        tuple(record["key"])
        for journal in journals
        for record in map(json.loads, journal.read_bytes().splitlines())
        if record["state"] != "failed"
    )
    report = json.loads(journals[0].with_name("report.json").read_bytes())
    seen = requests()
    print(
        f"run {run}: seed '{args.seed} {run}', killed {len(instants)} times, instants "
        f"{instants}, requests {seen}",
        flush=True,
    )
    assert len(finals) == args.n and set(finals.values()) == {1}, Counter(finals.values())
    assert report["replies"] == {"ok": args.n}, report["replies"]
    assert seen <= args.n + len(instants) * CONCURRENCY, seen
    shutil.rmtree(out)


WORK.mkdir(parents=True, exist_ok=True)
mock = subprocess.Popen(
    [sys.executable, str(Path(args.peers) / "mock_server.py"), "--port", str(args.port)],
    stdout=subprocess.PIPE,
)
try:
    assert mock.stdout is not None
    mock.stdout.readline()
    questions = rows()
    for run in range(args.runs):
        kill_repeatedly(run, questions)
    print(f"{args.runs} runs, {args.kills} kills each: every key has exactly one reply")
finally:
    mock.kill()
