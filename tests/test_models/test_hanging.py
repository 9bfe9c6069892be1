"""Synchronous calls that hang: they are given up, and what waits behind them is asked."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.api import Finished, Plan, run_plan
from snellen.core.model import Reply, Request
from snellen.core.profile import Profile, Timeouts
from snellen.media.content import Message
from snellen.models.threads import MAX_HUNG
from snellen.registry import Opened, benchmark
from snellen.store import ReplyRecord, Run

QUICK = {"backoff": 0.001, "longest_wait": 0.01, "attempts": 2}
TIMEOUT = 0.3


def write_rows(folder: Path, n: int = 6) -> Path:
    path = folder / "rows.jsonl"
    rows = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ask(folder: Path, model: Opened | str, n: int = 6, concurrency: int | None = None) -> Finished:
    plan = Plan(
        benchmarks=[benchmark(str(write_rows(folder, n)))],
        models=[model],
        profile=Profile(timeout=Timeouts(total=TIMEOUT)),
        out=folder / "runs",
        retry=QUICK,
        concurrency=concurrency,
    )
    return run_plan(plan)[0]


def failures(finished: Finished) -> dict[str, str]:
    """The last error of every question without a reply."""
    last = {
        record.key[0]: record
        for record in Run(finished.run).replies()
        if isinstance(record, ReplyRecord)
    }
    return {key: record.error.message for key, record in last.items() if record.error is not None}


@pytest.fixture
def hang() -> Any:
    """A call that hangs until the test is over."""
    release = threading.Event()
    yield lambda: release.wait(60)
    release.set()


def test_the_questions_behind_a_call_that_hangs_are_answered(
    tmp_path: Path, hang: Callable[[], object]
) -> None:
    def answer(messages: Sequence[Message]) -> str:
        if "[q0]" in messages[-1].text:
            hang()
        return "A"

    finished = ask(tmp_path, registry.from_object(answer))
    assert failures(finished) == {"q0": f"no reply within {TIMEOUT} s"}
    assert finished.result is not None
    assert finished.result.report.replies == {"ok": 5, "failed": 1}


def test_a_queue_in_front_of_one_thread_times_out_nobody(tmp_path: Path) -> None:
    source = """
import threading
class Mine:
    def generate_inner(self, message, dataset=None):
        if "[q0]" in message[-1]["value"]:
            threading.Event().wait(1)
        return "A"
"""
    (tmp_path / "mine.py").write_text(source)
    finished = ask(tmp_path, f"vlmevalkit:{tmp_path / 'mine.py'}:Mine", concurrency=6)
    assert failures(finished) == {"q0": f"no reply within {TIMEOUT} s"}
    # Until it ends, what that thread prints goes to standard error; the next test counts threads.
    for thread in threading.enumerate():
        if thread.name.startswith("snellen vlmevalkit"):
            thread.join(5)


def test_a_batch_that_hangs_is_given_up_and_the_next_one_answered(
    tmp_path: Path, hang: Callable[[], object]
) -> None:
    class Mine:
        def generate_batch(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
            if any("[q0]" in turns[-1].text for turns in conversations):
                hang()
            return ["A"] * len(conversations)

    finished = ask(tmp_path, registry.from_object(Mine()), n=40)
    missing = failures(finished)
    # Batches hold eight: those beside q0 were with the model when it hung.
    assert "q0" in missing and len(missing) <= 8
    assert set(missing.values()) == {f"no reply within {TIMEOUT} s"}


def test_a_call_that_was_given_up_stops_when_it_executes_python_code_again(
    tmp_path: Path,
) -> None:
    threads = []

    def answer(messages: Sequence[Message]) -> str:
        if "[q0]" in messages[-1].text:
            threads.append(threading.current_thread())
            end = time.monotonic() + 60
            while time.monotonic() < end:
                time.sleep(0.01)
        return "A"

    ask(tmp_path, registry.from_object(answer))
    assert len(threads) == QUICK["attempts"]
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def test_a_model_that_always_hangs_is_not_asked_for_ever(
    tmp_path: Path, hang: Callable[[], object]
) -> None:
    def answer(messages: Sequence[Message]) -> object:
        return hang()

    opened = registry.from_object(answer, threads=MAX_HUNG)
    finished = ask(tmp_path, opened, n=60)
    assert finished.stopped is not None and "earlier calls of the model hang" in finished.stopped
    unseen = [text for text in failures(finished).values() if "was not asked, because" in text]
    assert unseen and len(failures(finished)) < 60


def test_the_process_ends_though_a_call_never_does(tmp_path: Path) -> None:
    program = f"""
import threading
from pathlib import Path
from snellen import registry
from tests.test_models.test_hanging import ask

def answer(messages):
    threading.Event().wait()

ask(Path({str(tmp_path)!r}), registry.from_object(answer), n=1)
print("done", flush=True)
"""
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert ended.stdout == "done\n" and time.monotonic() - began < 20


def test_a_time_out_of_the_models_own_is_told_apart_from_the_limit(tmp_path: Path) -> None:
    class Impatient:
        name = "impatient"

        async def generate(self, request: Request) -> Reply:
            raise TimeoutError("my socket was silent")

    model = Opened(model=Impatient(), name="impatient", server="impatient", concurrency=1)
    finished = ask(tmp_path, model, n=1)
    assert failures(finished) == {"q0": "the model raised TimeoutError: my socket was silent"}
