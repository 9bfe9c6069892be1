"""An API run of `snellen run` compared with the floor client, against the same mock server.

usage: python perf/api_run.py [--peers ../shared/bench/peers] [--work DIR] [--parts
slope,span128,memory,start] [--reps 3]

slope    CPU per sample from N = 200 to 3,000 (54 kB JPEGs, 100 ms, 32 at once); request span,
         divided by ceil(N / 32) x latency; run folder; memory
span128  request span with 128 at once, N = 12,800
memory   peak memory at 100,000 samples (2 kB pictures, no latency), compared with 3,000
start    seconds from the start of the process to the first request
resume   seconds to the next request of a run with 100,000 finished samples
tables   seconds to the first request for a TSV of --gb gigabytes (which contains the pictures) and
         for a million rows of JSONL, the first time and later, and peak memory

Prints one line per run and, at the end, each budget of DESIGN section 9 with the measured value.
The floor clients are those of the peers' workloads: they do the least that a Python client can do.
CPU is user + system time of the process and its children, by wait4.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from base64 import b64encode
from pathlib import Path

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--peers", default=str(Path(__file__).parents[2] / "shared/bench/peers"))
ap.add_argument("--work", default="/tmp/snellen-perf")
ap.add_argument("--parts", default="slope,span128,memory,start,resume")
ap.add_argument("--port", type=int, default=18080)
ap.add_argument("--reps", type=int, default=3)
ap.add_argument("--gb", type=float, default=1.0)
args = ap.parse_args()
PEERS, WORK = Path(args.peers), Path(args.work)
SNELLEN = Path(sys.executable).with_name("snellen")
LATENCY = 0.1


def server(path: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{args.port}{path}", data=data)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b"{}")


def measured(command: list[str], latency: float, codes: tuple[int, ...] = (0,)) -> dict:
    """Run a command to its end; measure its wall time, CPU, and memory, and what the server saw."""
    server("/reset", {"latency": latency})
    started = time.time()
    with open(WORK / "log.txt", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.time() - started
    if os.waitstatus_to_exitcode(status) not in codes:
        sys.exit(f"{command} failed: {(WORK / 'log.txt').read_text()[-2000:]}")
    seen = server("/stats")
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "rss": usage.ru_maxrss / 1024,
        "span": seen["span_s"],
        "requests": seen["requests"],
        "extra": seen["extra_requests"],
        "first": seen["first"] - started if seen["first"] else None,
        "load": os.getloadavg()[0],
    }


def data(n: int, small: bool = False) -> Path:
    """Write the rows and pictures of the peers' workload, in our format and the floor client's."""
    sys.path.insert(0, str(PEERS))
    import make_datasets
    import numpy as np

    folder = WORK / ("small" if small else "data")
    rows = folder / f"rows{n}.jsonl"
    if rows.exists():
        return rows
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "inspect").mkdir(exist_ok=True)
    floor = []
    with rows.open("w") as file:
        for i in range(n):
            question, options, answer = make_datasets.item(i)
            number = i % 1000 if small else i % 3000
            picture = folder / f"images/{number:06d}.jpg"
            if not picture.exists():
                size = 64 if small else 448
                picture.write_bytes(make_datasets.picture(np.random.default_rng([0, number]), size))
            row = {"id": i, "image": f"images/{number:06d}.jpg", "question": question}
            row |= dict(zip("ABCD", options, strict=True)) | {
                "answer": answer,
                "category": f"cat{i % 5}",
            }
            file.write(json.dumps(row) + "\n")
            floor.append(
                {"question": question, "choices": options, "target": answer, "image": str(picture)}
            )
    (folder / f"inspect/synmcq{n}.json").write_text(json.dumps(floor))
    return rows


def ours(rows: Path, n: int, concurrency: int, latency: float, fresh: bool = True) -> dict:
    out = WORK / "runs"
    if fresh:
        shutil.rmtree(out, ignore_errors=True)
    actual = measured(
        [str(SNELLEN), "run", "-b", str(rows), "-m", "openai/mock",
         "--base-url", f"http://127.0.0.1:{args.port}/v1", "--concurrency", str(concurrency),
         "--max-tokens", "16", "--temperature", "0", "--out", str(out)],
        latency,
    )  # fmt: skip
    files = [path for path in out.rglob("*") if path.is_file()]
    actual["folder"] = sum(path.stat().st_size for path in files) / n
    report = json.loads(next(path for path in files if path.name == "report.json").read_bytes())
    scoring = report["scorings"][report["headline"]]
    actual["accuracy"] = scoring["metrics"]["accuracy"]["value"]
    assert abs(actual["accuracy"] - 0.7) < 1e-9, actual
    assert report["n"] == n, report["n"]
    return actual


def big_tsv(gigabytes: float) -> Path:
    """Write a TSV in VLMEvalKit's form, with 72 kB of base64 per row."""
    data(3000)
    path = WORK / f"{gigabytes:g}gb.tsv"
    if not path.exists():
        with path.open("wb") as file:
            file.write(b"index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage\n")
            index = 0
            while file.tell() < gigabytes * 1e9:
                picture = b64encode((WORK / f"data/images/{index % 3000:06d}.jpg").read_bytes())
                row = b"%d\tWhat is shown here?\ta cat\ta dog\ta car\ta tree\tA\tx\t%b\n"
                file.write(row % (index, picture))
                index += 1
    os.utime(path, (time.time() - 60,) * 2)  # no index is kept of a file that just changed
    return path


def million() -> Path:
    data(3000, True)
    path = WORK / "small/million.jsonl"
    if not path.exists():
        with path.open("w") as file:
            for n in range(1_000_000):
                row = {"id": n, "image": f"images/{n % 1000:06d}.jpg", "question": f"What is {n}?"}
                file.write(json.dumps(row | dict(zip("ABCD", "wxyz", strict=True))) + "\n")
    os.utime(path, (time.time() - 60,) * 2)
    return path


def to_first_request(rows: Path) -> dict:
    """Measure a run that ends after 32 requests, for the seconds to its first request."""
    shutil.rmtree(WORK / "runs", ignore_errors=True)
    return measured(
        [str(SNELLEN), "run", "-b", str(rows), "-m", "openai/mock",
         "--base-url", f"http://127.0.0.1:{args.port}/v1", "--concurrency", "32",
         "--max-requests", "32", "--out", str(WORK / "runs")],
        LATENCY, (0, 130),
    )  # fmt: skip


def floor(n: int, client: str, concurrency: int = 32) -> dict:
    return measured(
        [sys.executable, str(PEERS / "floor_client.py"), "--data", str(WORK / "data"),
         "--port", str(args.port),
         "--n", str(n), "--concurrency", str(concurrency), "--client", client],
        LATENCY,
    )  # fmt: skip


def say(name: str, n: int, figures: dict) -> None:
    shown = {key: round(value, 3) for key, value in figures.items() if value is not None}
    print(f"{name:14} N={n:<6} {json.dumps(shown)}", flush=True)


def least(runs: list[dict], key: str) -> float:
    return min(run[key] for run in runs)


budgets: list[tuple[str, str, str]] = []
WORK.mkdir(parents=True, exist_ok=True)
mock = subprocess.Popen(
    [
        sys.executable,
        str(PEERS / "mock_server.py"),
        "--port",
        str(args.port),
        "--latency",
        str(LATENCY),
    ],
    stdout=subprocess.PIPE,
)
try:
    assert mock.stdout is not None
    mock.stdout.readline()
    parts = args.parts.split(",")
    if "slope" in parts:
        runs: dict[tuple[str, int], list[dict]] = {}
        for n in (200, 3000):
            rows = data(n)
            for _ in range(args.reps):
                for name, run in (
                    ("ours", lambda rows=rows, n=n: ours(rows, n, 32, LATENCY)),
                    ("floor aiohttp", lambda n=n: floor(n, "aiohttp")),
                    ("floor raw", lambda n=n: floor(n, "raw")),
                ):
                    outcome = run()
                    say(name, n, outcome)
                    runs.setdefault((name, n), []).append(outcome)
        slopes = {
            name: 1e3 * (least(runs[name, 3000], "cpu") - least(runs[name, 200], "cpu")) / 2800
            for name in ("ours", "floor aiohttp", "floor raw")
        }
        ratio = slopes["ours"] / slopes["floor aiohttp"]
        print("CPU ms per sample:", {name: round(slope, 3) for name, slope in slopes.items()})
        budgets.append(
            (
                "CPU per sample",
                "<= 0.5 ms and <= 2.5 x aiohttp floor",
                f"{slopes['ours']:.3f} ms, {ratio:.2f} x",
            )
        )
        ideal = math.ceil(3000 / 32) * LATENCY
        budgets.append(
            (
                "span / ideal, 32, N = 3,000",
                "<= 1.05",
                f"{least(runs['ours', 3000], 'span') / ideal:.3f} (floor aiohttp "
                f"{least(runs['floor aiohttp', 3000], 'span') / ideal:.3f})",
            )
        )
        budgets.append(
            (
                "memory at 3,000",
                "<= 120 MB",
                f"{least(runs['ours', 3000], 'rss') * 1.048576:.0f} MB",
            )
        )
        budgets.append(
            (
                "run folder per sample",
                "<= 1 kB + prompt + reply",
                f"{least(runs['ours', 3000], 'folder'):.0f} bytes in all",
            )
        )
    if "span128" in parts:
        rows = data(12_800)
        outcome = [ours(rows, 12_800, 128, LATENCY) for _ in range(args.reps)]
        base = [floor(12_800, "aiohttp", 128) for _ in range(args.reps)]
        say("ours", 12_800, outcome[-1])
        say("floor aiohttp", 12_800, base[-1])
        ideal = 12_800 / 128 * LATENCY
        budgets.append(
            (
                "span / ideal, 128, N = 12,800",
                "<= 1.10",
                f"{least(outcome, 'span') / ideal:.3f} (floor aiohttp "
                f"{least(base, 'span') / ideal:.3f})",
            )
        )
    if "memory" in parts:
        small, large = (
            ours(data(3000, True), 3000, 32, 0.0),
            ours(data(100_000, True), 100_000, 32, 0.0),
        )
        say("ours small", 3000, small)
        say("ours small", 100_000, large)
        budgets.append(
            (
                "memory growth 3,000 -> 100,000",
                "<= 50 MB",
                f"{(large['rss'] - small['rss']) * 1.048576:.0f} MB",
            )
        )
    if "resume" in parts:
        rows = data(100_000, True)
        out = WORK / "runs"
        if not any(out.glob("rows100000/*/*/replies.jsonl")):
            ours(rows, 100_000, 32, 0.0)
        journal = next(out.glob("rows100000/*/*/replies.jsonl"))
        times = []
        for _ in range(args.reps):
            lines = journal.read_bytes().splitlines(keepends=True)
            journal.write_bytes(b"".join(lines[:-10]))
            outcome = ours(rows, 100_000, 32, 0.0, fresh=False)
            assert outcome["requests"] == 10, outcome
            times.append(outcome["first"])
        budgets.append(("100,000 finished: to the next request", "< 2 s", f"{min(times):.2f} s"))
    if "start" in parts:
        rows = data(200)
        first = [ours(rows, 200, 32, LATENCY)["first"] for _ in range(2 * args.reps)]
        budgets.append(
            (
                "start to first request",
                "<= 0.6 s",
                f"{min(first):.2f} s (median {sorted(first)[len(first) // 2]:.2f})",
            )
        )
    if "tables" in parts:
        os.environ["SNELLEN_HOME"] = str(WORK / "home")
        for name, rows in (
            (f"TSV of {args.gb:g} GB", big_tsv(args.gb)),
            ("JSONL, a million rows", million()),
        ):
            shutil.rmtree(WORK / "home", ignore_errors=True)
            first = to_first_request(rows)
            later = [to_first_request(rows) for _ in range(args.reps)]
            assert first["requests"] == 32, first
            say(name, 32, first)
            soon = min(entry["first"] for entry in later)
            most = max(entry["rss"] for entry in (first, *later)) * 1.048576
            budgets.append(
                (
                    f"{name}: to the first request",
                    "1 GB: <= 2.5 s, later <= 1 s",
                    f"{first['first']:.2f} s, later {soon:.2f} s; {most:.0f} MB",
                )
            )
finally:
    mock.kill()
print(f"\n{'budget':42} {'allowed':40} measured")
for row in budgets:
    print(f"{row[0]:42} {row[1]:40} {row[2]}")
