"""The CPU of decoding in a plan over eight video benchmarks, for a first and a second model.

usage: python perf/video_plan.py [--reps 3] [--frames POLICY] [--work DIR]

Each round runs the plan three times with `snellen run`, each time with another model behind a local
server: without a frame cache, and then for a first and a second model with a new cache. The CPU is
that of the threads that decode, which also compute the digests of the videos. The second model may
take 3 % of the first. Each run also lists the files that it wrote outside its run folders.

The eight sets (`tests/video_sets.py`) have ten videos of 100 seconds, or a fifth of that if a codec
is slow to encode. They are drawn once (2 minutes) and kept in --work.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from _commands import HERE, Checkout, Figures, add_options, in_rounds, loads, middle, ratio

from tests import videos
from tests.servers import completion, serving
from tests.video_sets import MAKERS, OWN_POLICIES, draw

LONG = {
    "home": partial(videos.cfr, n=3000),
    "desk": partial(videos.vfr, n=4000),
    "cut": partial(videos.cfr, n=3000),
    "late": partial(videos.offset, n=3000),
    "long": partial(videos.open_gop, n=3000, fps=videos.NTSC),
    "turned": partial(videos.turned, degrees=90, n=3000),
    "hevc": partial(videos.hevc, n=600),
    "slow": partial(videos.cfr, n=3000, fps=30),
}
assert LONG.keys() == MAKERS.keys()
MOST_OF_FIRST = 0.03
MODELS = {"no cache": "zero", "first": "one", "second": "two"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-video-plan")
    parser.add_argument("--frames", help="a policy for all sets; by default, each set's own")
    parser.add_argument("--run", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run(args.run)
        return
    args.work.mkdir(parents=True, exist_ok=True)
    home = args.work / "home-this"
    if not (home / "drawn").exists():
        draw(home / "data", LONG)
        (home / "drawn").touch()
    cases = {name: partial(measured, args, name) for name in MODELS}
    actual: dict[str, list[Figures]] = {name: [] for name in cases}
    for _ in range(args.reps):  # the second model follows the first in each round
        shutil.rmtree(args.work / "cache", ignore_errors=True)
        for name, figures in in_rounds(1, cases, ("decoding", "cpu")).items():
            actual[name] += figures
    for name, figures in actual.items():
        print(
            f"{name:10} decoding {middle(figures, 'decoding'):7.3f} CPU s, the whole process "
            f"{middle(figures, 'cpu'):6.2f} CPU s, files outside run folders: "
            f"{max(figure['others'] for figure in figures)}"
        )
    share = ratio(actual["second"], actual["first"], "decoding")
    print(f"second / first: {share:.2%} (allowed {MOST_OF_FIRST:.0%}); {loads(actual)}")


def measured(args: argparse.Namespace, name: str) -> Figures:
    """Run the plan in a process of its own, in an empty folder that is also the one for temporary
    files."""
    folder = args.work / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = [word for benchmark in OWN_POLICIES for word in ("-b", benchmark)]
    words += ["-m", f"openai/{MODELS[name]}", "--out", "runs"]
    words += [] if args.frames is None else ["--frames", args.frames]
    words += [] if name == "no cache" else ["--frame-cache", str(args.work / "cache")]
    environment = Checkout("this", HERE.parent).environment(args.work) | {"TMPDIR": str(folder)}
    with serving(completion("B")) as server, (args.work / "log.txt").open("w") as log:
        done = subprocess.run(
            [sys.executable, __file__, "--run", "run", *words, "--base-url", server.url],
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            cwd=folder,
        )
    if done.returncode:
        sys.exit(f"The run failed: {(args.work / 'log.txt').read_text()[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    others = [path for path in folder.rglob("*") if path.is_file() and "runs" not in path.parts]
    return figures | {"others": len(others), "load": os.getloadavg()[0]}


def run(words: list[str]) -> None:
    """Run a command of Snellen in this process, and print the CPU seconds of the threads that
    decode and of the whole process."""
    from snellen import cli

    decoding = []
    run_thread = threading.Thread.run

    def timed(thread: threading.Thread) -> None:
        run_thread(thread)
        if thread.name.startswith("decode"):
            decoding.append(time.thread_time())

    threading.Thread.run = timed  # type: ignore[method-assign]
    code = cli.exit_code(words)
    for thread in threading.enumerate():
        if thread.name.startswith("decode"):
            thread.join()
    print(json.dumps({"decoding": sum(decoding), "cpu": time.process_time()}))
    sys.exit(code)


if __name__ == "__main__":
    main()
