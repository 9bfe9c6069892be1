"""The path of one sample: which lines of the package a run executes, file by file.

    python perf/path.py                     # the files, with the most executed lines first
    python perf/path.py --files 25          # the share of the lines in the first 25 files
    python perf/path.py --each-sample   # only lines that every sample executes
    python perf/path.py --json

The run is the README's first example with a model on a server: letters of the eye chart, asked over
HTTP on loopback. Only lines inside functions count, since lines that run when a module is imported
say nothing about the path. A line counts once, however often it is executed.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import snellen
from snellen.cli import main as snellen_main

SOURCE = Path(snellen.__file__).parent
REPLY = {
    "id": "1",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "E"}}
    ],
    "usage": {"prompt_tokens": 20, "completion_tokens": 1},
}


class Handler(BaseHTTPRequestHandler):
    """Answers every chat completion with one letter."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Lines:
    """The executed lines inside the package's functions, by file."""

    def __init__(self) -> None:
        self.by_file: dict[str, Counter[int]] = defaultdict(Counter)
        self._is_ours: dict[CodeType, bool] = {}

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        ours = self._is_ours.get(code)
        if ours is None:
            is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
            ours = is_function and code.co_filename.startswith(str(SOURCE))
            self._is_ours[code] = ours
        return self._line if ours else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            self.by_file[frame.f_code.co_filename][frame.f_lineno] += 1
        return self._line

    def executed_at_least(self, times: int) -> dict[str, int]:
        """The number of lines that were executed at least this many times, by file, in descending
        order."""
        numbers = {
            path: sum(count >= times for count in lines.values())
            for path, lines in self.by_file.items()
        }
        order = sorted(numbers.items(), key=lambda item: -item[1])
        return {path: number for path, number in order if number}


def traced_run(samples: int) -> Lines:
    """Run `snellen run` in this process, with every thread traced."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = Lines()
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "-b", f"eyechart:tasks=letters,n={samples}", "-m", "openai/m"]
        words += ["--base-url", f"http://127.0.0.1:{server.server_port}/v1", "--out", folder]
        sys.argv = ["snellen", *words]
        threading.settrace(lines.trace)
        sys.settrace(lines.trace)
        try:
            snellen_main()
        except SystemExit as end:
            assert not end.code, f"snellen run ended with {end.code}"
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            server.shutdown()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=25, help="how many files to sum up")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument(
        "--each-sample",
        action="store_true",
        help="count only lines that are executed at least once a sample (take 200 samples: fewer "
        "than a loop over options has turns would count that loop)",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = traced_run(options.samples)
    counts = lines.executed_at_least(options.samples if options.each_sample else 1)
    table = [
        {
            "file": Path(path).relative_to(SOURCE).as_posix(),
            "executed": number,
            "lines": len(Path(path).read_text(encoding="utf-8").splitlines()),
        }
        for path, number in counts.items()
    ]
    executed = sum(counts.values())
    first = table[: options.files]
    share = sum(int(row["executed"]) for row in first) / executed
    total = sum(int(row["lines"]) for row in first)
    if options.json:
        print(json.dumps({"share": share, "lines": total, "files": table}, indent=2))
        return
    for row in table:
        print(f"{row['executed']:6} of {row['lines']:5}  {row['file']}")
    print(
        f"{executed:,} lines are executed in {len(table)} files. The first {len(first)} files have "
        f"{100 * share:.1f} % of them; they are {total:,} lines long."
    )


if __name__ == "__main__":
    main()
