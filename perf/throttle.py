"""`--concurrency auto` against a server on this machine that answers 429 if more than 40 requests
are in flight.

usage: python perf/throttle.py [--seconds 100] [--latency 0.5] [--at-once 40]

Prints the mean number of requests in flight at the server for every 10 s after the first 30 s,
until fewer than `at-once` questions are left, and the number of replies in each state.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from snellen.api import Plan, run_plan
from snellen.core.profile import Profile
from snellen.registry import benchmark
from tests.servers import completion, serving

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--seconds", type=float, default=100)
ap.add_argument("--latency", type=float, default=0.5)
ap.add_argument("--at-once", type=int, default=40)
args = ap.parse_args()
n = int(args.seconds * args.at_once / args.latency)

with tempfile.TemporaryDirectory() as folder:
    rows = Path(folder) / "rows.jsonl"
    with rows.open("w") as file:
        for i in range(n):
            row = {"id": i, "question": f"Question {i}?", "A": "x", "B": "y", "answer": "A"}
            file.write(json.dumps(row) + "\n")
    with serving(completion("A"), latency=args.latency, at_once=args.at_once) as server:
        plan = Plan(
            benchmarks=[benchmark(str(rows))],
            models=["openai/m"],
            profile=Profile(base_url=server.url),
            out=Path(folder) / "runs",
        )
        finished = run_plan(plan)[0]
        timeline = list(server.timeline)
        ends = sorted(
            at
            for (at, now), (_, before) in zip(timeline[1:], timeline, strict=False)
            if now < before
        )
        start, nearly_over = timeline[0][0], ends[-args.at_once]
        at = start + 30
        short = False
        while at + 10 <= nearly_over:
            mean = server.mean(at, at + 10)
            short |= not 32 <= mean <= args.at_once
            print(f"{at - start:4.0f} to {at - start + 10:4.0f} s: {mean:.2f} in flight")
            at += 10
        assert finished.result is not None
        replies = finished.result.report.replies
        print(f"{n} questions, {len(server.requests)} requests, replies {replies}")
        sys.exit(int(short or replies != {"ok": n}))
