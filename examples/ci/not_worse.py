"""Say of each benchmark how it compares with the baseline; exit 1 where one is significantly below.

usage: python not_worse.py comparison.json

It reads what `snellen compare BASELINE RUNS --json` wrote. A fixed margin would be wrong twice: it
lets a real loss through on many samples, and stops a job by chance on few. The interval knows n.
"""

import json
import sys
from pathlib import Path


def main(path: str) -> int:
    worse = 0
    for comparison in json.loads(Path(path).read_text(encoding="utf-8"))["comparisons"]:
        name, metric = next(iter(comparison["metrics"].items()))
        difference = metric["difference"]
        if difference["value"] is None or difference["ci95"] is None:
            said = f"no interval: {difference.get('reason', 'no value')}"
        else:
            low, high = difference["ci95"]
            said = f"{difference['value']:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}"
            if high < 0:
                worse, said = 1, f"{said}: significantly worse"
        print(f"{comparison['benchmark']}: {name} {said}")
    return worse


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
