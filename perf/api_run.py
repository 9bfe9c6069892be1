"""An API run of `snellen run` compared with the floor client, against the same mock server.

usage: python perf/api_run.py [--reply all] [--kind choices] [--parts cost,span128,memory]
[--reps 3] [--base CHECKOUT] [--peers ../shared/bench/peers] [--work DIR]

cost     CPU per sample from N = 200 to 3,000 (54 kB JPEGs, 100 ms, 32 at once), for each form of
         reply; request span, divided by ceil(N / 32) x latency; run folder; memory
span128  request span with 128 at once, N = 12,800
memory   peak memory at 100,000 samples (2.7 kB pictures, no latency), compared with 3,000
tables   seconds to the first request for a TSV of --gb gigabytes (which contains the pictures) and
         for a million rows of JSONL, the first time and later, and peak memory

--reply is a form of `_replies.py`: letter, sentence, reasoning (1.5 kB), long (15 kB with <think>),
or all of these. The other parts take the first form. --kind is the kind of answers: choices,
numbers, or open. --base measures another checkout in the same rounds.

The floor client of the peers' workload does the least that a Python client can do: it gets the same
reply and throws it away. Prints each measurement and, at the end, each budget of DESIGN section 9
with the measured value: medians over the rounds, and for ratios, the median of the ratios in one
round. CPU is user + system time of a process and its children.
"""

import argparse
import json
import math
import os
import shutil
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from _commands import (
    PEERS,
    Checkout,
    Figures,
    Mock,
    add_options,
    checkouts,
    in_rounds,
    loads,
    middle,
    mock,
    ratio,
    table,
)
from _replies import FORMS, LETTERS, question, reply
from _workload import LARGE, SCORING, SMALL, picture, workload

LATENCY = 0.1
FEW, MANY = 200, 3000
ALLOWED = {"letter": 1.8, "sentence": 2.0, "reasoning": 2.3}
"""The CPU per sample that is allowed for each form of reply, relative to the floor."""
FLOOR = "floor"
Budget = tuple[str, str, str]
"""What was measured, what is allowed, and the figure."""


class ApiRuns:
    """Measures runs against one server."""

    def __init__(self, args: argparse.Namespace, server: Mock) -> None:
        self._server = server
        self._work: Path = args.work
        self._peers: Path = args.peers
        self._kind: str = args.kind
        self._reps: int = args.reps
        self._gb: float = args.gb
        self._checkouts = checkouts(args.base)
        self._log = self._work / "log.txt"

    def _run(self, checkout: Checkout, words: list[str], concurrency: int) -> list[str]:
        shutil.rmtree(self._work / "runs", ignore_errors=True)
        return checkout.command(
            "run", *words, "-m", "openai/mock", "--base-url", self._server.url,
            "--concurrency", str(concurrency), "--max-tokens", "4096", "--temperature", "0",
            "--out", str(self._work / "runs"),
        )  # fmt: skip

    def ours(
        self,
        checkout: Checkout,
        form: str,
        n: int,
        concurrency: int = 32,
        latency: float = LATENCY,
        side: int = LARGE,
    ) -> Figures:
        """A run of n questions that must answer all and give exactly the accuracy of the data."""
        self._server.prepare(form, self._kind, max(n, MANY))
        words = workload(self._work, self._peers, self._kind, n, side)
        actual = self._server.measured(
            self._run(checkout, words, concurrency),
            self._log,
            latency,
            environment=checkout.environment(self._work),
        )
        files = [path for path in (self._work / "runs").rglob("*") if path.is_file()]
        actual["folder"] = sum(path.stat().st_size for path in files) / n
        report = json.loads(next(path for path in files if path.name == "report.json").read_bytes())
        accuracy = report["scorings"][SCORING[self._kind]]["metrics"]["accuracy"]["value"]
        if report["n"] != n or abs(accuracy - 0.7) > 1e-9:
            sys.exit(f"{n} questions, {form}: the report has n {report['n']}, accuracy {accuracy}")
        return actual

    def floor(self, form: str, n: int, concurrency: int = 32) -> Figures:
        self._server.prepare(form, self._kind, max(n, MANY))
        workload(self._work, self._peers, self._kind, n, LARGE)
        folder = self._work / f"{self._kind}-{LARGE}-{n}"
        command = [sys.executable, str(self._peers / "floor_client.py"), "--data", str(folder)]
        command += ["--port", str(self._server.port), "--n", str(n)]
        command += ["--concurrency", str(concurrency), "--client", "aiohttp"]
        return self._server.measured(command, self._log, LATENCY)

    def _cases(self, form: str, n: int, concurrency: int = 32) -> dict[str, Callable[[], Figures]]:
        return {FLOOR: partial(self.floor, form, n, concurrency)} | {
            checkout.name: partial(self.ours, checkout, form, n, concurrency)
            for checkout in self._checkouts
        }

    # -- parts

    def cost(self, forms: list[str]) -> list[Budget]:
        cases = {
            f"{form} {name} {n}": case
            for form in forms
            for n in (FEW, MANY)
            for name, case in self._cases(form, n).items()
        }
        actual = in_rounds(self._reps, cases, ("cpu", "wall", "span", "memory"))
        names = [checkout.name for checkout in self._checkouts]
        rows = []
        for form in forms:
            slopes = {name: slope(actual, form, name) for name in (FLOOR, *names)}
            times = (f"{ratio(slopes[name], slopes[FLOOR], 'cpu'):.2f}" for name in names)
            costs = (f"{middle(slopes[name], 'cpu'):.3f}" for name in (*names, FLOOR))
            rows.append([form, *times, f"{ALLOWED.get(form, '')}", *costs])
        head = ["reply", *(f"{name}, × floor" for name in names), "allowed"]
        head += [f"{name}, ms" for name in (*names, FLOOR)]
        print(f"\nCPU per sample, {self._kind}, {loads(actual)}\n\n{table(head, rows)}\n")
        budgets = []
        ideal = math.ceil(MANY / 32) * LATENCY
        for form in forms:
            runs = actual[f"{form} this {MANY}"]
            replies = sum(
                len(reply(question(self._kind, number), form).encode()) for number in range(MANY)
            )
            budgets += [
                (
                    f"span / ideal, 32, N = {MANY:,}, {form}",
                    "≤ 1.05",
                    f"{middle(runs, 'span') / ideal:.3f} (floor "
                    f"{middle(actual[f'{form} {FLOOR} {MANY}'], 'span') / ideal:.3f})",
                ),
                (
                    f"memory at {MANY:,}, {form}",
                    "≤ 120 MB",
                    f"{middle(runs, 'memory'):.0f} MB",
                ),
                (
                    f"run folder per sample, {form}",
                    "≤ 1 kB + prompt + reply",
                    f"{middle(runs, 'folder') - replies / MANY:.0f} bytes + reply",
                ),
            ]
        return budgets

    def span128(self, forms: list[str]) -> list[Budget]:
        n, form = 12_800, forms[0]
        actual = in_rounds(self._reps, self._cases(form, n, 128), ("cpu", "wall", "span"))
        ideal = n / 128 * LATENCY
        spans = {name: middle(figures, "span") / ideal for name, figures in actual.items()}
        floor = spans.pop(FLOOR)
        return [
            (
                f"span / ideal, 128, N = {n:,}, {form}, {name}",
                "≤ 1.10",
                f"{span:.3f} (floor {floor:.3f}; {loads(actual)})",
            )
            for name, span in spans.items()
        ]

    def memory(self, forms: list[str]) -> list[Budget]:
        budgets, form = [], forms[0]
        for checkout in self._checkouts:
            small, large = (
                self.ours(checkout, form, n, latency=0.0, side=SMALL) for n in (MANY, 100_000)
            )
            budgets.append(
                (
                    f"memory growth {MANY:,} -> 100,000, {form}, {checkout.name}",
                    "≤ 50 MB",
                    f"{large['memory'] - small['memory']:.0f} MB (from {small['memory']:.0f} MB)",
                )
            )
        return budgets

    def tables(self, _: list[str]) -> list[Budget]:
        budgets = []
        for name, rows, allowed in (
            (f"TSV of {self._gb:g} GB", self._big_tsv(), "1 GB: ≤ 2.5 s, later ≤ 1 s"),
            ("JSONL, a million rows", self._million(), ""),
        ):
            for checkout in self._checkouts:
                home = Path(checkout.environment(self._work)["SNELLEN_HOME"])
                shutil.rmtree(home, ignore_errors=True)
                first = self._to_first_request(checkout, rows)
                later = [self._to_first_request(checkout, rows) for _ in range(self._reps)]
                most = max(entry["memory"] for entry in (first, *later))
                budgets.append(
                    (
                        f"{name}: to the first request, {checkout.name}",
                        allowed,
                        f"{first['first']:.2f} s, later {middle(later, 'first'):.2f} s; "
                        f"{most:.0f} MB",
                    )
                )
        return budgets

    def _to_first_request(self, checkout: Checkout, rows: Path) -> Figures:
        """A run that ends after 32 requests."""
        command = self._run(checkout, ["-b", str(rows), "--max-requests", "32"], 32)
        actual = self._server.measured(
            command,
            self._log,
            LATENCY,
            environment=checkout.environment(self._work),
            accept=(0, 130),
        )
        assert actual["requests"] == 32, actual
        return actual

    def _big_tsv(self) -> Path:
        """A TSV in VLMEvalKit's form, with 72 kB of base64 per row."""
        path = self._work / f"{self._gb:g}gb.tsv"
        if not path.exists():
            with path.open("wb") as file:
                file.write(b"index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage\n")
                index = 0
                while file.tell() < self._gb * 1e9:
                    image = picture(self._work, self._peers, index, LARGE)
                    row = b"%d\tWhat is shown here?\ta cat\ta dog\ta car\ta tree\tA\tx\t%b\n"
                    file.write(row % (index, b64encode(image.read_bytes())))
                    index += 1
        os.utime(path, (time.time() - 60,) * 2)  # no index is kept of a file that just changed
        return path

    def _million(self) -> Path:
        path = self._work / "million.jsonl"
        if not path.exists():
            images = [picture(self._work, self._peers, n, SMALL) for n in range(1000)]
            with path.open("w") as file:
                for n in range(1_000_000):
                    image = str(images[n % 1000].relative_to(self._work))
                    row = {"id": n, "image": image, "question": f"What is {n}?"}
                    row |= dict(zip(LETTERS, "wxyz", strict=True))
                    file.write(json.dumps(row) + "\n")
        os.utime(path, (time.time() - 60,) * 2)
        return path


def slope(actual: Mapping[str, Sequence[Figures]], form: str, name: str) -> list[Figures]:
    """The CPU in ms per sample, from the short run to the long one, for each round."""
    pairs = zip(actual[f"{form} {name} {FEW}"], actual[f"{form} {name} {MANY}"], strict=True)
    return [{"cpu": 1e3 * (many["cpu"] - few["cpu"]) / (MANY - FEW)} for few, many in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-perf")
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--reply", default="all", choices=(*FORMS, "all"))
    parser.add_argument("--kind", default="choices", choices=("choices", "numbers", "open"))
    parser.add_argument("--parts", default="cost,span128,memory")
    parser.add_argument("--gb", type=float, default=1.0)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    forms = list(FORMS) if args.reply == "all" else [args.reply]
    budgets: list[Budget] = []
    with mock(args.peers) as server:
        runs = ApiRuns(args, server)
        for part in args.parts.split(","):
            budgets += getattr(runs, part)(forms)
    print(f"\n{table(('budget', 'allowed', 'measured'), budgets)}")


if __name__ == "__main__":
    main()
