"""The speed of `snellen view` for a run of 100,000 samples with pictures that is still growing.

usage: python perf/view.py [--n 100000] [--rate 50] [--words 300] [--reps 5] [--work DIR] [--keep]

Creates two finished runs through the store (questions, pictures, replies of about 2 kB, two
scorings) and starts the viewer without an index. Then, while `rate` replies per second are appended
to the first run, it measures the first page and the first list of samples without an index; the
time to build the index; each filter, from its request to the end of the answer (lowest, median, and
highest of `reps`), and once more in Chromium, until the page is rendered; and the viewer's memory.
Prints each figure with its budget, and fails if one is exceeded.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from io import BytesIO
from pathlib import Path
from statistics import median

import msgspec
from PIL import Image

from snellen.store import FORMAT, Folder, Question, ReplyRecord, Run, ScoreRow, ShownMedia

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--n", type=int, default=100_000)
ap.add_argument("--rate", type=float, default=50)
ap.add_argument("--words", type=int, default=300)
ap.add_argument("--reps", type=int, default=5)
ap.add_argument("--work", type=Path, default=Path("/tmp/snellen-view"))
ap.add_argument("--keep", action="store_true", help="use the existing runs")
args = ap.parse_args()

PICTURES, CATEGORIES = 100, 20
FIRST_PAGE, FILTER, MEMORY = 1.0, 0.3, 300.0
DRAW = random.Random(1)
VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvw"
WORDS = [
    "".join(DRAW.choice(CONSONANTS) + DRAW.choice(VOWELS) for _ in range(DRAW.randint(1, 4)))
    for _ in range(20_000)
]
# As in natural language, a few words make up most of a text.
WEIGHTS = [1 / rank for rank in range(1, len(WORDS) + 1)]
encode = msgspec.json.Encoder().encode


def pictures() -> list[ShownMedia]:
    folder = args.work / "data"
    folder.mkdir(parents=True, exist_ok=True)
    actual = []
    for number in range(PICTURES):
        out = BytesIO()
        picture = Image.new("RGB", (96, 64), (number * 2, 255 - number * 2, 90))
        picture.save(out, "JPEG")
        (folder / f"{number}.jpg").write_bytes(out.getvalue())
        digest = f"sha256:{hashlib.sha256(out.getvalue()).hexdigest()}"
        actual.append(
            ShownMedia(
                kind="image",
                place=f"{number}.jpg",
                digest=digest,
                mime="image/jpeg",
                width=96,
                height=64,
            )
        )
    return actual


def question(number: int, shown: list[ShownMedia]) -> Question:
    text = f"Which of these is shown in picture {number}?"
    return Question(
        format=FORMAT,
        key=(f"s{number}", 0, 0),
        place=number,
        row="0" * 32,
        question=text,
        messages=[("user", [0, f"{text}\nA. a cat\nB. a dog\nReply with the letter."])],
        media=[shown[number % PICTURES]],
        choices=["a cat", "a dog"],
        target="AB"[number % 2],
        tags={"category": f"category {number % CATEGORIES}", "split": "test"},
    )


def reply(number: int, texts: list[str]) -> ReplyRecord:
    return ReplyRecord(
        format=FORMAT,
        key=(f"s{number}", 0, 0),
        kind="reply",
        request=f"{number:032x}",
        state="truncated" if number % 50 == 0 else "ok",
        at="2026-01-01T00:00:00.000Z",
        stop="stop",
        reply=texts[number % len(texts)] + f" The answer to {number} is {DRAW.choice('AB')}.",
    )


def make_run(path: Path, model: str, shown: list[ShownMedia]) -> None:
    Folder.create(path)
    run = Run(path)
    columns = {"id": ["id"], "question": ["question"], "answer": ["answer"], "image": ["image"]}
    run.put_manifest(
        {
            "benchmark": "mine.jsonl",
            "model": model,
            "data": str(args.work / "data" / "mine.jsonl"),
            "identity": {
                "benchmark": "mine.jsonl",
                "asks": 2,
                "model": model,
                "options": {"task": "vqa", "columns": columns},
            },
            "rows": 2 * args.n,
            "repeats": 1,
            "missing": None,
            "notes": [],
            "sessions": [],
        }
    )
    texts = [" ".join(DRAW.choices(WORDS, WEIGHTS, k=args.words)) for _ in range(5_000)]
    rows = []
    for number in range(args.n):
        run.append_question(question(number, shown))
        run.append_reply(reply(number, texts))
        rows += [
            ScoreRow(
                format=FORMAT,
                sample=f"s{number}",
                repeat=0,
                scoring=scoring,
                version=1,
                state="answered",
                reply="ok",
                score=float(DRAW.random() < 0.7),
                answer="A",
                rule=DRAW.choice(("a letter", "the last word")),
            )
            for scoring in ("official", "robust")
        ]
    run.folder.put_atomic("scores.jsonl", (encode(row) + b"\n" for row in rows))
    run.close()


class Appending(threading.Thread):
    """A run in progress: appends a question and its reply, this many times per second."""

    def __init__(self, path: Path, shown: list[ShownMedia]) -> None:
        super().__init__(daemon=True)
        self._run, self._shown = Run(path), shown
        self.n, self.stopping = 0, threading.Event()

    def run(self) -> None:
        texts = [" ".join(DRAW.choices(WORDS, WEIGHTS, k=args.words)) for _ in range(500)]
        began = time.monotonic()
        with self._run.folder.lock():
            while not self.stopping.is_set():
                while self.n < (time.monotonic() - began) * args.rate:
                    self._run.append_question(question(args.n + self.n, self._shown))
                    self._run.append_reply(reply(args.n + self.n, texts))
                    self.n += 1
                self.stopping.wait(0.01)
        self._run.close()


def fetch(url: str) -> tuple[float, str]:
    began = time.perf_counter()
    with urllib.request.urlopen(url, timeout=120) as answer:
        text = answer.read().decode()
    return time.perf_counter() - began, text


def milliseconds(times: list[float]) -> str:
    return (
        " / ".join(f"{1000 * item:.0f}" for item in (min(times), median(times), max(times))) + " ms"
    )


def cpu(pid: int) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> tuple[float, float]:
    """The resident memory now and at its peak, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return tuple(int(fields[name].split()[0]) / 1000 for name in ("VmRSS", "VmHWM"))


def in_chromium(addresses: dict[str, str]) -> dict[str, float]:
    """The seconds until each page is rendered, including its pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium was not found, so nothing was measured in a browser")
        return {}
    from playwright.sync_api import sync_playwright

    actual = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        for name, address in addresses.items():
            began = time.perf_counter()
            page.goto(address, wait_until="load")
            actual[name] = time.perf_counter() - began
        browser.close()
    return actual


RUN, OTHER = "mine.jsonl/one/0", "mine.jsonl/other/0"
FILTERS = {
    "all": "",
    "the last page": f"page={args.n // 50}",
    "category": "tag.category=category+3",
    "reply state": "state=truncated",
    "reading state": "reading=answered",
    "rule": "rule=a+letter",
    "right": "score=right",
    "wrong": "score=wrong",
    "official is not robust": "differ=robust",
    "right there, wrong here": f"vs={urllib.parse.quote(OTHER)}&flip=lost",
    "another score there": f"vs={urllib.parse.quote(OTHER)}&flip=any",
    "a common word": f"q={WORDS[0]}",
    "a rare word": f"q={WORDS[-1]}",
    "an id": "q=s77777",
    "a phrase": "q=answer+to+77",
    "wrong, a word, a category": f"score=wrong&tag.category=category+3&q={WORDS[40]}",
    "by score": "by=score",
    "by length": "by=length&desc=1",
}


def main() -> int:
    runs = args.work / "runs"
    shown = pictures()
    if not args.keep or not (runs / RUN / "manifest.json").exists():
        shutil.rmtree(runs, ignore_errors=True)
        with (args.work / "data" / "mine.jsonl").open("w") as rows:
            for number in range(2 * args.n):
                row = {
                    "id": f"s{number}",
                    "question": "Which?",
                    "answer": "AB"[number % 2],
                    "image": f"{number % PICTURES}.jpg",
                }
                rows.write(json.dumps(row) + "\n")
        for name, model in ((RUN, "one"), (OTHER, "other")):
            make_run(runs / name, model, shown)
    for index in runs.glob("*/*/*/view.sqlite*"):
        index.unlink()
    size = sum(file.stat().st_size for file in (runs / RUN).iterdir())
    print(
        f"{args.n:,} samples, {size / 1e6:.0f} MB of files per run, {args.rate:g} replies/s "
        f"appended; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    appending = Appending(runs / RUN, shown)
    appending.start()
    command = [
        sys.executable,
        "-m",
        "snellen",
        "view",
        str(runs),
        "--port",
        "0",
        "--no-open",
        "--json",
    ]
    began = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    passed = True
    try:
        address = json.loads(server.stdout.readline())["address"]
        _, _ = fetch(address)
        started = time.perf_counter() - began
        results: list[tuple[str, str, float | None]] = []
        first, _ = fetch(address)
        samples, _ = fetch(f"{address}samples/{RUN}")
        print(f"start of the process to its first page {started:.2f} s")
        results += [
            ("runs, nothing indexed", f"{first:.3f} s", first - FIRST_PAGE),
            ("samples, nothing indexed", f"{samples:.3f} s", samples - FIRST_PAGE),
        ]
        for name in (RUN, OTHER):
            began, core = time.perf_counter(), None
            fetch(f"{address}samples/{name}")
            slowest = 0.0
            while True:
                took, text = fetch(f"{address}progress/{name}")
                slowest = max(slowest, took)
                if core is None and "reading the run" not in text:
                    core = time.perf_counter() - began
                if "reading" not in text:
                    break
                time.sleep(0.2)
            full = time.perf_counter() - began
            results.append(
                (
                    f"index of {name}",
                    f"samples after {core:.1f} s, words after {full:.1f} s; "
                    f"a page in the meantime {slowest:.2f} s at worst",
                    None,
                )
            )
        for name, query in FILTERS.items():
            used = cpu(server.pid)
            times = [fetch(f"{address}samples/{RUN}?{query}")[0] for _ in range(args.reps)]
            used = (cpu(server.pid) - used) / args.reps
            message = f"{milliseconds(times)}, of CPU {1000 * used:.0f}"
            results.append((f"filter: {name}", message, median(times) - FILTER))
        times = [
            fetch(f"{address}sample/{RUN}?s=s{number * 997 % args.n}&score=wrong")[0]
            for number in range(args.reps)
        ]
        results.append(
            (
                "a sample among the wrong",
                milliseconds(times),
                median(times) - FILTER,
            )
        )
        drawn = in_chromium(
            {
                name: f"{address}samples/{RUN}?{FILTERS[name]}"
                for name in ("all", "wrong", "a rare word", "right there, wrong here")
            }
            | {"runs": address}
        )
        results += [
            (f"in Chromium, with pictures: {name}", f"{took:.2f} s", took - FIRST_PAGE)
            for name, took in drawn.items()
        ]
        now, most = memory(server.pid)
        results.append(
            ("memory of the viewer, at most", f"{most:.0f} MB (now {now:.0f})", most - MEMORY)
        )
        n = appending.n
        _, text = fetch(f"{address}progress/{RUN}")
        print(f"{n:,} replies were appended in the meantime\n")
        for what, message, over in results:
            verdict = "" if over is None else "held" if over <= 0 else "PASSED OVER"
            passed &= over is None or over <= 0
            print(f"{what:45} {message:75} {verdict}")
    finally:
        server.terminate()
        server.wait(10)
        appending.stopping.set()
        appending.join()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
