"""What the benchmarks of whole commands share: checkouts, the cost of a command, a server, and
rounds."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
PEERS = HERE.parents[1] / "shared/bench/peers"
Figures = dict[str, Any]


@dataclass(frozen=True)
class Checkout:
    """A copy of Snellen's source, whose command line runs in this Python's environment."""

    name: str
    path: Path

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "snellen", *words]

    def environment(self, work: Path) -> dict[str, str]:
        """The environment of a command, with a cache folder for this checkout alone."""
        home = str(work / f"home-{self.name}")
        return os.environ | {"PYTHONPATH": str(self.path / "src"), "SNELLEN_HOME": home}


def checkouts(base: Path | None) -> list[Checkout]:
    """The checkout that contains this file, and before it the `base`, if there is one."""
    this = Checkout("this", HERE.parent)
    if base is None:
        return [this]
    if not (base / "src/snellen").is_dir():
        sys.exit(f"{base} is not a checkout of Snellen: it has no src/snellen")
    return [Checkout("base", base.resolve()), this]


def add_options(parser: argparse.ArgumentParser, work: str) -> None:
    """Add the options that all benchmarks of whole commands have."""
    parser.add_argument("--base", type=Path, help="another checkout, measured in the same rounds")
    parser.add_argument("--reps", type=int, default=3, help="the number of rounds")
    parser.add_argument("--work", type=Path, default=Path(work))


def launched(command: Sequence[str], file: str) -> list[str]:
    """The command line that runs a command and writes what it took to a file (`_launch.py`)."""
    return [sys.executable, "-I", "-S", str(HERE / "_launch.py"), file, *command]


def measured(
    command: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None = None,
    accept: Sequence[int] = (0,),
) -> Figures:
    """Run a command to its end. Return `started` (time), `wall` (s), `cpu` (s, with its children),
    `memory` (MB, of its largest process at its peak), `exit`, and the machine's `load`."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file, log.open("wb") as output:
        subprocess.run(
            launched(command, file.name),
            env=environment,
            stdout=output,
            stderr=output,
            check=False,
        )
        took = json.loads(Path(file.name).read_bytes() or b"{}")
    if took.get("exit") not in accept:
        sys.exit(f"{' '.join(command)} failed: {log.read_text(errors='replace')[-2000:]}")
    return took | {"load": os.getloadavg()[0]}


def memory(field: str = "VmRSS") -> int:
    """The bytes that this process has in memory now, or had at its peak (`VmHWM`). Unlike
    `ru_maxrss`, the peak does not include the memory of the process that started this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status does not have {field}")


class Mock:
    """A server that answers chat completions with the replies of `_replies.py`."""

    def __init__(self, port: int) -> None:
        self._at = f"http://127.0.0.1:{port}"
        self.port = port
        self.url = f"{self._at}/v1"
        self._prepared: Figures = {}

    def call(self, path: str, body: object = None) -> Figures:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._at}{path}", data=data)
        with urllib.request.urlopen(request, timeout=600) as reply:
            return json.loads(reply.read() or b"{}")

    def prepare(self, form: str, kind: str, n: int, rows: Path | None = None) -> None:
        """Answer in this form from now on. Build the replies to n questions of this kind, or to
        those of a file of rows with choices."""
        wanted = {"form": form, "kind": kind, "n": n, "rows": rows and str(rows)}
        if wanted != self._prepared:
            self.call("/replies", wanted)
            self._prepared = wanted

    def slow_down(self, knee: int, beyond: str) -> None:
        """Make replies slower while more than `knee` requests are in flight."""
        self.call("/slow", {"knee": knee, "beyond": beyond})

    def reset(self, latency: float, faults: Mapping[int, Mapping[str, Any]] | None = None) -> None:
        """Zero the counters, and set the seconds until a reply and the items that fail."""
        self.call("/reset", {"latency": latency, "faults": faults or {}})

    def stats(self) -> Figures:
        return self.call("/stats")

    def seconds(self) -> dict[int, tuple[int, int]]:
        """For each second since the first request, the number of replies, and the sum of the
        requests in flight over these replies."""
        return {int(second): (n, sum_) for second, (n, sum_) in self.call("/seconds").items()}

    def measured(
        self, command: Sequence[str], log: Path, latency: float, **options: Any
    ) -> Figures:
        """Run a command to its end, as `measured` does. Add what the server saw: the number of
        `requests`, their `span`, and the seconds from the command's start to the `first`."""
        faults = options.pop("faults", None)
        self.reset(latency, faults)
        took = measured(command, log, **options)
        seen = self.stats()
        first = seen["first"] - took["started"] if seen["first"] else None
        return took | {"requests": seen["requests"], "span": seen["span_s"], "first": first}


@contextmanager
def mock(peers: Path, port: int = 0) -> Iterator[Mock]:
    """Start a server, on a free port unless one is given."""
    command = [sys.executable, str(HERE / "_reply_server.py"), "--peers", str(peers)]
    command += ["--port", str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        try:
            line = process.stdout.readline() if process.stdout else b""
            if not line:
                sys.exit("The mock server does not start. Is the port taken? Is --peers right?")
            yield Mock(int(line))
        finally:
            process.kill()


# -- rounds


def in_rounds(
    reps: int, cases: Mapping[str, Callable[[], Figures]], show: Sequence[str]
) -> dict[str, list[Figures]]:
    """Measure every case once per round, in the opposite order in every second round. Print the
    figures named in `show`."""
    actual: dict[str, list[Figures]] = {name: [] for name in cases}
    for number in range(reps):
        for name in list(cases) if number % 2 == 0 else reversed(cases):
            figures = cases[name]()
            actual[name].append(figures)
            cells = (f"{key} {shown(figures[key])}" for key in (*show, "load") if key in figures)
            print(f"round {number + 1}  {name:36} {', '.join(cells)}", flush=True)
    return actual


def middle(figures: Sequence[Figures], key: str) -> float:
    """The median over the rounds."""
    return median(item[key] for item in figures)


def ratio(figures: Sequence[Figures], others: Sequence[Figures], key: str) -> float:
    """The median over the rounds of the ratio in the same round."""
    pairs = zip(figures, others, strict=True)
    return median(item[key] / other[key] for item, other in pairs)


def loads(actual: Mapping[str, Sequence[Figures]]) -> str:
    every = [item["load"] for figures in actual.values() for item in figures]
    return f"load {min(every):.1f} to {max(every):.1f} on {os.cpu_count()} cores"


def shown(number: float | None) -> str:
    if number is None:
        return "-"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, ["-" * width for width in widths])
    padded = (map(str.ljust, line, widths) for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)
