"""Kills `snellen run` at random times (SIGKILL), restarts it each time, and checks the result.

usage: python perf/kill.py [--runs 100] [--kills 1] [--n 2000] [--seed 1] [--drivers N]
[--ray-address HOST:PORT] [--reply letter] [--peers ../shared/bench/peers] [--work DIR]

Each run of N questions (50 ms, 32 at once) is killed `kills` times, at times drawn uniformly
between its first request and its expected end, and continued by the same command. At the end, each
key must have exactly one reply, and the server must have seen at most N + kills x 32 requests. The
script prints seeds and times. `--runs 1 --kills 100` kills one run a hundred times. `--reply` is a
form of `_replies.py`.

With `--drivers N`, each kill hits the supervisor or one of its N drivers, drawn at random. A killed
driver is replaced once. A killed supervisor is started again. With `--ray-address`, the drivers are
on that Ray cluster, whose nodes are on this machine, and a kill may also hit a host, the process of
Ray that runs a driver.
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
from collections import Counter
from pathlib import Path

from _commands import PEERS, Mock, mock
from _replies import FORMS

SNELLEN = Path(sys.executable).with_name("snellen")
LATENCY, CONCURRENCY = 0.05, 32


def rows(args: argparse.Namespace) -> Path:
    path = args.work / "rows.jsonl"
    with path.open("w") as file:
        for i in range(args.n):
            row = {"id": i, "question": f"[item {i:06d}] Which?", "answer": "ABCD"[i % 4]}
            file.write(json.dumps(row | dict.fromkeys("ABCD", "an option")) + "\n")
    return path


def start(args: argparse.Namespace, server: Mock, path: Path, out: Path) -> subprocess.Popen[bytes]:
    ray = ("--executor", "ray", "--ray-address", args.ray_address) if args.ray_address else ()
    return subprocess.Popen(
        [str(SNELLEN), "run", "-b", str(path), "-m", "openai/mock", "--base-url", server.url,
         "--concurrency", str(CONCURRENCY), "--out", str(out),
         *(("--drivers", str(args.drivers), *ray) if args.drivers > 1 else ())],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def on_ray(out: Path) -> list[int]:
    """The drivers on a Ray cluster, and their hosts."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = process.joinpath("cmdline").read_text().split("\0")
            if "snellen.cli.driver_process" in words and str(out) in words:
                status = process.joinpath("status").read_text()
                pids += [int(process.name), int(status.partition("PPid:")[2].split()[0])]
        except OSError:
            continue
    return [pid for pid in pids if pid > 1]  # 1 is the parent of a driver whose host is dead


def processes(args: argparse.Namespace, process: subprocess.Popen[bytes], out: Path) -> list[int]:
    """The supervisor and its drivers; only the process itself without drivers."""
    if args.ray_address:
        return [process.pid, *on_ray(out)]
    try:
        drivers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        drivers = ""
    return [process.pid, *map(int, drivers.split())]


def kill_repeatedly(args: argparse.Namespace, server: Mock, run: int, path: Path) -> None:
    random_ = random.Random(f"{args.seed} {run}")
    out = args.work / f"runs{run}"
    shutil.rmtree(out, ignore_errors=True)
    server.reset(LATENCY)
    instants = []
    process: subprocess.Popen[bytes] | None = None
    for kill in range(args.kills):
        before = server.stats()["requests"]
        left = (args.n - min(before, args.n)) * LATENCY / CONCURRENCY / (args.kills - kill)
        if process is None or process.poll() is not None:
            process = start(args, server, path, out)
            while server.stats()["requests"] == before and process.poll() is None:
                time.sleep(0.002)
        instant = random_.uniform(0, max(left, 0.01))
        time.sleep(instant)
        if process.poll() is None:
            pids = processes(args, process, out)
            victim = pids[random_.randrange(len(pids))]
            os.kill(victim, signal.SIGKILL)
            instants.append(round(instant, 3))
            if victim == process.pid:
                process.communicate()
    if process is not None and process.poll() is None:
        process.communicate()
    process = start(args, server, path, out)
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
    seen = server.stats()["requests"]
    print(
        f"run {run}: seed '{args.seed} {run}', killed {len(instants)} times, instants "
        f"{instants}, requests {seen}",
        flush=True,
    )
    assert len(finals) == args.n and set(finals.values()) == {1}, Counter(finals.values())
    assert report["replies"] == {"ok": args.n}, report["replies"]
    assert seen <= args.n + len(instants) * CONCURRENCY, seen
    shutil.rmtree(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drivers", type=int, default=1)
    parser.add_argument("--ray-address")
    parser.add_argument("--reply", default="letter", choices=FORMS)
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-kill"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    with mock(args.peers) as server:
        questions = rows(args)
        server.prepare(args.reply, "choices", args.n, questions)
        for run in range(args.runs):
            kill_repeatedly(args, server, run, questions)
    print(f"{args.runs} runs, {args.kills} kills each: every key has exactly one reply")


if __name__ == "__main__":
    main()
