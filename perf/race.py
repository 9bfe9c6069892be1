"""An API run by `snellen run`, by the floor clients, and by every installed peer, compared.

usage: python perf/race.py --venvs DIR [--peers ../shared/bench/peers] [--work DIR]
[--parts start,slope,gigabyte,span128] [--reps 3] [--who NAME,NAME] [--reply reasoning]
[--table FILE]

start     import and --help: CPU seconds and wall seconds
slope     N = 200 and 3,000 with 32 at once, 54 kB JPEGs, 100 ms: CPU per sample from the smaller to
          the larger N, request span divided by ceil(N / 32) x 100 ms, seconds to the first request
          (N = 200), memory, run folder (N = 3,000)
gigabyte  seconds to the first request for 14,000 rows (1 GB as VLMEvalKit's TSV; for lmms-eval as
          parquet; for Inspect and `snellen` as rows next to image files), without caches and again
span128   the request span with 128 at once, N = 12,800; peers once, ours and the floor --reps times

Workloads and measurements are those of --peers; its README says what DIR must contain.
`snellen-tsv` reads VLMEvalKit's TSV. --reply is a form of `_replies.py`, by default 1.5 kB of
reasoning that ends in an answer. Every tool gets the same replies, in the same rounds. Seven of ten
replies are right. Figures are medians of the runs that answered each question once and got a score:
for Snellen exactly 70 %, and for the others the score that the table has, since a tool that reads
only the first character of a reply misreads reasoning. With letters, all must get 70 %. Memory is
that of a tool's largest process. lmms-eval and VLMEvalKit unpack the data in a first run, which is
listed separately. Each run is a line of snellen-race/race.jsonl; --table prints the tables of such
a file.
"""

import argparse
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from _commands import Mock, launched, mock
from _replies import FORMS

SNELLEN = Path(sys.executable).with_name("snellen")
LATENCY = 0.1
OURS, OURS_TSV, FLOOR = "snellen", "snellen-tsv", "floor-aiohttp"
QUICK = (OURS, OURS_TSV, FLOOR, "floor-raw")
PEERS = ("inspect", "inspect-noimg", "lmms-openai", "lmms-openai-jpeg", "lmms-async-jpeg",
         "vlm-local", "vlm-api")  # fmt: skip
UNPACK = ("lmms-openai-jpeg", "vlm-local")
BUDGETS = {"span / ideal, 32": 1.05, "span / ideal, 128": 1.10, "s to 1st request": 0.5,
           "1 GB: first time": 2.5, "1 GB: later": 1.0, "memory MB": 120.0}  # fmt: skip


def settings(ap: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the options of `ap` and those that race.py and faults.py share, in the form that
    run_w1.py expects."""
    ap.add_argument("--venvs", default="venvs", help="inspect, lmms, vlm; VLMEvalKit lies beside")
    ap.add_argument("--peers", default=str(Path(__file__).parents[2] / "shared/bench/peers"))
    ap.add_argument("--work", default="/tmp", help="a folder snellen-race is made there")
    s = ap.parse_args()
    s.venvs, s.peers = os.path.abspath(s.venvs), os.path.abspath(s.peers)
    s.work = os.path.abspath(f"{s.work}/snellen-race")  # our own, since it is emptied
    s.data, s.lmms_tasks, s.latency = f"{s.work}/data", f"{s.work}/tasks", LATENCY
    s.vlmevalkit = f"{Path(s.venvs).parent}/VLMEvalKit"
    needed = [("inspect", "inspect/bin/inspect"), ("lmms", "lmms/bin/lmms-eval"),
              ("vlm", "../VLMEvalKit/run.py"), ("vlm", "vlm/bin/python")]  # fmt: skip
    s.gaps = {peer: f"no VENVS/{path}" for peer, path in needed if not Path(s.venvs, path).exists()}
    os.makedirs(s.work, exist_ok=True)
    return s


def load_run_w1(s: argparse.Namespace) -> Any:
    """Load the peers' module run_w1, and add command lines for Snellen and the floor clients."""
    sys.path.insert(0, s.peers)
    import run_w1

    theirs = run_w1.command
    for position in ("home", "hf_home", "lmu", "runs"):  # what a tool keeps of earlier runs
        shutil.rmtree(Path(s.work, position), ignore_errors=True)

    def command(who: str, n: int, s: Any, run_dir: str, extra: Sequence[str] = ()) -> Any:
        if who.startswith("floor"):
            actual = [sys.executable, f"{s.peers}/floor_client.py", "--data", s.data, "--n", str(n)]
            actual += ["--client", who.removeprefix("floor-"), "--port", str(s.port)]
        elif who.startswith("snellen"):
            rows = f"vlmeval/SynMCQ{n}.tsv" if who.startswith(OURS_TSV) else f"rows{n}.jsonl"
            actual = [str(SNELLEN), "run", "-b", f"{s.data}/{rows}", "--out", f"{run_dir}/out"]
            actual += ["-m", "openai/mock", "--base-url", f"http://127.0.0.1:{s.port}/v1"]
            actual += ["--max-tokens", "16", "--temperature", "0"]
        else:
            return theirs(who, n, s, run_dir, extra)
        actual += ["--concurrency", str(s.concurrency), *extra]
        return actual, run_dir, dict(os.environ, SNELLEN_HOME=f"{s.work}/home")

    run_w1.command = command
    return run_w1


@contextlib.contextmanager
def mock_server(s: argparse.Namespace) -> Iterator[Mock]:
    """Start the server that all tools ask, on the port `s.port`."""
    with mock(Path(s.peers)) as server:
        s.port = server.port
        yield server


def make_data(s: argparse.Namespace, sizes: Sequence[int]) -> None:
    """Write the questions in every tool's format, in the sizes that do not exist yet."""
    wanted = sorted({n for n in sizes if not Path(s.data, f"rows{n}.jsonl").exists()})
    if not wanted:
        return
    # The script needs pyarrow, which a peer has and our environment may lack.
    python = sys.executable if "lmms" in s.gaps else f"{s.venvs}/lmms/bin/python"
    tasks = ["make_lmms_task.py", "--data", s.data, "--out", s.lmms_tasks]
    for script, *options in (["make_datasets.py", "--out", s.data], tasks):
        command = [python, f"{s.peers}/{script}", *options, "--n", *map(str, wanted)]
        subprocess.run(command, check=True)
    for n in wanted:
        with open(f"{s.data}/rows{n}.jsonl", "w") as file:
            for row in json.loads(Path(s.data, f"inspect/synmcq{n}.json").read_bytes()):
                ours = {"id": row["id"], "question": row["question"], "answer": row["target"]}
                ours |= {"image": f"images/{row['id']:06d}.jpg", "category": f"cat{row['id'] % 5}"}
                file.write(json.dumps(ours | dict(zip("ABCD", row["choices"], strict=True))) + "\n")


def score(who: str, n: int, s: argparse.Namespace, run_dir: str) -> float | None:
    """The accuracy that the tool itself reports; None if it reports none."""
    names, *keys = {
        "snellen": ("out/**/report.json", "scorings", "default", "metrics", "accuracy", "value"),
        "floor": ("log*.txt", "accuracy"),
        "inspect": ("logs/*.eval", "results", "scores", 0, "metrics", "accuracy", "value"),
        "lmms": ("out/**/*_results.json", "results", f"synmcq{n}", "acc,none"),
        "vlm": ("out/*/T*/status.json", "datasets", f"SynMCQ{n}", "metrics", "split=test|Overall"),
    }[who.partition("-")[0]]
    file = max(Path(run_dir).glob(str(names)), key=os.path.getmtime, default=None)
    if file is None:
        return None
    dump = [f"{s.venvs}/inspect/bin/inspect", "log", "dump", "--header-only", str(file)]
    show = dump if file.suffix == ".eval" else ["cat", str(file)]
    report = json.loads(subprocess.run(show, capture_output=True, check=True).stdout)
    with contextlib.suppress(KeyError, TypeError):  # the report of a tool that failed is incomplete
        for key in keys:
            report = report[key]
        return float(report)
    return None


class Race:
    """Measures runs and records them."""

    def __init__(self, s: argparse.Namespace, server: Mock) -> None:
        self.server = server
        self.who = [who for who in s.who.split(",") if who.partition("-")[0] not in s.gaps]
        if "vlm-api" in self.who and "vlm-local" not in self.who:
            sys.exit("--who: vlm-api needs vlm-local before it, which unpacks the pictures")
        self.s, self.w1, self.file = s, load_run_w1(s), Path(s.work, "race.jsonl")
        self.file.unlink(missing_ok=True)
        self.usage = Path(s.work, "usage.json")
        command = self.w1.command

        def launching(*arguments: Any) -> Any:
            words, folder, environment = command(*arguments)
            return launched(words, str(self.usage)), folder, environment

        self.w1.command = launching
        for peer, why in s.gaps.items():
            self.write({"part": "all", "who": peer, "why": why})

    def write(self, run: dict[str, Any]) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps(run) + "\n")

    def run(self, part: str, who: str, n: int, tag: str, at_once: int = 32,
            on_start: Callable[[subprocess.Popen[bytes]], None] | None = None) -> None:  # fmt: skip
        """Measure one run. With `on_start`, which may kill the run early, its score is ignored."""
        rows = Path(self.s.data, f"rows{n}.jsonl")
        self.server.prepare(self.s.reply, "choices", n, rows)
        self.s.concurrency = at_once
        self.usage.unlink(missing_ok=True)
        m, run_dir = self.w1.one(who, n, self.s, tag, on_start=on_start, timeout=3600)
        seen, usage = m["server"], json.loads(self.usage.read_bytes())
        m |= {"part": part, "who": who, "reply": self.s.reply}
        m |= {"cpu": usage.get("cpu", m["cpu"]), "memory_mb": usage.get("memory")}
        if seen["first"] is not None:
            m["to_first_request_s"] = seen["first"] - usage["started"]
        m["span"] = seen["span_s"] / (math.ceil(n / at_once) * LATENCY)
        m["folder_kb"] = None if "floor" in who else 1e3 * m["out_mb"] / n
        if on_start is None:
            m["score"] = None if m["rc"] else score(who, n, self.s, run_dir)
            once = seen["status"] == {"200": n} and seen["unique_items"] == n
            right = sum(i % 10 < 7 for i in range(n)) / n  # the same rule as in make_datasets.py
            exact = self.s.reply == "letter" or who.startswith("snellen")
            is_right = m["score"] is not None and abs(m["score"] - right) < 1e-9
            m["sound"] = once and (is_right if exact else m["score"] is not None)
        else:
            m["sound"] = seen["first"] is not None
            time.sleep(2 * LATENCY)  # late answers must not be counted for the next run
        self.write(m)
        shown = ("wall", "cpu", "to_first_request_s", "span", "load1", "sound")
        print(part, who, n, tag, {k: round(m.get(k, math.nan), 2) for k in shown}, flush=True)
        if m["sound"]:
            shutil.rmtree(run_dir)

    def start(self) -> None:
        """Run `startup.sh` for the peers, and measure the same for Snellen."""
        script = ["bash", f"{self.s.peers}/startup.sh", self.s.venvs, self.s.vlmevalkit]
        lines = subprocess.run([*script, str(self.s.reps)], capture_output=True, text=True).stdout
        for verb in ("--help", "list") * self.s.reps:
            timed = ["/usr/bin/time", "-f", f"snellen:{verb} %U %S %e %M", SNELLEN, verb]
            lines += subprocess.run(timed, capture_output=True, text=True, check=True).stderr
        for who, user, system, wall, _ in map(str.split, lines.splitlines()):
            if not any(peer in who for peer in (*self.s.gaps, "python-pass")):
                actual = {"cpu": float(user) + float(system), "wall": float(wall), "sound": True}
                self.write({"part": "start", "who": who} | actual)

    def slope(self, *sizes: int) -> None:
        for n in sizes:
            for who in (who for who in UNPACK if who in self.who):
                self.run("unpack", who, n, "first")
            for rep in range(self.s.reps):
                for who in self.who:
                    self.run("slope", who, n, f"r{rep}")

    def gigabyte(self, n: int) -> None:
        for who in (who for who in (OURS, OURS_TSV, "inspect", *UNPACK) if who in self.who):
            for tag in ("first", *["later"] * self.s.reps):
                self.run("gigabyte", who, n, tag, on_start=self.kill_at_first_request)

    def kill_at_first_request(self, process: subprocess.Popen[bytes]) -> None:
        while self.w1.http(self.s.port, "/stats")["first"] is None:
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)

    def span128(self, n: int) -> None:
        for rep in range(self.s.reps):
            for who in (who for who in self.who if rep == 0 or who in QUICK):
                self.run("span128", who, n, f"r{rep}", 128)


def row(*cells: object) -> None:
    shown = ("-" if c is None else f"{c:.3g}" if isinstance(c, float) else c for c in cells)
    print("|", " | ".join(map(str, shown)), "|")


def tables(runs: list[dict[str, Any]], small: int, large: int) -> None:
    """Summarize the runs as Markdown: start, every figure of every tool, and ours relative to the
    others'."""
    for run in (run for run in runs if not run.get("sound")):
        why = run.get("why") or f"N = {run['n']}, exit {run['rc']}, score {run.get('score')}"
        print(f"GAP: {run['who']}, {run['part']}: {why}")

    def pick(take: Callable[[list[float]], float], key: str, **wanted: object) -> float | None:
        wanted["sound"] = True
        fit = [run[key] for run in runs if all(run.get(k) == v for k, v in wanted.items())]
        return take(fit) if fit and None not in fit else None

    def slope(take: Callable[[list[float]], float], who: str) -> float | None:
        low, high = (pick(take, "cpu", part="slope", who=who, n=n) for n in (small, large))
        return None if low is None or high is None else 1e3 * (high - low) / (large - small)

    print("\n| command | CPU s | wall s |\n| --- | --- | --- |")
    for who in dict.fromkeys(run["who"] for run in runs if run["part"] == "start"):
        row(who, *(pick(median, key, part="start", who=who) for key in ("cpu", "wall")))
    actual: dict[str, dict[str, float | None]] = {}
    ran = {run["who"] for run in runs if "n" in run}
    for who in sorted(ran, key=lambda who: (*QUICK, *PEERS, who).index(who)):
        at: dict[str, Any] = {"who": who, "n": large}
        to_first, gigabyte = "to_first_request_s", {"part": "gigabyte", "who": who}
        actual[who] = {
            "CPU ms per sample": slope(median, who),
            "from the lowest": slope(min, who),
            "span / ideal, 32": pick(median, "span", part="slope", **at),
            "span / ideal, 128": pick(median, "span", part="span128", who=who),
            "s to 1st request": pick(median, to_first, part="slope", who=who, n=small),
            "1 GB: first time": pick(median, to_first, tag="first", **gigabyte),
            "1 GB: later": pick(median, to_first, tag="later", **gigabyte),
            "memory MB": pick(median, "memory_mb", part="slope", **at),
            "folder kB per sample": pick(median, "folder_kb", part="slope", **at),
            "score": None if "floor" in who else pick(median, "score", part="slope", **at),
            "first run, CPU s": pick(median, "cpu", part="unpack", **at),
        }
    names = actual.get(OURS, {})
    print("\n| tool |", " | ".join(names), "|\n|", "--- |" * (len(names) + 1))
    for who, values in actual.items():
        row(who, *values.values())
    print("\n| what | allowed | ours | floor | ours / floor | best peer | its | its / ours |")
    print("|", "--- |" * 8)
    for name in names:
        ours = actual[OURS_TSV if "1 GB" in name and OURS_TSV in actual else OURS][name]
        least = actual.get(FLOOR, {}).get(name)
        peers = [(actual[who][name], who) for who in PEERS if who in actual]
        its, who = min((p for p in peers if p[0] is not None), default=(None, "GAP: none"))
        if ours is not None:
            by_floor, by_ours = least and ours / least, its and its / ours
            row(name, BUDGETS.get(name), ours, least, by_floor, who, its, by_ours)


def main() -> None:
    ap = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ap.add_argument("--parts", default="start,slope,gigabyte,span128")
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--who", default=",".join(QUICK + PEERS))
    ap.add_argument("--sizes", default="200,3000,14000,12800", help="small, large, gigabyte, 128")
    ap.add_argument("--reply", default="reasoning", choices=FORMS)
    ap.add_argument("--table", help="print the tables of this race.jsonl")
    s = settings(ap)
    small, large, huge, wide = map(int, s.sizes.split(","))
    sizes = {"start": (), "slope": (small, large), "gigabyte": (huge,), "span128": (wide,)}
    if s.table is None:
        parts = s.parts.split(",")
        make_data(s, [n for part in parts for n in sizes[part]])
        with mock_server(s) as server:
            race = Race(s, server)
            for part in parts:
                getattr(race, part)(*sizes[part])
    with open(s.table or f"{s.work}/race.jsonl") as lines:
        tables(list(map(json.loads, lines)), small, large)


if __name__ == "__main__":
    main()
