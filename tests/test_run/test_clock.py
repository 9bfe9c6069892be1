"""A clock that jumps by a day, both ways, changes nothing in a run but its time stamps."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.servers import Answer, ReceivedRequest, completion, hangs, serving, status

# Python's own clock jumps, and nothing else is touched.
SCRIPT = """
import itertools, json, sys, time
from pathlib import Path

clock, calls = time.time, itertools.count()

def jumping():
    return clock() + 86_400 * (next(calls) % 3 - 1)

time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)

from snellen.api import Plan, run_plan
from snellen.registry import benchmark
from snellen.core.profile import Profile, Timeouts

rows, url, out, fields = sys.argv[1:]
began = time.monotonic()
(finished,) = run_plan(
    Plan(
        benchmarks=[benchmark(rows)],
        models=["openai/m"],
        profile=Profile(base_url=url, timeout=Timeouts(connect=5, first=1, total=2)),
        out=Path(out),
        **json.loads(fields),
    )
)
seconds = time.monotonic() - began
replies = finished.result.report.replies
print(json.dumps([finished.stopped, replies, seconds, next(calls)]))
"""


def run(folder: Path, answer: Any, n: int, **fields: object) -> tuple[str | None, Any, float]:
    """Why the run stopped, its replies by state, and the seconds it took."""
    rows = folder / "rows.jsonl"
    row = {"question": "Which?", "A": "x", "B": "y", "answer": "A"}
    rows.write_text("\n".join(json.dumps({"id": f"q{i}", **row}) for i in range(n)))
    with serving(answer) as server:
        command = [sys.executable, "-c", SCRIPT, str(rows), server.url, str(folder / "runs")]
        done = subprocess.run(
            [*command, json.dumps(fields)], capture_output=True, text=True, timeout=100
        )
    assert done.returncode in (0, 1) and done.stdout, done.stderr
    stopped, replies, seconds, calls = json.loads(done.stdout)
    assert calls > 1, "the clock has not jumped"
    return stopped, replies, seconds


def test_waits_and_time_outs_are_as_long_as_ever(tmp_path: Path) -> None:
    def answer(request: ReceivedRequest) -> Answer:
        match request.number:
            case 1:
                return status(503)
            case 3:
                return hangs()
            case 5:
                return status(429, retry_after="0.2")
            case _:
                return completion("A")

    stopped, replies, seconds = run(
        tmp_path, answer, 12, concurrency=1, max_time=80, retry={"backoff": 0.1}
    )

    assert stopped is None
    assert replies == {"ok": 12}
    # The time-out of 1 s, and the pauses.
    assert 1.3 < seconds < 60


def test_a_budget_of_time_is_kept(tmp_path: Path) -> None:
    stopped, replies, seconds = run(
        tmp_path, completion("A", delay=0.2), 200, concurrency=1, max_time=4
    )

    assert stopped == "the time budget of 4 s is used up"
    assert 2 <= replies["ok"] <= 20
    assert seconds < 60


def test_a_date_to_wait_for_is_read_by_the_clock_of_the_server(tmp_path: Path) -> None:
    def answer(request: ReceivedRequest) -> Answer:
        if request.number:
            return completion("A")
        dates = {
            "Date": "Fri, 31 Dec 1999 23:59:59 GMT",
            "Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT",
        }
        return Answer(503, b"{}", {"Content-Type": "application/json", **dates})

    _, replies, seconds = run(tmp_path, answer, 1)

    assert replies == {"ok": 1}
    assert 1.0 < seconds < 60
