"""How far a run scales: how much the driver, the journal, decoding, and the network can handle on
this machine, and whether a model of a run that knows only these figures (`_scale_model.py`)
predicts the throughput with 1, 2, and 4 servers.

usage: python perf/scale.py [--seconds 3] [--reps 3] [--keys 1000000] [--reply reasoning]
[--work DIR] [--figures FILE] [--write docs/scale.md] [--from FILE] [--check]

Measures for at least 9 minutes and prints each figure. --reply is a form of `_replies.py`, by
default 1.5 kB of reasoning that ends in an answer; the journal is also measured with letters and
with 15 kB. The results are medians of --reps rounds. Each
round measures both the inputs of the model and the throughput that it must predict. Prints the
measured and simulated replies per second of each point with their ratio, and fails if a prediction
is off by more than 10 %. --figures saves the figures (JSON), and --write writes the page from them.
--from reads the figures from such a file instead of measuring. --check only says whether
docs/scale.md matches perf/scale.json.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from _replies import FORMS, choice_replies
from _scale_page import page
from _scale_predictions import ALLOWED, Kind, points

HERE = Path(__file__).parent
KEPT, PAGE = HERE / "scale.json", HERE.parent / "docs/scale.md"
SIZES = (54_000, 100_000, 1_000_000)
AT_ONCE = 32
PROBE = 0.5
KINDS = (
    Kind(name="20 ms of CPU", work=0.02, slots=2),
    Kind(name="100 ms of CPU", work=0.1, slots=2),
    Kind(name="100 ms of waiting, 8 at once", wait=0.1, at_once=8, slots=8),
    Kind(name="20 ms of waiting, 32 at once", wait=0.02, at_once=32, slots=32),
)
REPLICAS = (1, 2, 4)


def part(name: str, **arguments: Any) -> dict[str, Any]:
    """Run one measurement of `_scale_parts.py`, in a process of its own."""
    command = [sys.executable, str(HERE / "_scale_parts.py"), name, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode:
        sys.exit(f"Measurement {name} with {arguments} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


class Server:
    """A stand-in for a model's server, in a process of its own."""

    def __init__(self, *flags: str) -> None:
        command = [sys.executable, str(HERE / "_scale_server.py"), *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self._at = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = f"{self._at}/v1"

    def stats(self) -> dict[str, float]:
        """The number of requests since the previous call, and the CPU seconds that they took."""
        with urllib.request.urlopen(f"{self._at}/stats", timeout=30) as reply:
            return json.loads(reply.read())


@contextmanager
def servers(n: int, *flags: str) -> Iterator[list[Server]]:
    with ExitStack() as stack:
        started = []
        for _ in range(n):
            server = Server(*flags)
            stack.callback(server.process.wait)
            stack.callback(server.process.kill)
            started.append(server)
        yield started


def say(what: str, expected: object) -> None:
    print(f"{what}: {expected}   (load {os.getloadavg()[0]:.1f})", flush=True)


def middle(samples: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(item[name] for item in samples) for name in samples[0]}


# -- rounds: the inputs of the model of a run, and the throughput that it must predict


def run_over_http(
    args: argparse.Namespace, size: int, n: int, slots: int = AT_ONCE
) -> dict[str, float]:
    """The CPU seconds per sample of the driver, and of a server that answers at once."""
    with servers(1, "--reply", args.reply) as (server,):
        server.stats()
        actual = part("ask", work=str(args.work), n=n, slots=slots, bytes=size, urls=[server.url])
        there = server.stats()
    return {
        "driver": actual["cpu"] / n,
        "rate": n / actual["span"],
        "handling": there["cpu"] / there["requests"],
    }


def run_here(args: argparse.Namespace, size: int, n: int) -> dict[str, float]:
    """The same with a model that answers at once in the driver's process."""
    actual = part(
        "ask", work=str(args.work), n=n, slots=AT_ONCE, bytes=size, urls=[], reply=args.reply
    )
    return {"driver": actual["cpu"] / n, "rate": n / actual["span"]}


def point(args: argparse.Namespace, kind: Kind, replicas: int, n: int) -> dict[str, float]:
    """The replies per second of a run on this many servers, the driver's CPU seconds per reply,
    and the number of cores that were available."""
    before = part("busy", seconds=PROBE)["cores"]
    flags = ["--work", str(kind.work), "--wait", str(kind.wait), "--at-once", str(kind.at_once)]
    flags += ["--reply", args.reply]
    with servers(replicas, *flags) as started:
        actual = part(
            "ask",
            work=str(args.work),
            n=n,
            slots=kind.slots * replicas,
            bytes=SIZES[0],
            urls=[server.url for server in started],
        )
    after = part("busy", seconds=PROBE)["cores"]
    return {
        "rate": n / actual["span"],
        "driver": actual["cpu"] / n,
        "cores": (before + after) / 2,
    }


def in_rounds(args: argparse.Namespace) -> dict[str, Any]:
    over_http: dict[int, list[dict[str, float]]] = {size: [] for size in SIZES}
    here: list[dict[str, float]] = []
    alone: list[dict[str, float]] = []
    measured: dict[tuple[int, int], list[dict[str, float]]] = {}
    n = max(500, round(args.seconds * 700))
    part("ask", work=str(args.work), n=100, slots=AT_ONCE, bytes=SIZES[0], urls=[])  # fills caches
    for number in range(args.reps):
        for size in SIZES:
            over_http[size].append(run_over_http(args, size, max(100, n * SIZES[0] // size)))
            say(f"round {number + 1}: driver over HTTP, {size:,} bytes", over_http[size][-1])
        alone.append(run_over_http(args, SIZES[0], n // 2, slots=1))
        say("driver over HTTP, one question at a time", alone[-1])
        here.append(run_here(args, SIZES[0], n))
        say("driver, model in its process", here[-1])
        for position, kind in enumerate(KINDS):
            for replicas in REPLICAS:
                actual = point(args, kind, replicas, questions(args, kind, replicas))
                measured.setdefault((position, replicas), []).append(actual)
                say(f"{kind.name}, {replicas} servers", actual)
    return {
        "sizes": {str(size): middle(actual) for size, actual in over_http.items()},
        "alone": middle(alone),
        "here": middle(here),
        "points": [
            {
                "kind": KINDS[position].fields(),
                "replicas": replicas,
                "questions": questions(args, KINDS[position], replicas),
                "rounds": actual,
            }
            for (position, replicas), actual in measured.items()
        ],
    }


def questions(args: argparse.Namespace, kind: Kind, replicas: int) -> int:
    """The number of questions that takes about `--seconds` on a quiet machine."""
    least = kind.wait / kind.at_once / replicas if kind.wait else kind.work / min(replicas, cores())
    return max(4 * kind.slots * replicas, round(args.seconds / max(least, 0.001)))


# -- the other measurements, done once


def once(args: argparse.Namespace) -> dict[str, Any]:
    work, actual = str(args.work), {}
    n = max(300, round(args.seconds * 300))
    actual["stages"] = {
        str(size): part("stages", work=work, bytes=size, reply=args.reply) for size in SIZES
    }
    say("stages", actual["stages"])
    actual["decode"] = part("decode", work=work)
    say("decoding", actual["decode"])
    with servers(1) as (server,):
        actual["post"] = {
            str(size): part("post", url=server.url, bytes=size, n=3 * n * SIZES[0] // size, slots=8)
            for size in SIZES
        }
    say("HTTP client alone", actual["post"])
    actual["append"] = {
        form: part("journal", work=work, n=args.keys // 10, reply=form)
        for form in ("letter", "reasoning", "long")
    }
    say("journal", actual["append"])
    actual["keys"] = []
    for keys in (args.keys // 10, args.keys):
        part("journal", work=work, n=keys, reply=args.reply, keep="journal")
        path = str(args.work / "journal")
        size = sum(file.stat().st_size for file in Path(path).glob("*.jsonl"))
        measured = {"keys": keys, "bytes": size, "load": part("load", path=path)}
        measured["score"] = part("score", path=path)
        actual["keys"].append(measured)
        say("a run with this many keys", measured)
    shutil.rmtree(args.work / "journal")
    runs = [
        part("ask", work=work, n=samples, slots=AT_ONCE, bytes=1000, urls=[], reply=args.reply)
        for samples in (args.keys // 500, args.keys // 40)
    ]
    actual["run"] = [{"n": measured["n"], "memory": measured["memory"]} for measured in runs]
    say("memory of a run by number of samples", actual["run"])
    actual["groups"] = part("groups", work=work, n=args.keys // 20)
    say("memory of a question whose group is waiting", actual["groups"])
    flags = ["--wait", "1", "--at-once", "100000", "--reply", args.reply]
    with servers(1, *flags) as (server,):
        runs = [
            part("ask", work=work, n=4 * slots, slots=slots, bytes=SIZES[1], urls=[server.url])
            for slots in (16, 512)
        ]
    actual["under_way"] = [
        {"slots": measured["n"] // 4, "memory": measured["memory"]} for measured in runs
    ]
    say("memory of a run by number of questions in flight", actual["under_way"])
    return actual


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def machine() -> dict[str, Any]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    return {
        "date": date.today().isoformat(),
        "cpu": model,
        "cores": cores(),
        "python": platform.python_version(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a measurement")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--keys", type=int, default=1_000_000, help="keys in the loaded journal")
    parser.add_argument("--reply", default="reasoning", choices=FORMS)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-scale"))
    parser.add_argument("--figures", type=Path, default=None)
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("--from", type=Path, default=None, dest="kept")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        is_current = PAGE.read_text() == page(json.loads(KEPT.read_text()))
        print(f"{PAGE.name} {'matches' if is_current else 'does not match'} {KEPT.name}")
        return 0 if is_current else 1
    if args.kept is not None:
        document = json.loads(args.kept.read_text())
    else:
        args.work.mkdir(parents=True, exist_ok=True)
        began, load = time.time(), [os.getloadavg()[0]]
        document = {"machine": machine()} | in_rounds(args) | once(args)
        load.append(os.getloadavg()[0])
        document["machine"] |= {"load": load, "seconds": time.time() - began, "reps": args.reps}
        lengths = [len(text) for text in choice_replies(args.reply, 1000)]
        document["reply"] = {"form": args.reply, "characters": round(median(lengths))}
        # The figures as they are when read back from a file.
        document = json.loads(json.dumps(document, sort_keys=True))
    held = True
    print(f"\n{'calls':32} {'servers':>7} {'measured':>10} {'simulated':>10} ratio")
    for point in points(document):
        held &= point.held
        print(
            f"{point.kind:32} {point.replicas:7} {point.measured:10.2f} {point.simulated:10.2f} "
            f"{point.ratio:5.2f} {'' if point.held else f'off by more than {ALLOWED:.0%}'}"
        )
    if args.figures is not None:
        args.figures.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    if args.write is not None:
        args.write.write_text(page(document))
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
