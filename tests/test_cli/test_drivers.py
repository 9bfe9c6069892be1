"""Several drivers of one run by the command line: one progress, one budget, and kills at any
instant."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import snellen
from snellen.store import Key
from tests.driver_rows import write_rows
from tests.servers import Server, completion, serving
from tests.stores import Bucket, Machine

N = 240
CONCURRENCY = 8
COMMAND = [sys.executable, "-m", "snellen"]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(completion("A", delay=0.02)) as server:
        yield server


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return write_rows(tmp_path, N)


def asking(rows: Path, server: Server, *options: str) -> list[str]:
    return ["run", "-b", str(rows), "--task", "mcq", "-m", "openai/m", "--base-url", server.url,
            "--concurrency", str(CONCURRENCY), *options]  # fmt: skip


def start(rows: Path, server: Server, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *asking(rows, server, *options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    out, err = process.communicate(timeout=100)
    assert process.returncode == code, err
    return out, err


def only_run() -> Path:
    [manifest] = Path("runs").glob("*/*/*/manifest.json")
    return manifest.parent


def replies(run: Path) -> Counter[str]:
    """How often each sample has a reply in the journals."""
    texts = [path.read_bytes() for path in run.glob("replies*.jsonl")]
    # The last line may be incomplete.
    lines = [line for text in texts for line in text[: text.rfind(b"\n") + 1].splitlines()]
    records = [json.loads(line) for line in lines]
    return Counter(record["key"][0] for record in records if record["state"] != "failed")


def drivers_of(supervisor: subprocess.Popen[str]) -> list[int]:
    try:
        children = Path(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(number) for number in children.split()]


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def test_drivers_ask_one_run_and_the_supervisor_reports_it_like_a_single_process(
    rows: Path, server: Server
) -> None:
    out, err = ended(start(rows, server, "--drivers", "3", "--json"))

    result = json.loads(out)
    assert result["n"] == N and result["replies"] == {"ok": N}
    assert len(server.requests) == N and set(replies(only_run()).values()) == {1}
    assert len(list(only_run().glob("replies.part-*.jsonl"))) == 3
    assert server.most <= CONCURRENCY
    assert f"mine × openai/m  {N}/{N}" in err and "part" not in err
    alone = snellen.evaluate(
        str(rows), "openai/m", task="mcq", base_url=server.url, out="alone", concurrency=8
    )
    assert alone.report.scorings == snellen.load_run(only_run()).report.scorings
    assert alone.report.identity == snellen.load_run(only_run()).report.identity


def test_drivers_work_from_python(rows: Path, server: Server) -> None:
    result = snellen.evaluate(
        str(rows), "openai/m", task="mcq", base_url=server.url, drivers=2, concurrency=4, limit=41
    )
    assert result.report.n == 41 and len(server.requests) == 41


def test_drivers_hold_one_budget_and_the_same_command_goes_on(rows: Path, server: Server) -> None:
    _, err = ended(start(rows, server, "--drivers", "3", "--max-requests", "50"), 130)
    assert len(server.requests) == 50
    assert "budget of 17 requests is used up" in err and "budget of 16 requests" in err

    ended(start(rows, server, "--drivers", "3"))
    assert len(server.requests) == N and set(replies(only_run()).values()) == {1}


def test_ctrl_c_stops_all_drivers_after_the_replies_in_flight(rows: Path, server: Server) -> None:
    process = start(rows, server, "--drivers", "2")
    until(lambda: len(server.requests) > 30)
    process.send_signal(signal.SIGINT)
    out, err = ended(process, 130)

    assert err.count("stopping: waiting for the replies in flight") == 1
    assert "accuracy" in out, "what is stored is scored"
    stored = replies(only_run())
    assert len(stored) == len(server.requests) < N, "every request in flight has its reply"
    ended(start(rows, server, "--drivers", "2"))
    assert len(server.requests) == N and set(replies(only_run()).values()) == {1}


def test_drivers_whose_supervisor_is_killed_stop_and_store_what_is_in_flight(
    rows: Path, server: Server
) -> None:
    process = start(rows, server, "--drivers", "2")
    until(lambda: len(server.requests) > 30)
    drivers = drivers_of(process)
    process.kill()
    process.communicate()
    until(lambda: not any(Path(f"/proc/{number}").exists() for number in drivers))

    assert len(replies(only_run())) == len(server.requests) < N
    ended(start(rows, server, "--drivers", "2"))
    assert len(server.requests) == N and set(replies(only_run()).values()) == {1}


def test_a_driver_that_is_killed_is_started_again(rows: Path, server: Server) -> None:
    process = start(rows, server, "--drivers", "2", "--json")
    until(lambda: len(server.requests) > 30)
    os.kill(drivers_of(process)[0], signal.SIGKILL)
    out, err = ended(process)

    assert "was killed by signal 9, and is started again" in err
    assert json.loads(out)["replies"] == {"ok": N}
    assert set(replies(only_run()).values()) == {1}
    assert len(server.requests) <= N + CONCURRENCY // 2


def test_an_error_of_all_drivers_is_shown_once(rows: Path, server: Server) -> None:
    _, err = ended(start(rows, server, "--drivers", "3", "--api-key-env", "NOT_SET_ANYWHERE"), 2)
    assert err.count("the environment variable NOT_SET_ANYWHERE is not set") == 1
    assert not server.requests


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_instant_neither_lose_nor_repeat_a_question(
    rows: Path, server: Server, seed: int
) -> None:
    instants = random.Random(f"drivers {seed}")
    kills = 0
    while kills < 10:
        before = len(server.requests)
        process = start(rows, server, "--drivers", "2")
        while len(server.requests) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(instants.uniform(0, 0.15))
        victims = [process.pid, *drivers_of(process)]
        while kills < 10 and process.poll() is None and victims:
            victim = victims[instants.randrange(len(victims))]
            os.kill(victim, signal.SIGKILL)
            kills += 1
            if victim == process.pid:
                break
            time.sleep(instants.uniform(0, 0.3))
            victims = [process.pid, *drivers_of(process)]
        if process.poll() is None:
            process.kill()
        process.communicate()
        if len(replies(only_run())) == N:
            break
    out, _ = ended(start(rows, server, "--drivers", "2", "--json"))

    assert json.loads(out)["replies"] == {"ok": N}
    assert len(replies(only_run())) == N and set(replies(only_run()).values()) == {1}
    assert len(server.requests) <= N + kills * CONCURRENCY


def test_four_parts_on_an_object_store_by_four_processes_are_one_run(
    rows: Path, server: Server, bucket: Bucket, tmp_path: Path
) -> None:
    machines = [Machine(tmp_path / name, bucket.endpoint) for name in ("a", "b")]
    out = f"{bucket.url}/runs"

    def begin(number: int) -> subprocess.Popen[str]:
        machine = machines[number % 2]
        return machine.start(*asking(rows, server, "--out", out, "--part", f"{number}/4", "--json"))

    processes = [begin(number) for number in range(1, 5)]
    until(lambda: len(server.requests) > N // 2)
    kills = 0
    for process in processes[:2]:
        if process.poll() is None:
            process.kill()
            kills += 1
            process.communicate()
    again = [begin(number) for number in (1, 2)]
    outputs = [ended(process)[0] for process in [*again, *processes[2:]]]
    for machine in machines:
        machine.end()

    lines = [
        json.loads(line)
        for name in bucket.objects()
        if "/replies" in name
        for line in bucket.get(name).splitlines()
    ]
    keys = Counter(Key(*line["key"]) for line in lines if line["state"] != "failed")
    assert len(keys) == N and set(keys.values()) == {1}
    assert len(server.requests) <= N + kills * CONCURRENCY
    manifests = [name for name in bucket.objects() if name.endswith("/manifest.json")]
    assert len(manifests) == 1
    results = [json.loads(output) for output in outputs if output.strip()]
    assert max(result["n"] for result in results if "n" in result) == N
    ids = {json.dumps(json.loads(bucket.get(name))["identity"]) for name in manifests}
    assert len(ids) == 1
