"""A supervisor of drivers on other machines, whose processes are stand-ins that report at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from snellen.errors import SnellenError
from snellen.run.driver_host import DriverHost
from snellen.run.driver_processes import Ending, StartProcess, TakeLine
from snellen.run.driver_reports import DriverReport
from snellen.run.outcome import Outcome
from snellen.run.progress import Progress
from snellen.run.supervisor import Supervisor
from snellen.store import RunPart, sharing_lock

AHEAD = 5000.0
"""How far the clock of the other machines is ahead, in seconds."""
RUN = "mine/openai__m/1234"


class Elsewhere:
    """A process on another machine that has ended."""

    def __init__(self, node: str, ending: Ending) -> None:
        self.node = node
        self._ending = ending

    def ending(self) -> Ending:
        return self._ending

    def send(self, message: bytes) -> None:
        pass

    def kill(self) -> None:
        pass


def outcome(run: str = RUN) -> DriverReport:
    """The report of a driver that started its run ten seconds ago and has just ended it."""
    now = time.monotonic() + AHEAD
    progress = Progress(name="mine × openai/m", total=3, done=3, started=now - 10, finished=now)
    return DriverReport(outcomes=[Outcome(run=run, progress=progress)], clock=now)


def reporting(*reports: DriverReport | Ending) -> StartProcess:
    """Starts processes of which each makes one report. An ending is that of a lost process."""
    left: Iterator[DriverReport | Ending] = iter(reports)
    nodes = iter(f"node{number}" for number in range(1, 9))

    def start(words: Sequence[str], report: TakeLine, say: TakeLine) -> Elsewhere:
        item = next(left)
        if isinstance(item, Ending):
            return Elsewhere(next(nodes), item)
        report(msgspec.json.encode(item))
        return Elsewhere(next(nodes), Ending(code=0))

    return start


def supervised(start: StartProcess, *, restarts: bool = True) -> list[Outcome]:
    def words_of(part: RunPart) -> Sequence[str]:
        return ["run", "--part", str(part)]

    return Supervisor(2, words_of, None, None, restarts=restarts, start=start).run()


def test_times_of_drivers_are_converted_to_the_clock_of_this_machine() -> None:
    [run] = supervised(reporting(outcome(), outcome()))
    assert run.progress.done == 6 and run.run == RUN
    assert run.progress.finished is not None
    assert run.progress.finished == pytest.approx(time.monotonic(), abs=60)
    assert run.progress.finished - run.progress.started == pytest.approx(10, abs=1)


def test_drivers_that_wrote_different_runs_are_not_merged() -> None:
    with pytest.raises(SnellenError) as caught:
        supervised(reporting(outcome(), outcome("mine/openai__m/5678")))
    assert str(caught.value) == (
        "driver 2 of 2 on node2 wrote the run mine/openai__m/5678, but driver 1 of 2 on node1 "
        f"wrote {RUN}: the data, or the files of the benchmark, differ between these machines. "
        "Give all of them the same files, and repeat the command."
    )


def test_a_lost_driver_is_started_again_once(capfd: pytest.CaptureFixture[str]) -> None:
    lost = Ending(lost="was lost: its node died")
    [run] = supervised(reporting(lost, outcome(), outcome()))
    assert run.stopped is None
    assert "driver 1 of 2 on node1 was lost: its node died, and is started again" in (
        capfd.readouterr().err
    )
    [run] = supervised(reporting(lost, outcome(), lost))
    assert run.stopped == "driver 1 of 2 on node3 was lost: its node died"


def test_an_error_names_the_machine_of_the_driver() -> None:
    report = DriverReport(error="the environment variable KEY is not set.")
    with pytest.raises(SnellenError) as caught:
        supervised(reporting(report, outcome()))
    assert str(caught.value) == "driver 1 of 2 on node1: the environment variable KEY is not set."


def test_a_host_checks_the_folders_of_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    host = DriverHost()
    with sharing_lock(tmp_path / "runs") as path:
        assert host.prepare(str(tmp_path), path) is None
    assert host.prepare(str(tmp_path), None) is None
    assert "is not the same folder there" in (host.prepare(str(tmp_path), path) or "")
    assert f"the folder {tmp_path / 'absent'}, in which the command was started" in (
        host.prepare(str(tmp_path / "absent"), None) or ""
    )


def test_a_host_passes_on_what_its_driver_writes_and_how_it_ended() -> None:
    host = DriverHost()
    host.start(["run", "-b", "eyechart", "-m", "openai/m", "--base-url", "nonsense"])
    outputs = host.read()
    while not isinstance(outputs[-1], Ending):
        outputs += host.read()
    assert outputs.pop() == Ending(code=2)
    lines = [output for output in outputs if not isinstance(output, Ending)]
    assert any(kind == "report" and b"nonsense" in line for kind, line in lines)
