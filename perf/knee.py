"""`--concurrency auto` and fixed numbers against a server on this machine whose latency doubles if
more than 600 requests are in flight.

usage: python perf/knee.py [--rounds 3] [--seconds 120] [--after 60] [--latency 1] [--knee 600]
[--beyond once] [--fixed 150,300,600,900,1200] [--drivers 1] [--peers DIR] [--work DIR]

Each case is a `snellen run` that is stopped by `--max-time`. Rates are those of the server's
replies, from `--after` seconds after the first request to `--seconds`. The budget: the rate with
`auto` is at least 0.9 of that with the best of the fixed numbers in the same round.

With `--beyond once`, 1,200 requests that take twice as long bring as many replies as 600, and more
bring even more. The row of fixed numbers therefore ends there, and `auto` may go further and be
faster than all of them. `queue` is a server that works at a constant rate beyond the knee, and
`half` is one that works at half of that rate; these have a best number.

With `--drivers N`, N drivers share each fixed number, and each of them searches by itself with
`auto`.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from functools import partial
from pathlib import Path

from _commands import PEERS, Checkout, Figures, Mock, in_rounds, loads, middle, mock, table
from _slow import BEYOND, slower

HERE = Checkout("this", Path(__file__).parents[1])
STOPPED = 130
FASTEST = 1500
"""More questions per second than a driver can send."""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--after", type=int, default=60)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--knee", type=int, default=600)
    parser.add_argument("--beyond", choices=BEYOND, default="once")
    parser.add_argument("--fixed", default="150,300,600,900,1200")
    parser.add_argument("--drivers", type=int, default=1)
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-knee"))
    args = parser.parse_args()
    args.numbers = [int(number) for number in args.fixed.split(",")]
    if not 0 <= args.after < args.seconds:
        parser.error("--after must be less than --seconds")
    return args


def rate_of(args: argparse.Namespace, number: int) -> float:
    """The replies per second that the server can send with a number of requests in flight."""
    return number / args.latency / slower(number / args.knee, args.beyond)


def write_rows(args: argparse.Namespace) -> Path:
    """Write more questions than any case can ask."""
    numbers = (args.knee, *args.numbers)
    fastest = max(FASTEST * args.drivers, *(1.5 * rate_of(args, number) for number in numbers))
    path = args.work / "rows.jsonl"
    with path.open("w") as file:
        for i in range(math.ceil(fastest * (args.seconds + 10))):
            row = {"id": i, "question": f"[item {i:06d}] Which?", "answer": "ABCD"[i % 4]}
            file.write(json.dumps(row | dict.fromkeys("ABCD", "an option")) + "\n")
    return path


def measure(args: argparse.Namespace, server: Mock, rows: Path, concurrency: str) -> Figures:
    """Run a case. `rate` and `in flight` are those of the tail, and `early` is the rate before."""
    out = args.work / "runs"
    shutil.rmtree(out, ignore_errors=True)
    command = HERE.command(
        *("run", "-b", str(rows), "-m", "openai/mock", "--base-url", server.url, "--no-score"),
        *("-q", "--concurrency", concurrency, "--max-time", f"{args.seconds + 5}s"),
        *("--out", str(out), *(("--drivers", f"{args.drivers}") if args.drivers > 1 else ())),
    )
    figures = server.measured(
        command,
        args.work / "log",
        args.latency,
        environment=HERE.environment(args.work),
        accept=(STOPPED,),
    )
    seconds = server.seconds()

    def between(start: int, end: int) -> tuple[float, float]:
        counts = [seconds.get(second, (0, 0)) for second in range(start, end)]
        replies = sum(n for n, _ in counts)
        return replies / max(1, end - start), sum(sum_ for _, sum_ in counts) / max(1, replies)

    rate, in_flight = between(args.after, args.seconds)
    tens = [between(start, start + 10)[0] for start in range(0, args.seconds - 9, 10)]
    if concurrency == "auto":
        print(f"replies per second in each 10 s: {' '.join(f'{ten:.0f}' for ten in tens)}")
    return figures | {"rate": rate, "in flight": in_flight, "early": between(0, args.after)[0]}


def main() -> None:
    args = options()
    args.work.mkdir(parents=True, exist_ok=True)
    rows = write_rows(args)
    names = [*map(str, args.numbers), "auto"]
    with mock(args.peers) as server:
        server.slow_down(args.knee, args.beyond)
        cases = {name: partial(measure, args, server, rows, name) for name in names}
        rounds = in_rounds(args.rounds, cases, ("rate", "in flight", "early"))
    shutil.rmtree(args.work / "runs", ignore_errors=True)
    best = max(map(str, args.numbers), key=lambda name: middle(rounds[name], "rate"))
    for index in range(args.rounds):
        of_round = max(rounds[f"{number}"][index]["rate"] for number in args.numbers)
        for name in names:
            figures = rounds[name][index]
            figures["ratio"] = figures["rate"] / of_round
            figures["early ratio"] = figures["early"] / of_round
    print(
        f"\nA reply takes {args.latency:g} s, and beyond {args.knee} requests in flight "
        f"{args.beyond}. {args.drivers} driver{'s' * (args.drivers > 1)}. Medians of {args.rounds} "
        f"rounds, {loads(rounds)}. The best fixed number is {best}.\n"
    )
    head = ["requests", "in flight", "possible", "replies / s", "× best", f"first {args.after} s"]
    lines = []
    for name in names:
        in_flight, rate, ratio, early = (
            middle(rounds[name], key) for key in ("in flight", "rate", "ratio", "early ratio")
        )
        possible = "-" if name == "auto" else f"{rate_of(args, int(name)):.1f}"
        lines.append([name, f"{in_flight:.0f}", possible, f"{rate:.1f}", f"{ratio:.3f}",
                      f"{early:.3f} × best"])  # fmt: skip
    print(table(head, lines))
    ratio = middle(rounds["auto"], "ratio")
    print(f"\nauto after {args.after} s: {ratio:.3f} of the best fixed number (at least 0.9)")
    sys.exit(int(ratio < 0.9))


if __name__ == "__main__":
    main()
