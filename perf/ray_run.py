"""`--replicas`: one worker, two workers, and two plain processes.

usage: python perf/ray_run.py [--turns 60] [--work DIR]

The model opens a picture of 640 x 480 and blurs it a fixed number of times, which takes at least
0.1 s of one thread; each process has one thread. The speed of a shared machine changes by half
within seconds, so all three setups are started together and take turns of some seconds. Meanwhile,
the processes of the other setups, including Ray's, are stopped (SIGSTOP). Questions per second are
counted in the same way for all: in each turn, for each process, from the first call that begins in
the turn to the last. A process that begins fewer than two calls counts as idle in that turn. Exits
with 1 if a ratio falls short of its budget, or if a process that should have been stopped began a
call. Needs the extra `ray`, Linux, and two cores that nobody else uses.
"""

import argparse
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import PIL.Image

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--turns", type=int, default=60, help="of each way")
ap.add_argument("--work", default="/tmp/snellen-ray-run")
args = ap.parse_args()
WORK = Path(args.work)
BUDGETS = {"two workers / one worker": 1.7, "two workers / two plain processes": 0.93}
LEAST = 0.1
TURN = 2.5
"""The length of a turn, in seconds."""
SOME = 10
"""The ratios are also given for parts of this many turns of each setup."""
ROWS, PICTURES = 20_000, 60
"""ROWS is more questions than there is time for."""
WAYS = {
    "one worker": (1, (("--replicas", "1"),)),
    "two workers": (2, (("--replicas", "2"),)),
    "two plain processes": (2, ((), ())),
}
MODEL = """
import os, time
from io import BytesIO
from PIL import Image, ImageFilter

TIMES = int(os.environ["BLUR_TIMES"])

def blurred(data, times):
    picture = Image.open(BytesIO(data)).convert("RGB")
    for _ in range(times):
        picture = picture.filter(ImageFilter.GaussianBlur(3))
    return picture

def answer(messages):
    began, cpu = time.time(), time.thread_time()
    blurred(messages[-1].images[0].source, TIMES)
    with open(f"{os.environ['CALLS']}/{os.getpid()}", "a") as log:
        log.write(f"{began} {time.time()} {time.thread_time() - cpu}\\n")
    return "A"
"""


class Call(NamedTuple):
    begin: float
    end: float
    cpu: float


class Way(NamedTuple):
    processes: int
    """The number of processes that answer."""
    runs: tuple[subprocess.Popen[str], ...]
    folder: Path
    """Each process that answers writes a file here."""

    def calls(self) -> list[list[Call]]:
        """The calls of each process that answers, in order."""
        return [
            sorted(Call(*map(float, line.split())) for line in path.read_text().splitlines())
            for path in self.folder.iterdir()
        ]

    def signal(self, which: signal.Signals) -> None:
        """Send a signal to all processes of this setup, including those of its cluster. They are
        recognized by their environment."""
        mark = f"\0CALLS={self.folder}\0".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # a process may end meanwhile
                if mark in b"\0" + path.read_bytes():
                    os.kill(int(path.parent.name), which)


def prepared() -> int:
    """Write the model, the pictures, and the rows; return how often to blur a picture."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    (WORK / "blurs.py").write_text(MODEL)
    for n in range(PICTURES):
        small = np.random.default_rng(n).integers(0, 255, (60, 80, 3), dtype=np.uint8)
        out = BytesIO()
        PIL.Image.fromarray(small).resize((640, 480)).save(out, "JPEG", quality=90)
        (WORK / f"{n}.jpg").write_bytes(out.getvalue())
    options = {"A": "x", "B": "y", "answer": "A"}
    with (WORK / "rows.jsonl").open("w") as rows:
        for n in range(ROWS):
            row = {"id": n, "image": f"{n % PICTURES}.jpg", "question": f"Which {n} ?", **options}
            rows.write(json.dumps(row) + "\n")
    os.environ["BLUR_TIMES"] = "1"
    sys.path.append(str(WORK))
    blurred = importlib.import_module("blurs").blurred
    fastest = float("inf")
    for _ in range(5):
        cpu = time.thread_time()
        blurred(out.getvalue(), 10)
        fastest = min(fastest, (time.thread_time() - cpu) / 10)
    return round(2.2 * LEAST / fastest)


def begun(name: str, processes: int, runs: Sequence[Sequence[str]], times: int) -> Way:
    folder = WORK / name
    folder.mkdir()
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "BLUR_TIMES": str(times),
        "CALLS": str(folder),
    }
    command = [sys.executable, "-m", "snellen", "run", "-m", f"python:{WORK}/blurs.py:answer"]
    command += ["-b", str(WORK / "rows.jsonl")]
    started = [
        subprocess.Popen(
            [*command, "--out", str(WORK / f"runs/{name}{position}"), *more],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=(WORK / f"{name}{position}.log").open("w"),
            text=True,
        )
        for position, more in enumerate(runs)
    ]
    return Way(processes, tuple(started), folder)


def check_runs(ways: Iterable[Way]) -> None:
    for way in ways:
        for position, run in enumerate(way.runs):
            if run.poll() is not None:
                text = (WORK / f"{way.folder.name}{position}.log").read_text()
                sys.exit(f"{way.folder.name}: exit {run.returncode}: {text[-1000:]}")


def taken(ways: Sequence[Way]) -> list[list[tuple[float, float]]]:
    """Let the setups take turns; return the turns of each, as pairs of begin and end."""
    turns: list[list[tuple[float, float]]] = [[] for _ in ways]
    for way in ways:
        while sum(len(calls) > 1 for calls in way.calls()) < way.processes:
            check_runs(ways)
            time.sleep(0.1)
    for way in ways:
        way.signal(signal.SIGSTOP)
    for n in range(args.turns):
        for position in range(len(ways)):  # in a different order each time
            at = (n + position) % len(ways)
            began = time.time()
            ways[at].signal(signal.SIGCONT)
            time.sleep(TURN)
            ways[at].signal(signal.SIGSTOP)
            turns[at].append((began, time.time()))
        check_runs(ways)
    return turns


class Rate(NamedTuple):
    """The speed of a setup in some turns."""

    questions: float
    """Questions per second."""
    busy: float
    """The calls' CPU time as a share of the processes' time."""

    @classmethod
    def of(
        cls, way: Way, every: Sequence[Sequence[Call]], turns: Iterable[tuple[float, float]]
    ) -> "Rate":
        n, seconds, cpu = 0, 0.0, 0.0
        for began, ended in turns:
            for calls in every:
                inside = [call for call in calls if began <= call.begin < ended]
                if len(inside) > 1:
                    *inside, last = inside
                    seconds += last.begin - inside[0].begin
                else:
                    seconds += ended - began  # the time of an idle process counts too
                n += len(inside)
                cpu += sum(call.cpu for call in inside)
        return cls(questions=way.processes * n / seconds, busy=cpu / seconds)


def check_stopped(
    way: Way, every: Sequence[Sequence[Call]], turns: Sequence[tuple[float, float]]
) -> None:
    """Exit if a setup began a call during another's turn."""
    for (_, ended), (began, _) in pairwise(turns):
        other = sum(ended <= call.begin < began for calls in every for call in calls)
        if other:
            sys.exit(f"{way.folder.name}: {other} calls began while it should have been stopped")


def main() -> None:
    times = prepared()
    print(f"{times} blurs per call; load {os.getloadavg()[0]:.1f}", flush=True)
    ways = [begun(name, processes, runs, times) for name, (processes, runs) in WAYS.items()]
    try:
        turns = taken(ways)
    finally:
        for way in ways:
            way.signal(signal.SIGCONT)
            for run in way.runs:
                run.send_signal(signal.SIGINT)
        for way in ways:
            for run in way.runs:
                run.wait()

    calls = [way.calls() for way in ways]
    for item in zip(ways, calls, turns, strict=True):
        check_stopped(*item)
    least = min(call.cpu for items in calls for item in items for call in item)
    assert least >= LEAST, f"a call took {least:.3f} s of CPU, less than {LEAST}"
    print(f"a call takes at least {least:.3f} s of CPU; {args.turns} turns of {TURN:g} s each")
    ratios: list[tuple[float, float]] = []
    parts = [slice(at, at + SOME) for at in range(0, args.turns, SOME)]
    for part in (*parts, slice(None)):
        rates = [Rate.of(*item[:2], item[2][part]) for item in zip(ways, calls, turns, strict=True)]
        item, two, plain = (rate.questions for rate in rates)
        ratios.append((two / item, two / plain))
    for way, items, rate in zip(ways, calls, rates, strict=True):
        pairs = [pair for item in items for pair in pairwise(item)]
        gap = 1000 * median(later.begin - earlier.end for earlier, later in pairs)
        print(
            f"{way.folder.name}: {rate.questions:.2f} questions/s; {gap:.1f} ms between two calls; "
            f"a process spends {100 * rate.busy:.1f} % of its time in calls"
        )
    missed = False
    for (name, budget), (*by, rate) in zip(BUDGETS.items(), zip(*ratios, strict=True), strict=True):
        missed |= rate < budget
        verdict = "met" if rate >= budget else "MISSED"
        shares = ", ".join(f"{ratio:.3f}" for ratio in by)
        print(f"{name}: {rate:.3f} (at least {budget}: {verdict}); per {SOME} turns: {shares}")
    sys.exit(missed)


main()
