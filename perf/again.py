"""What a run costs that has little or nothing to do, compared with another checkout.

usage: python perf/again.py [--n 100000] [--reply reasoning] [--parts help,first,resume,finished]
[--base CHECKOUT] [--reps 3] [--peers ../shared/bench/peers] [--work DIR]

help      CPU of `snellen run --help`
first     seconds from the start of the process to the first request, for 200 rows with 54 kB JPEGs;
          the floor client does the same
resume    a run of N questions (2.7 kB pictures) of which ten are open, because the server rejects
          them: seconds from the start to the first request, CPU, memory
finished  the same run when all questions are answered: CPU of the command that says so

The run of N questions is done once per checkout. Its two copies, with open questions and without,
are kept in --work. Prints medians over the
rounds and medians of the ratios in one round. CPU is user + system time of the process and its
children.
"""

import argparse
import shutil
import sys
from collections.abc import Callable
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
    measured,
    middle,
    mock,
    ratio,
    shown,
    table,
)
from _replies import FORMS
from _workload import LARGE, SMALL, workload

LATENCY = 0.1
ROWS = 200
OPEN = 10
FLOOR = "floor"
ALLOWED = {"help": 2.0, "first": 1.3, "resume": 1.5, "finished": 5.0}
"""How many times less than --base a part should take."""
KEYS = {"help": "cpu", "first": "first", "resume": "first", "finished": "cpu"}
"""The figure that is compared with --base."""
WORDS = {
    "help": "run --help, CPU s",
    "first": f"first request of {ROWS} rows, s",
    "resume": "resume with {open} of {n:,} open, s to the first request",
    "finished": "finished run of {n:,} again, CPU s",
}


class Again:
    """Measures runs that have little to do against one server."""

    def __init__(self, args: argparse.Namespace, server: Mock) -> None:
        self._args = args
        self._server = server
        self._log: Path = args.work / "log.txt"
        rejected = {"kind": "status", "status": 400, "times": -1}
        self._faults = {number * args.n // OPEN: rejected for number in range(OPEN)}

    def _run(self, checkout: Checkout, words: list[str], out: Path) -> list[str]:
        return checkout.command(
            "run", *words, "-m", "openai/mock", "--base-url", self._server.url,
            "--concurrency", "32", "--max-tokens", "4096", "--temperature", "0", "--out", str(out),
        )  # fmt: skip

    def _large(self, checkout: Checkout, is_open: bool, requests: int | None) -> Figures:
        """The run of N questions, with ten questions rejected if `is_open`."""
        words = workload(self._args.work, self._args.peers, "choices", self._args.n, SMALL)
        name = f"{checkout.name}-{self._args.n}-{self._args.reply}"
        opened = self._args.work / f"open-{name}"
        out = opened if is_open else self._args.work / f"finished-{name}"
        if not out.exists() and opened.exists():
            shutil.copytree(opened, out)
        actual = self._server.measured(
            self._run(checkout, words, out),
            self._log,
            0.0,
            environment=checkout.environment(self._args.work),
            faults=self._faults if is_open else {},
            accept=(0, 1) if is_open else (0,),
        )
        if requests is not None and actual["requests"] != requests:
            sys.exit(f"{checkout.name} sent {actual['requests']} requests instead of {requests}")
        return actual

    def help(self, checkout: Checkout) -> Figures:
        command = checkout.command("run", "--help")
        return measured(command, self._log, environment=checkout.environment(self._args.work))

    def first(self, checkout: Checkout) -> Figures:
        words = workload(self._args.work, self._args.peers, "choices", ROWS, LARGE)
        out = self._args.work / f"first-{checkout.name}"
        shutil.rmtree(out, ignore_errors=True)
        return self._server.measured(
            self._run(checkout, words, out),
            self._log,
            LATENCY,
            environment=checkout.environment(self._args.work),
        )

    def floor(self) -> Figures:
        folder = self._args.work / f"choices-{LARGE}-{ROWS}"
        command = [sys.executable, str(self._args.peers / "floor_client.py"), "--n", str(ROWS)]
        command += ["--data", str(folder), "--port", str(self._server.port), "--client", "aiohttp"]
        return self._server.measured(command, self._log, LATENCY)

    def resume(self, checkout: Checkout) -> Figures:
        return self._large(checkout, is_open=True, requests=OPEN)

    def finished(self, checkout: Checkout) -> Figures:
        return self._large(checkout, is_open=False, requests=0)

    def prepare(self, part: str, every: list[Checkout]) -> None:
        """Do what is not measured: ask the questions, and fill the caches of each checkout."""
        if part in ("help", "first"):
            n, side = ROWS, LARGE
        else:
            n, side = self._args.n, SMALL
        workload(self._args.work, self._args.peers, "choices", n, side)
        self._server.prepare(self._args.reply, "choices", n)
        for checkout in every:
            if part in ("help", "first"):
                getattr(self, part)(checkout)
            else:
                actual = self._large(checkout, is_open=part == "resume", requests=None)
                print(f"{part}: {checkout.name} prepared, {actual['requests']:,} requests")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-perf")
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--reply", default="reasoning", choices=FORMS)
    parser.add_argument("--parts", default=",".join(WORDS))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    every, rows = checkouts(args.base), []
    rounds: dict[str, list[Figures]] = {}
    with mock(args.peers) as server:
        again = Again(args, server)
        for part in args.parts.split(","):
            again.prepare(part, every)
            cases: dict[str, Callable[[], Figures]] = {
                checkout.name: partial(getattr(again, part), checkout) for checkout in every
            }
            if part == "first":
                cases[FLOOR] = again.floor
            actual = in_rounds(args.reps, cases, ("cpu", "wall", "first", "memory"))
            key = KEYS[part]
            row = [WORDS[part].format(open=OPEN, n=args.n)]
            row += [shown(middle(actual[checkout.name], key)) for checkout in every]
            if args.base:
                row.append(f"{ratio(actual['base'], actual['this'], key):.2f} ×")
                row.append(f"≥ {ALLOWED[part]:g} ×")
            floor = middle(actual[FLOOR], key) if part == "first" else None
            rows.append([*row, shown(floor), shown(middle(actual["this"], "memory"))])
            rounds |= {f"{part} {name}": figures for name, figures in actual.items()}
    head = ["what", *(checkout.name for checkout in every)]
    head += ["less", "wanted"] * bool(args.base) + ["floor", "MB"]
    print(f"\n{args.reply} replies, {loads(rounds)}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
