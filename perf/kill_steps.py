"""Kills a run with tools at random times (SIGKILL), and checks that no stored step is asked again.

usage: python perf/kill_steps.py [--n 300] [--kills 60] [--seed 1] [--latency 0.2] [--work DIR]

Each of the N questions takes one to six steps. The run is killed `kills` times, at times drawn with
the seed, and continued by the same command. After each kill, no request may be for a step whose
reply was stored before. At the end, each step must have exactly one reply, and the server must have
seen at most one further request for each kill and each concurrent request.
"""

import argparse
import shutil
from pathlib import Path

from tests.killed_steps import answer, kill_again_and_again, steps_of, write_rows
from tests.servers import serving


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-kill-steps"))
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    rows = write_rows(args.work, args.n)
    with serving(answer, latency=args.latency) as server:
        hits = kill_again_and_again(
            server,
            rows,
            args.work / "runs",
            n=args.n,
            kills=args.kills,
            seed=args.seed,
            latency=args.latency,
        )
        requests = len(server.requests)
    steps = sum(steps_of(f"q{i}") for i in range(args.n))
    print(
        f"{args.n} questions, {steps} steps, seed {args.seed}: killed {hits} times, {requests} "
        "requests; each step has one reply, and no stored step was asked again"
    )


if __name__ == "__main__":
    main()
