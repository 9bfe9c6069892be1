"""What `score`, `report`, and `compare` cost for finished runs of many samples.

usage: python perf/finished.py [--n 100000,1000000] [--reply reasoning] [--base CHECKOUT] [--reps 1]
[--work DIR]

Writes two runs of n samples as a run writes them, scores one, and measures the CPU (user + system)
and the memory of each command. Compare the figures of both sizes: if the larger one costs more than
its share, something grows faster than the number of samples. The runs take 5 GB for a million
samples with 1.5 kB of reasoning, and are deleted.
"""

import argparse
import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from _commands import (
    HERE,
    Checkout,
    Figures,
    add_options,
    checkouts,
    in_rounds,
    loads,
    measured,
    middle,
    shown,
    table,
)
from _replies import FORMS

RUNS = {"right": 0, "wrong": 1}
"""The names of the runs. All replies of the first are right, and all replies of the second are
wrong."""


def written(args: argparse.Namespace, n: int, name: str) -> Path:
    """Write a run of n samples, in a process of its own."""
    work, folder = args.work.resolve(), f"finished-{name}-{n}"
    options = {"work": f"{work}", "n": n, "reply": args.reply, "keep": folder}
    options |= {"model": f"finished/{name}", "shift": RUNS[name]}
    command = [sys.executable, str(HERE / "_scale_parts.py"), "journal", json.dumps(options)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return work / folder


def cost(checkout: Checkout, args: argparse.Namespace, words: list[str]) -> Figures:
    log, environment = args.work / "log.txt", checkout.environment(args.work)
    return measured(checkout.command(*words), log, environment=environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-perf")
    parser.set_defaults(reps=1)
    parser.add_argument("--n", default="100000,1000000")
    parser.add_argument("--reply", default="reasoning", choices=FORMS)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    rows, every = [], checkouts(args.base)
    rounds: dict[str, list[Figures]] = {}
    for n in map(int, args.n.split(",")):
        right, wrong = (f"{written(args, n, name)}" for name in RUNS)
        for verb, runs in {"score": [right], "report": [right], "compare": [right, wrong]}.items():
            words = [verb, *runs, *(["--json"] if verb == "report" else [])]
            cases = {
                f"{verb} {n:,} {checkout.name}": partial(cost, checkout, args, words)
                for checkout in every
            }
            actual = in_rounds(args.reps, cases, ("cpu", "wall", "memory"))
            rounds |= actual
            for name, figures in actual.items():
                cells = (shown(middle(figures, key)) for key in ("cpu", "wall", "memory"))
                rows.append([name, *cells])
        shutil.rmtree(right)
        shutil.rmtree(wrong)
    head = ["command, samples of each run, checkout", "CPU s", "wall s", "MB"]
    print(f"\n{args.reply} replies, {loads(rounds)}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
