"""Data sets of an installed VLMEvalKit, through the command line and a server that fails."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Answer, ReceivedRequest, completion, hangs, serving, status
from tests.test_cli.conftest import Snellen
from tests.vlmevalkit_standin import importable

FLAG = "--run-toolkit-code"
UNPROVEN = "scored by VLMEvalKit's own code, unproven"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with importable(tmp_path, monkeypatch) as folder:
        yield folder


def ask(url: str, name: str = "MMStar", *more: str) -> tuple[str, ...]:
    return (
        *("run", "-m", "openai/mock", "--base-url", url, "-b", f"vlmevalkit:{name}"),
        *("--json", *more),
    )


def primary(document: dict[str, object]) -> object:
    scorings: object = document["scorings"]
    return scorings["evaluate"]["metrics"]["primary"]["value"]  # type: ignore[index]


def sent(request: ReceivedRequest) -> str:
    return json.dumps(request.json["messages"])


def test_nothing_is_asked_without_the_flag(snellen: Snellen, site: Path) -> None:
    with serving(completion("A")) as server:
        done = snellen(*ask(server.url))
    assert (done.code, server.requests) == (2, [])
    assert "If you trust this code, pass --run-toolkit-code." in done.err


def test_a_run_is_marked_as_unproven_everywhere(
    snellen: Snellen, site: Path, tmp_path: Path
) -> None:
    with serving(completion("A")) as server:
        done = snellen(*ask(server.url, "MMStar", FLAG))
    run = Path(done.json["run"])
    page = snellen("report", run, "-o", tmp_path / "page.html")

    assert (done.code, primary(done.json), page.code) == (0, 50.0, 0)
    assert "Downloading MMStar" in done.err
    assert UNPROVEN in done.json["notes"]
    assert UNPROVEN in (run / "report.md").read_text()
    assert UNPROVEN.replace("'", "&#39;") in (tmp_path / "page.html").read_text()


def test_a_run_is_scored_and_compared_again_with_the_flag(snellen: Snellen, site: Path) -> None:
    with serving(completion("A")) as server:
        first = snellen(*ask(server.url, "MMStar", FLAG)).json["run"]
        second = snellen(*ask(server.url, "MMStar", FLAG, "--temperature", "1")).json["run"]
    again = snellen("score", first, "--json")
    allowed = snellen("score", first, "--json", FLAG)
    compared = snellen("compare", first, second, "--json", FLAG)

    assert (again.code, "pass --run-toolkit-code" in again.err) == (2, True)
    assert primary(allowed.json) == 50.0
    assert compared.code == 0
    (comparison,) = compared.json["comparisons"]
    assert comparison["metrics"]["primary"]["difference"]["value"] == 0.0
    assert any(UNPROVEN in note for note in compared.json["notes"])


def test_an_error_of_the_server_is_retried(snellen: Snellen, site: Path) -> None:
    with serving(lambda request: completion("A") if request.number else status(500)) as server:
        done = snellen(*ask(server.url, "MMStar", FLAG))
    rows = json.loads((site / "sheet.json").read_text())[1]

    assert (len(server.requests), done.json["replies"]) == (5, {"ok": 4})
    assert [row["prediction"] for row in rows] == ["A"] * 4


def test_a_request_that_fails_is_no_score_and_is_asked_again(snellen: Snellen, site: Path) -> None:
    def failing(request: ReceivedRequest) -> Answer:
        return status(400) if "Which 1" in sent(request) else completion("A")

    with serving(failing) as server:
        done = snellen(*ask(server.url, "MMStar", FLAG))
    assert (done.json["replies"], primary(done.json)) == ({"ok": 3, "failed": 1}, None)
    assert not (site / "sheet.json").exists()
    wrong = snellen("score", done.json["run"], "--missing", "wrong", "--json", FLAG).json
    rows = json.loads((site / "sheet.json").read_text())[1]
    assert [row["prediction"] for row in rows] == ["A", "", "A", "A"]
    assert primary(wrong) == 50.0

    with serving(completion("B")) as server:
        done = snellen(*ask(server.url, "MMStar", FLAG))
    assert ["Which 1" in sent(request) for request in server.requests] == [True]
    assert (done.json["replies"], primary(done.json)) == ({"ok": 4}, 75.0)


def test_a_conversation_that_fails_resumes_at_its_turn(snellen: Snellen, site: Path) -> None:
    def failing(request: ReceivedRequest) -> Answer:
        return status(400) if "And 1?" in sent(request) else completion("a")

    with serving(failing) as server:
        done = snellen(*ask(server.url, "MMDU", FLAG))
    assert primary(done.json) is None

    with serving(completion("b")) as server:
        done = snellen(*ask(server.url, "MMDU", FLAG))
    (request,) = server.requests
    assert [message["role"] for message in request.json["messages"]] == [
        *("user", "assistant", "user")
    ]
    assert primary(done.json) == pytest.approx(400 / 6)


def test_a_run_that_is_killed_asks_each_question_once(snellen: Snellen, site: Path) -> None:
    def hanging(request: ReceivedRequest) -> Answer:
        return hangs() if "Which 2" in sent(request) else completion("A")

    command = [sys.executable, "-m", "snellen"]
    path = os.pathsep.join([str(site), *sys.path])
    with (
        serving(hanging) as server,
        subprocess.Popen(
            [*command, *ask(server.url, "MMStar", FLAG, "--concurrency", "1")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        ) as process,
    ):
        deadline = time.monotonic() + 60
        while len(server.requests) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    with serving(completion("A")) as server:
        done = snellen(*ask(server.url, "MMStar", FLAG))

    numbers = sorted(sent(request).partition("Which ")[2][0] for request in server.requests)
    assert numbers == ["2", "3"]
    assert (done.json["replies"], primary(done.json)) == ({"ok": 4}, 50.0)
