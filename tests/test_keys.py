"""No key reaches a file, a log or a message, from the command or from Python."""

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import snellen
from snellen.errors import SnellenError
from tests.servers import Answer, Asked, said, serving, status

KEY = "sk-a-very-secret-key-0123456789"
PASSWORD = "hunter2hunter2"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    lines = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(8)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def echoing(asked: Asked) -> Answer:
    """Every second question fails, with what was sent in the words."""
    sent = asked.headers.get("authorization", "")
    if asked.number % 2:
        return status(400, f"Incorrect API key provided: {sent}, at {asked.path}")
    return said(f"A. You sent me {sent}")


def everything_under(folder: Path) -> bytes:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"\n".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("form", ["--base-url {url}", "--base-url={url}"])
def test_a_run_from_the_command_keeps_its_key_to_itself(
    rows: Path, tmp_path: Path, form: str
) -> None:
    with serving(echoing) as server:
        url = server.url + f"?api_key={PASSWORD}"
        command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
        command += form.format(url=url).split(" ")
        command += ["--api-key-env", "MY_KEY", "--out", str(tmp_path / "runs")]
        out = subprocess.run(command, capture_output=True, env={**os.environ, "MY_KEY": KEY})

        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert out.returncode == 1, out.stderr.decode()
    written = everything_under(tmp_path / "runs") + out.stdout + out.stderr
    assert KEY.encode() not in written
    assert PASSWORD.encode() not in written
    assert b"Incorrect API key provided" in written


def test_a_run_from_python_keeps_its_key_to_itself(
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(echoing) as server:
        result = snellen.evaluate(
            str(rows),
            "openai/m",
            base_url=server.url,
            api_key_env="MY_KEY",
            out=tmp_path / "runs",
        )
    print(result, result.json())
    shown = capsys.readouterr()
    assert KEY.encode() not in everything_under(tmp_path / "runs")
    assert KEY not in shown.out + shown.err


def test_an_error_and_its_whole_traceback_keep_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with (
        serving(lambda asked: status(401, f"wrong key {asked.headers['authorization']}")) as server,
        pytest.raises(SnellenError) as caught,
    ):
        snellen.ask("openai/m", "Hello?", base_url=server.url, api_key_env="MY_KEY")

    told = traceback.TracebackException.from_exception(caught.value, capture_locals=False)
    assert KEY not in "".join(told.format())
    assert "wrong key" in str(caught.value)
