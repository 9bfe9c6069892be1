"""`--replicas`: one worker, two workers, and two plain processes with half the questions each.

usage: python perf/ray_run.py [--n 100] [--rounds 6] [--work DIR]

The model opens a picture of 640 x 480 and blurs it, a fixed number of times that takes at least
0.1 s of one thread here; each process has one thread. Questions a second are counted from the start
of the first call to the end of the last, as the model writes them down, without the start of Ray;
those of the two plain processes, which do not begin together, are added. Exit 1 where the median of
a ratio falls short of its budget. Needs the extra `ray`, and two cores that nobody else has.
"""

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from statistics import median

import numpy as np
import PIL.Image

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--n", type=int, default=100)
ap.add_argument("--rounds", type=int, default=6)
ap.add_argument("--work", default="/tmp/snellen-ray-run")
args = ap.parse_args()
WORK = Path(args.work)
BUDGETS = {"two workers / one worker": 1.7, "two workers / two plain processes": 0.93}
LEAST = 0.1
WAYS = (
    ("one", (("-b", "all.jsonl", "--replicas", "1"),)),
    ("two", (("-b", "all.jsonl", "--replicas", "2"),)),
    ("plain", (("-b", "half0.jsonl"), ("-b", "half1.jsonl"))),
)
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


def prepared() -> int:
    """The model, the pictures, the rows whole and in halves; how often a picture is blurred."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    (WORK / "blurs.py").write_text(MODEL)
    rows = []
    for n in range(args.n):
        small = np.random.default_rng(n).integers(0, 255, (60, 80, 3), dtype=np.uint8)
        out = BytesIO()
        PIL.Image.fromarray(small).resize((640, 480)).save(out, "JPEG", quality=90)
        (WORK / f"{n}.jpg").write_bytes(out.getvalue())
        options = {"A": "x", "B": "y", "answer": "A"}
        rows.append({"id": n, "image": f"{n}.jpg", "question": f"Which {n} ?", **options})
    for name, part in (("all", rows), ("half0", rows[::2]), ("half1", rows[1::2])):
        (WORK / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    os.environ["BLUR_TIMES"] = "1"
    sys.path.append(str(WORK))
    blurred = importlib.import_module("blurs").blurred
    fastest = float("inf")
    for _ in range(5):
        cpu = time.thread_time()
        blurred(out.getvalue(), 10)
        fastest = min(fastest, (time.thread_time() - cpu) / 10)
    return round(2 * LEAST / fastest)


def rate(name: str, times: int, *runs: tuple[str, ...]) -> tuple[float, float]:
    """Questions a second of runs side by side, and the least CPU seconds of a call."""
    folder = WORK / name
    folder.mkdir()
    processes = []
    for place, more in enumerate(runs):
        calls = folder / f"calls{place}"
        calls.mkdir()
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "BLUR_TIMES": str(times),
            "CALLS": str(calls),
        }
        command = [sys.executable, "-m", "snellen", "run", "-m", "python:blurs.py:answer"]
        processes.append(
            subprocess.Popen(
                [*command, "--out", str(folder / f"runs{place}"), *more],
                cwd=WORK,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    for process in processes:
        _, said = process.communicate()
        if process.returncode:
            sys.exit(f"{name}: exit {process.returncode}: {said[-1000:]}")
    found, least = 0.0, float("inf")
    for place in range(len(runs)):
        lines = [
            [float(word) for word in line.split()]
            for path in (folder / f"calls{place}").iterdir()
            for line in path.read_text().splitlines()
        ]
        span = max(end for _, end, _ in lines) - min(begin for begin, _, _ in lines)
        found += len(lines) / span
        least = min(least, *(cpu for _, _, cpu in lines))
    return found, least


def main() -> None:
    times = prepared()
    print(f"{args.n} questions, {times} blurs each; load {os.getloadavg()[0]:.1f}", flush=True)
    ratios: dict[str, list[float]] = {name: [] for name in BUDGETS}
    for turn in range(args.rounds):
        # In another order each time: the machine itself has faster and slower minutes.
        found = {}
        for place in range(len(WAYS)):
            name, runs = WAYS[(turn + place) % len(WAYS)]
            found[name] = rate(f"{name}{turn}", times, *runs)
        (one, least), (two, _), (plain, _) = (found[name] for name, _ in WAYS)
        assert least >= LEAST, f"a call took {least:.3f} s of CPU, less than {LEAST}"
        for name, ratio in zip(BUDGETS, (two / one, two / plain), strict=True):
            ratios[name].append(ratio)
        print(
            f"round {turn + 1}: one worker {one:.2f} a second, two {two:.2f}, two plain processes "
            f"{plain:.2f}; a call at least {least:.3f} s of CPU; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    missed = False
    for name, budget in BUDGETS.items():
        found = median(ratios[name])
        missed |= found < budget
        each = ", ".join(f"{ratio:.3f}" for ratio in ratios[name])
        verdict = "kept" if found >= budget else "MISSED"
        print(f"{name}: {found:.3f} (at least {budget}: {verdict}); rounds: {each}")
    sys.exit(missed)


main()
