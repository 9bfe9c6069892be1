"""`--serve transformers` through the command line: a real server of a tiny model, started, asked,
killed and stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.test_models.test_serve import wait_for_the_end_of

pytestmark = pytest.mark.heavy
N = 40


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("model") / "tiny-llava"
    script = Path(__file__).with_name("tiny_llava.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, env=quiet())
    return folder


def quiet() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


class Ran:
    """A run of eyechart by a served model, as a shell starts it."""

    def __init__(self, model: Path, out: Path) -> None:
        self.model = model
        self.out = out
        self.command = [sys.executable, "-m", "snellen", "run", "-m", f"openai/{model}"]
        self.command += ["-b", "eyechart", "--limit", str(N), "--out", str(out), "--json"]
        self.command += ["--serve", "transformers", "--concurrency", "2", "--max-tokens", "8"]
        self.command += [f"--serve-arg={word}" for word in ("--device=cpu", "--dtype=float32")]
        self.start()

    def start(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command, stdout=pipe, stderr=pipe, text=True, env=quiet()
        )

    def ended(self) -> tuple[int, dict[str, int], str]:
        """Its exit code, how many replies there are of each state, and what it said meanwhile."""
        out, err = self.process.communicate(timeout=100)
        assert out, err
        return self.process.returncode, json.loads(out)["replies"], err

    def wait_for_replies(self) -> None:
        for _ in range(2000):
            if any(path.stat().st_size for path in self.out.glob("eyechart/*/*/replies*")):
                return
            time.sleep(0.03)
        pytest.fail("no reply came")

    def server(self) -> int:
        """The server's process; the other with its words is the one that watches it."""
        for position in Path("/proc").glob("[0-9]*/cmdline"):
            words = position.read_bytes().split(b"\0")
            if str(self.model).encode() in words and not any(b"_watch" in w for w in words):
                return int(position.parent.name)
        pytest.fail("there is no server")

    def port(self) -> int:
        (manifest,) = self.out.glob("eyechart/*/*/manifest.json")
        server = json.loads(manifest.read_text())["sessions"][-1]["server"]
        return int(re.findall(r":(\d+)/", server)[0])


def is_closed(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_server_killed_in_mid_run_fails_questions_alone_and_the_next_one_completes_the_run(
    model: Path, tmp_path: Path
) -> None:
    run = Ran(model, tmp_path)
    run.wait_for_replies()
    os.kill(run.server(), signal.SIGKILL)
    code, replies, err = run.ended()

    assert code == 1
    assert 1 <= replies["failed"] <= 4
    assert sum(replies.values()) < N, "the rest is left for another time"
    assert "(transformers) ended with code -9" in err

    run.start()
    code, replies, err = run.ended()
    assert (code, sum(replies.values()), replies.get("failed")) == (0, N, None), err
    assert is_closed(run.port())


def test_ctrl_c_stops_the_server_too(model: Path, tmp_path: Path) -> None:
    run = Ran(model, tmp_path)
    run.wait_for_replies()
    server = run.server()
    run.process.send_signal(signal.SIGINT)
    code, replies, _ = run.ended()

    assert code == 130
    assert 1 <= sum(replies.values()) < N
    wait_for_the_end_of([server])
    assert is_closed(run.port())
