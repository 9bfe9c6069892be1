"""Comparisons in a process of their own: what exceeds a limit or fails decides nothing."""

import signal
from collections.abc import Iterator

import pytest

from snellen.benchmarks.families.worker_process import Uncompared, WorkerProcess
from snellen.errors import UsageError, install


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    worker = WorkerProcess("tests.test_benchmarks.failing_worker", "Answers need a library")
    yield worker
    worker.close()


@pytest.mark.parametrize("fault", ["memory", "end"])
def test_a_comparison_that_fails_decides_nothing_and_the_next_has_its_answer(
    worker: WorkerProcess, fault: str
) -> None:
    with pytest.raises(Uncompared):
        worker.same(answer=True, fault=fault)
    assert worker.same(answer=True)


def test_a_comparison_that_takes_too_long_decides_nothing(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.benchmarks.families.worker_process.LIMIT_S", 0.1)
    with pytest.raises(Uncompared):
        worker.same(answer=True, seconds=60)


@pytest.mark.parametrize("start_s", ["0.5", "0"])
def test_the_answer_of_an_interrupted_comparison_is_not_that_of_the_next(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch, start_s: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("START_S", start_s)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.same(answer=False, seconds=0.5)
    finally:
        signal.signal(signal.SIGALRM, before)
    monkeypatch.setenv("START_S", "0")
    assert worker.same(answer=True)


def test_what_a_library_prints_is_no_answer(worker: WorkerProcess) -> None:
    assert worker.same(answer=True, fault="print")


def test_a_missing_library_is_a_message_with_the_command_that_installs_it(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WITHOUT_LIBRARY", "1")
    with pytest.raises(UsageError) as error:
        worker.same(answer=True)
    assert str(error.value) == (
        "Answers need a library, which cannot be used: No module named 'library'. Run "
        f"`{install('latex')}`."
    )
