"""Say of each benchmark how it compares with the baseline; exit 1 where one is significantly below.

usage: python not_worse.py comparison.json

It reads what `snellen compare BASELINE RUNS --json` wrote. A fixed margin would be wrong twice: it
lets a real loss through on many samples, and stops a job by chance on few. The interval knows n.
"""

import json
import sys
from pathlib import Path

LEVEL = 0.05


def main(path: str) -> int:
    worse = 0
    for comparison in json.loads(Path(path).read_text(encoding="utf-8"))["comparisons"]:
        name, metric = next(iter(comparison["metrics"].items()))
        difference = metric["difference"]
        if difference["value"] is None:
            said = f"no value: {difference.get('reason', 'nothing to compare')}"
        else:
            said = f"{difference['value']:+.4f}, "
            if difference["ci95"] is None:
                # As from all right to all wrong: each sample has the same difference.
                said += f"no interval: {difference.get('reason', 'none is known')}"
            else:
                said += "95 % interval {:+.4f} to {:+.4f}".format(*difference["ci95"])
            if difference["value"] < 0 and metric.get("p", 1) < LEVEL:
                worse, said = 1, f"{said}: significantly worse"
        print(f"{comparison['benchmark']}: {name} {said}")
    return worse


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
