"""--serve: servers that are started, asked and stopped, with a stand-in for their programs: a
process with a port of its own. `tests/heavy/test_serve.py` has a real one."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from snellen import registry
from snellen.core.profile import Profile, Serve
from snellen.errors import UsageError
from snellen.models.executors.serve import ModelServer
from snellen.run.lifecycle import close_model
from snellen.store import Run
from tests.test_cli.conftest import Snellen, snellen

__all__ = ["snellen"]
STAND_IN = Path(__file__).parents[1] / "stand_in_server.py"
RUN = ("run", "-b", "mine.jsonl", "-m", "openai/tiny", "--serve")
VLLM = (*RUN, "vllm", "--json")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with forty questions, and the three programs in PATH. Nothing runs on in the end."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for kind in ("vllm", "sglang", "transformers"):
        (programs / kind).write_text(f"#!{sys.executable}\n{STAND_IN.read_text()}")
        (programs / kind).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    rows = [
        {"id": f"q{n}", "question": f"Which {n}?", "A": "x", "B": "y", "answer": "A"}
        for n in range(40)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    wait_for_the_end_of(pids(tmp_path))


def log_of(folder: Path, kind: str = "vllm") -> str:
    path = folder / "runs" / "served" / f"{kind}-tiny.log"
    return path.read_text() if path.exists() else ""


def pids(folder: Path) -> list[int]:
    """The processes of all servers so far, and of their children."""
    logs = "".join(path.read_text() for path in folder.glob("runs/served/*.log"))
    return [int(pid) for pair in re.findall(r"^pids (\d+) (\d+) ", logs, re.M) for pid in pair]


def wait_for_the_end_of(processes: list[int]) -> None:
    for _ in range(200):
        if not any(map(is_there, processes)):
            return
        time.sleep(0.02)
    pytest.fail("a server, or its child, lives on")


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def manifest(run: Path) -> Any:
    return json.loads((run / "manifest.json").read_text())


@pytest.mark.parametrize("kind", ["vllm", "sglang", "transformers"])
def test_a_server_is_started_asked_and_stopped(snellen: Snellen, here: Path, kind: str) -> None:
    done = snellen(*RUN, kind, "--serve-arg=--dtype=float32", "--json")

    assert done.json["replies"] == {"ok": 40}
    name = "--model-path tiny" if kind == "sglang" else "tiny"
    log = log_of(here, kind)
    assert re.search(rf" serve {name} --host 127.0.0.1 --port \d+ --dtype=float32 $", log, re.M)
    wait_for_the_end_of(pids(here))


def test_a_run_with_nothing_left_to_ask_starts_no_server(snellen: Snellen, here: Path) -> None:
    first = snellen(*VLLM)
    again = snellen(*VLLM)

    assert again.json == first.json
    assert len(pids(here)) == 2, "one server with its child"


def test_where_its_log_is_is_said(snellen: Snellen) -> None:
    done = snellen(*VLLM)

    assert "a server is started for this model. Its log is runs/served/vllm-tiny.log" in done.err


def test_the_manifest_says_what_is_served(snellen: Snellen, here: Path) -> None:
    packages = here / "lib" / "python3.11" / "site-packages" / "vllm-0.99.dist-info"
    packages.mkdir(parents=True)
    (packages / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.99\n")

    stored = manifest(Path(snellen(*VLLM).json["run"]))

    (session,) = stored["sessions"]
    assert session["served"]["version"] == "0.99"
    assert session["served"]["command"][:3] == ["vllm", "serve", "tiny"]
    assert stored["identity"]["profile"] == {"serve": {"kind": "vllm", "args": []}}


def test_other_arguments_make_another_run(snellen: Snellen) -> None:
    first = snellen(*VLLM).json
    other = snellen(*VLLM, "--serve-arg=--dtype=float16")

    assert other.json["run"] != first["run"]
    assert "differs" in other.err


async def test_a_folder_of_other_weights_is_another_revision(here: Path) -> None:
    revisions = set()
    (here / "tiny").mkdir()
    for weights in (b"one", b"two", b"two"):
        (here / "tiny" / "model.safetensors").write_bytes(weights)
        opened = registry.model("openai/tiny", Profile(serve=Serve(kind="vllm")))
        await close_model(opened.model)
        revisions.add(opened.revision)

    assert len(revisions - {None}) == 2


def test_a_server_gets_no_keys(
    snellen: Snellen, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VLLM_API_KEY", "JUDGES_KEY", "WORK_TOKEN", "MY_SECRET"):
        monkeypatch.setenv(name, "sk-0123456789")
    snellen(*VLLM)

    assert pids(here)
    assert "key seen" not in log_of(here)


def test_a_server_that_ends_before_it_is_ready_is_told_of_with_its_words(
    snellen: Snellen,
) -> None:
    done = snellen(*VLLM, "--serve-arg=--broken")

    assert done.code == 2
    assert "the server of tiny (vllm) ended with code 1" in done.err
    assert "unrecognized arguments: --broken" in done.err


async def test_a_server_that_is_never_ready_is_ended(here: Path) -> None:
    serve = Serve(kind="vllm", args=["--slow"])
    environment = {"PATH": os.environ["PATH"]}
    server = ModelServer("tiny", serve, logs=here / "runs", environment=environment, patience=0.7)
    try:
        with pytest.raises(UsageError, match=r"not ready within 0.7 s.*vllm-tiny.log"):
            await server.ready()
        assert pids(here)
    finally:
        await server.stop()
    wait_for_the_end_of(pids(here))


async def test_nobody_else_gets_its_port_while_it_starts(here: Path) -> None:
    server = late(here)
    port = urlsplit(server.url).port
    starting = asyncio.create_task(server.ready())
    try:
        while not starting.done():
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))
            await asyncio.sleep(0.01)
        await starting
    finally:
        await server.stop()


async def test_a_server_whose_watch_was_killed_ends_all_the_same(here: Path) -> None:
    server = late(here)
    await server.ready()
    (pid, child) = pids(here)
    os.kill(int(Path(f"/proc/{pid}/stat").read_text().split()[3]), signal.SIGKILL)
    assert is_there(pid) and is_there(child)
    await server.stop()
    wait_for_the_end_of([pid, child])


async def test_a_log_that_cannot_be_written_is_said(here: Path) -> None:
    (here / "runs").mkdir()
    (here / "runs" / "served").touch()
    server = late(here)
    with pytest.raises(UsageError, match=r"its log .*vllm-tiny.log cannot be written: File exists"):
        await server.ready()
    await server.stop()


def late(here: Path) -> ModelServer:
    """A server that takes half a second until it listens."""
    serve = Serve(kind="vllm", args=["--late"])
    environment = {"PATH": os.environ["PATH"]}
    return ModelServer("tiny", serve, logs=here / "runs", environment=environment, patience=10)


def test_a_server_killed_in_mid_run_fails_its_questions_alone_and_the_next_run_completes(
    snellen: Snellen, here: Path
) -> None:
    dies = (*VLLM, f"--serve-arg=--dies-once={here / 'died'}", "--concurrency=2")

    first = snellen(*dies)

    assert first.code == 1
    counts = first.json["replies"]
    assert counts["ok"] >= 2
    assert counts["failed"] <= 4, "what was on its way, and what tells that no more will come"
    assert "the server of tiny (vllm) ended with code -9" in first.err
    assert "out of memory" in first.err
    wait_for_the_end_of(pids(here))

    second = snellen(*dies)

    assert (second.code, second.json["replies"]) == (0, {"ok": 40})
    assert second.json["run"] == first.json["run"]


def started(*args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "snellen", *args]
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def wait_for_a_server(folder: Path) -> list[int]:
    for _ in range(500):
        if numbers := pids(folder):
            return numbers
        time.sleep(0.02)
    pytest.fail("no server was started")


def test_ctrl_c_stops_the_server_and_keeps_what_came(here: Path) -> None:
    run = started(*VLLM, "--serve-arg=--naps", "--concurrency=1")
    server = wait_for_a_server(here)
    while not any(path.stat().st_size for path in here.glob("runs/mine/*/*/replies*")):
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=20)

    assert run.returncode == 130
    wait_for_the_end_of(server)
    kept = [*Run(Path(json.loads(out)["run"])).replies()]
    assert 1 <= len(kept) < 40


def test_a_run_that_is_killed_takes_its_server_with_it(here: Path) -> None:
    run = started(*VLLM, "--serve-arg=--slow")
    server = wait_for_a_server(here)
    assert all(map(is_there, server))
    run.kill()
    run.communicate(timeout=20)

    wait_for_the_end_of(server)


def test_a_profile_says_what_is_served(snellen: Snellen, here: Path) -> None:
    profile = here / "tiny.toml"
    profile.write_text('[serve]\nkind = "vllm"\nargs = ["--dtype", "float32"]\n')
    done = snellen("run", "-b", "mine.jsonl", "-m", "openai/tiny", "--profile", profile, "--json")

    assert done.json["replies"] == {"ok": 40}
    assert "--dtype float32" in log_of(here)


def test_a_plan_says_what_is_served(snellen: Snellen, here: Path) -> None:
    plan = here / "plan.toml"
    plan.write_text(
        'benchmarks = ["mine.jsonl"]\nmodels = ["openai/tiny"]\n'
        'serve = "vllm"\nserve_arg = ["--dtype=float32"]\n'
    )
    done = snellen("run", plan, "--trust-remote-code", "--json")

    assert done.json["replies"] == {"ok": 40}
    assert "--dtype=float32 --trust-remote-code" in log_of(here)


def test_a_program_that_is_not_there_is_asked_for(
    snellen: Snellen, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "bin" / "sglang").unlink()
    done = snellen(*RUN, "sglang")

    assert done.code == 2
    assert "the program sglang is neither in PATH" in done.err
    assert "Install sglang" in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-m", "openai/tiny", "--serve-arg=--x"], "Add --serve"),
        (["-m", "openai/tiny", "--serve=vllm", "--serve-arg=--port=8000"], "Leave it out"),
        (
            ["-m", "openai/tiny", "--serve=vllm", "--serve-arg=--api-key=sk-12345678"],
            "contain a key",
        ),
        (["-m", "openai/tiny", "--serve=vllm", "--base-url=http://x/v1"], "its own address"),
        (["-m", "baseline/first", "--serve=vllm"], "openai/NAME"),
        (["-m", "openai/tiny", "--serve=ollama"], "'vllm', 'sglang', 'transformers'"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_starts(
    snellen: Snellen, here: Path, args: list[str], message: str
) -> None:
    done = snellen("run", "-b", "mine.jsonl", *args)

    assert done.code == 2
    assert message in done.err
    assert "sk-1234" not in done.err
    assert not pids(here)
