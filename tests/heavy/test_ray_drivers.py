"""--executor ray --drivers N: real Ray, on this machine: one cluster for all tests, and nodes that
tests start and kill."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import snellen
from tests.driver_rows import write_rows
from tests.heavy.ray_clusters import node, own_cluster, wait_for
from tests.servers import Server, completion, serving
from tests.stores import Bucket

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="needs ray, of constraints-heavy.txt"
    ),
]
N = 240
CONCURRENCY = 6
DRIVERS = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of three CPUs, which ends with the tests."""
    with own_cluster(cpus=DRIVERS) as address:
        yield address


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(completion("A", delay=0.05)) as server:
        yield server


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return write_rows(tmp_path, N)


class Runs:
    """Runs of the rows on a server, with drivers on a cluster."""

    def __init__(self, rows: Path, server: Server, cluster: str | None) -> None:
        self.words = ["run", "-b", str(rows), "--task", "mcq", "-m", "openai/m"]
        self.words += ["--base-url", server.url, "--concurrency", str(CONCURRENCY)]
        self.words += ["--executor", "ray"]
        if cluster is not None:
            self.words += ["--ray-address", cluster]

    def start(self, *options: str, drivers: int = DRIVERS) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "snellen", *self.words, "--drivers", str(drivers), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def complete(self, *options: str) -> None:
        """Run the command to its end, and check that each question has one reply."""
        ended(self.start(*options))
        assert len(replies()) == N and set(replies().values()) == {1}


@pytest.fixture
def runs(rows: Path, server: Server, cluster: str) -> Runs:
    return Runs(rows, server, cluster)


def ended(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    out, err = process.communicate(timeout=150)
    assert process.returncode == code, err
    return out, err


def only_run() -> Path:
    [manifest] = Path("runs").glob("*/*/*/manifest.json")
    return manifest.parent


def replies() -> Counter[str]:
    """How often each sample has a reply in the journals."""
    texts = [path.read_bytes() for path in only_run().glob("replies*.jsonl")]
    # The last line may be incomplete.
    lines = [line for text in texts for line in text[: text.rfind(b"\n") + 1].splitlines()]
    records = [json.loads(line) for line in lines]
    return Counter(record["key"][0] for record in records if record["state"] != "failed")


def drivers_here(folder: Path) -> list[int]:
    """The drivers of runs of the rows in a folder, wherever Ray has placed them."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = process.joinpath("cmdline").read_text().split("\0")
        except OSError:
            continue
        if "snellen.cli.driver_process" in words and str(folder / "mine.jsonl") in words:
            pids.append(int(process.name))
    return pids


def test_drivers_on_a_cluster_ask_one_run_that_is_reported_like_that_of_one_process(
    rows: Path, server: Server, runs: Runs
) -> None:
    out, err = ended(runs.start("--json"))

    result = json.loads(out)
    assert result["n"] == N and result["replies"] == {"ok": N}
    assert len(server.requests) == N and set(replies().values()) == {1}
    assert len(list(only_run().glob("replies.part-*.jsonl"))) == DRIVERS
    assert server.most <= CONCURRENCY
    assert f"mine × openai/m  {N}/{N}" in err and "part" not in err
    alone = snellen.evaluate(
        str(rows), "openai/m", task="mcq", base_url=server.url, out="alone", concurrency=8
    )
    assert alone.report.scorings == snellen.load_run(only_run()).report.scorings
    assert alone.report.identity == snellen.load_run(only_run()).report.identity
    assert not drivers_here(rows.parent)


def test_drivers_on_a_cluster_hold_one_budget(rows: Path, server: Server, runs: Runs) -> None:
    _, err = ended(runs.start("--max-requests", "50"), 130)
    assert len(server.requests) == 50
    assert "budget of 17 requests is used up" in err and "budget of 16 requests" in err

    runs.complete()
    assert len(server.requests) == N


def test_ctrl_c_stops_the_drivers_on_a_cluster_after_the_replies_in_flight(
    rows: Path, server: Server, runs: Runs
) -> None:
    process = runs.start()
    wait_for(lambda: len(server.requests) > 30)
    process.send_signal(signal.SIGINT)
    out, err = ended(process, 130)

    assert err.count("stopping: waiting for the replies in flight") == 1
    assert "accuracy" in out, "what is stored is scored"
    assert len(replies()) == len(server.requests) < N, "every request in flight has its reply"
    runs.complete()
    assert len(server.requests) == N


def test_a_driver_on_a_cluster_that_is_killed_is_started_again(
    rows: Path, server: Server, runs: Runs
) -> None:
    process = runs.start("--json")
    wait_for(lambda: len(server.requests) > 30)
    os.kill(drivers_here(rows.parent)[0], signal.SIGKILL)
    out, err = ended(process)

    assert "was killed by signal 9, and is started again" in err
    assert json.loads(out)["replies"] == {"ok": N}
    assert set(replies().values()) == {1}
    assert len(server.requests) <= N + CONCURRENCY // DRIVERS


def test_the_drivers_of_a_killed_supervisor_end_and_the_same_command_takes_over(
    rows: Path, server: Server, runs: Runs
) -> None:
    process = runs.start()
    wait_for(lambda: len(server.requests) > 30)
    process.kill()
    process.communicate()
    wait_for(lambda: not drivers_here(rows.parent))

    assert len(replies()) == len(server.requests) < N, "every request in flight has its reply"
    runs.complete()
    assert len(server.requests) == N


def test_the_driver_of_a_lost_node_is_started_on_another_node(
    rows: Path, server: Server, runs: Runs, cluster: str, tmp_path: Path
) -> None:
    with node(str(tmp_path / "node.log"), f"--address={cluster}", cpus=1) as group:
        wait_for(lambda: "runtime started" in (tmp_path / "node.log").read_text())
        process = runs.start("--json", drivers=DRIVERS + 1)
        wait_for(lambda: len(drivers_here(tmp_path)) == DRIVERS + 1)
        wait_for(lambda: len(server.requests) > 30)
        os.killpg(group, signal.SIGKILL)
        out, err = ended(process)

    assert "was lost" in err and "and is started again" in err
    assert json.loads(out)["replies"] == {"ok": N}
    assert set(replies().values()) == {1}
    assert len(server.requests) <= N + CONCURRENCY // DRIVERS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--replicas", "2"], "use either --drivers or --replicas, not both"),
        (["--gpus-per-replica", "1"], "drivers need no GPU"),
        (["--drivers", "99"], "99 drivers need one CPU each, but the Ray cluster has "),
        (["-m", "python:model.py:answer"], "For several copies of a local model, use --replicas"),
        (["--part", "1/3"], "--drivers divides the run into parts by itself"),
        (["--api-key-env", "NOT_SET"], "the environment variable NOT_SET is not set"),
    ],
)
def test_what_drivers_on_a_cluster_cannot_do_is_refused(
    server: Server, runs: Runs, options: list[str], message: str
) -> None:
    _, err = ended(runs.start(*options), 2)
    assert message in err and "Traceback" not in err
    assert not server.requests


def test_drivers_on_other_machines_ask_one_run_on_an_object_store(
    rows: Path, server: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_cluster(cpus=2) as address:  # its nodes have the environment of `bucket`
        monkeypatch.setenv("SNELLEN_HOME", str(rows.parent / "elsewhere"))
        runs = Runs(rows, server, address)
        out, _ = ended(runs.start("--out", f"{bucket.url}/runs", "--json", drivers=2))

    result = json.loads(out)
    assert result["n"] == N and result["replies"] == {"ok": N}
    assert len(server.requests) == N
    journals = [name for name in bucket.objects() if "/replies.part-" in name]
    assert {name.rpartition("/")[2][:18] for name in journals} == {
        "replies.part-00001",
        "replies.part-00002",
    }


def test_drivers_on_a_cluster_need_its_address(rows: Path, server: Server) -> None:
    _, err = ended(Runs(rows, server, None).start(), 2)
    assert "--executor ray with --drivers needs the address of a Ray cluster" in err
