"""The time of `snellen list` with 150 benchmarks: a copy of the package gets 120 more files.

usage: python perf/listing.py [--benchmarks 150] [--reps 15]

`cold` is the first call, without an index in the cache folder; `warm` is every later call.
--plugins N also installs N plug-ins.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import snellen

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--benchmarks", type=int, default=150)
ap.add_argument("--plugins", type=int, default=0)
ap.add_argument("--reps", type=int, default=15)
args = ap.parse_args()


def milliseconds(environment: dict[str, str]) -> tuple[float, float]:
    """The wall-clock time and the CPU time of one call. On a busy machine, only the CPU time can be
    compared."""
    started, busy = time.perf_counter(), sum(os.times()[2:4])
    command = [sys.executable, "-m", "snellen", "list", "benchmarks", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    took = 1e3 * (time.perf_counter() - started)
    n = done.stdout.count(b'"name"')
    assert n == args.benchmarks + args.plugins, n
    return took, 1e3 * (sum(os.times()[2:4]) - busy)


with tempfile.TemporaryDirectory() as scratch:
    site = Path(scratch, "site")
    source = Path(snellen.__file__).parent
    shutil.copytree(source, site / "snellen", ignore=shutil.ignore_patterns("__pycache__", "rows"))
    folder = site / "snellen" / "benchmarks"
    files = sorted(folder.glob("[!_]*.py"))
    for number, path in enumerate(islice(cycle(files), args.benchmarks - len(files))):
        name = f"{path.stem}{number}"
        copy = path.read_text(encoding="utf-8").replace(f"def {path.stem}(", f"def {name}(")
        (folder / f"{name}.py").write_text(copy, encoding="utf-8")
    if args.plugins:
        info = site / "many-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: many\nVersion: 1.0\n")
        points = [f"plug{n} = snellen.benchmarks.pope:pope" for n in range(args.plugins)]
        (info / "entry_points.txt").write_text("\n".join(["[snellen.benchmarks]", *points]))
    home = Path(scratch, "home")
    environment = {**os.environ, "PYTHONPATH": str(site), "SNELLEN_HOME": str(home)}
    milliseconds(environment)  # fills Python's bytecode cache
    shutil.rmtree(home, ignore_errors=True)
    cold = milliseconds(environment)
    warm = [milliseconds(environment) for _ in range(args.reps)]
    print(f"{args.benchmarks} benchmarks, {args.plugins} plug-ins, in ms (budget 300):")
    for name, calls in {"cold": [cold], "warm": warm}.items():
        for kind, times in zip(("wall", "processor"), zip(*calls, strict=True), strict=True):
            median = sorted(times)[len(times) // 2]
            print(f"{name}  {kind:9}  best {min(times):5.0f}  median {median:5.0f}")
