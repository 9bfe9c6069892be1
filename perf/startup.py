"""Start-up time of the command line: the best and the median of several whole processes.

usage: python perf/startup.py [--reps 15]
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--reps", type=int, default=15)
args = ap.parse_args()
SNELLEN = str(Path(sys.executable).with_name("snellen"))
ROWS = [
    ("python -c pass", [sys.executable, "-c", "pass"], None),
    ("import snellen", [sys.executable, "-c", "import snellen"], None),
    ("snellen --help", [SNELLEN, "--help"], 150),
    ("snellen list", [SNELLEN, "list"], 300),
    ("snellen run --help", [SNELLEN, "run", "--help"], None),
]
print(f"{'command':22} {'best ms':>8} {'median ms':>10} {'budget':>8}")
for name, command, budget in ROWS:
    times = []
    for _ in range(args.reps):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(1e3 * (time.perf_counter() - started))
    print(f"{name:22} {min(times):8.0f} {sorted(times)[len(times) // 2]:10.0f} {budget or '':>8}")
