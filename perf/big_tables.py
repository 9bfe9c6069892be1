"""Big tables: seconds until their facts and first row are known, the first time and later; memory.

usage: python perf/big_tables.py [--gb 1] [--rows 1000000] [--work DIR] [--keep]

Writes a TSV of --gb gigabytes in VLMEvalKit's form (rows with 72 kB of base64) and a JSONL with
--rows rows of 200 bytes, then reads each in separate processes: with an empty cache folder
(`first`, and its CPU time), and again (`later`). The files are in the page cache, since they have
just been written. The budgets are for 1 GB and a million rows. The files need disk space of their
size.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from _commands import memory

BUDGET = {"first": 2.0, "later": 0.3, "memory": 30}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gb", type=float, default=1)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-tables"))
    parser.add_argument("--keep", action="store_true", help="keep the files for the next time")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(*args.measure)))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    tables = [
        ("vlmevalkit_tsv", big_tsv(args.work / f"{args.gb:g}gb.tsv", args.gb)),
        ("tsv", args.work / f"{args.gb:g}gb.tsv"),
        ("jsonl", big_jsonl(args.work / f"{args.rows}.jsonl", args.rows)),
    ]
    print(f"{'table':15} {'rows':>9} {'GB':>5} {'first s':>8} {'CPU s':>6} {'later s':>8}", end="")
    print(f" {'all rows s':>10} {'MB':>5}")
    for name, path in tables:
        shutil.rmtree(args.work / "home", ignore_errors=True)
        first, later = (child(name, path, args.work / "home") for _ in range(2))
        memory = max(first["memory"], later["memory"])
        print(
            f"{name:15} {first['rows']:9} {path.stat().st_size / 1e9:5.2f} {first['seconds']:8.2f} "
            f"{first['cpu']:6.2f} {later['seconds']:8.2f} {later['all']:10.2f} {memory:5.1f}"
        )
    print(
        f"{'budget':31} {BUDGET['first']:8} {'':6} {BUDGET['later']:8} {'':10} {BUDGET['memory']:5}"
    )
    if not args.keep:
        shutil.rmtree(args.work)


def child(name: str, path: Path, home: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, str(path)]
    environment = os.environ | {"SNELLEN_HOME": str(home)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(name: str, path: str) -> dict[str, float]:
    """Measure in a process of its own: seconds to the facts and the first row, then to all rows;
    the peak memory, in MB above the memory after the imports."""
    from snellen import data

    before = memory("VmHWM")
    started, worked = time.perf_counter(), time.process_time()
    table = getattr(data, name)(Path(path))
    facts = table.facts()
    next(iter(table))
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    started = time.perf_counter()
    assert sum(1 for _ in table) == facts.rows
    every = time.perf_counter() - started
    return {
        "rows": facts.rows,
        "seconds": seconds,
        "cpu": cpu,
        "all": every,
        "memory": (memory("VmHWM") - before) / 1e6,
    }


def big_tsv(path: Path, gigabytes: float) -> Path:
    random = Random(0)
    if not path.exists():
        with path.open("wb") as file:
            file.write(b"index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage\tsplit\n")
            index = 0
            while file.tell() < gigabytes * 1e9:
                picture = base64.b64encode(random.randbytes(54_000))
                row = b"%d\tWhat is shown here?\ta cat\ta dog\tNone\ta car\tA\tanimals\t%b\tdev\n"
                file.write(row % (index, picture))
                index += 1
    return aged(path)


def big_jsonl(path: Path, rows: int) -> Path:
    if not path.exists():
        with path.open("wb") as file:
            for n in range(rows):
                start = b'{"id": %d, "image": "images/%d.jpg", "question": "' % (n, n)
                file.write(start.ljust(198, b"?") + b'"}\n')
    return aged(path)


def aged(path: Path) -> Path:
    """Date a file back: one that changed within the last second is not trusted to stay the same."""
    os.utime(path, (time.time() - 60,) * 2)
    return path


if __name__ == "__main__":
    main()
