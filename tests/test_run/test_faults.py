"""Real servers that fail in every way: what is failed is counted, never scored, and asked again
next time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import snellen
from snellen.api import Finished, Plan, run_plan
from snellen.core.profile import Profile, Timeouts
from snellen.registry import benchmark
from snellen.store import ReplyRecord, Run
from tests.servers import (
    Answer,
    ReceivedRequest,
    Server,
    closes,
    completion,
    drips,
    hangs,
    page,
    refusing,
    resets,
    serving,
    status,
)

N = 12
BAD = ("q3", "q8")
QUICK = {"backoff": 0.01, "longest_wait": 0.02, "attempts": 4}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", N)


def write_rows(path: Path, n: int) -> Path:
    lines = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def question(request: ReceivedRequest) -> str:
    text = request.json["messages"][-1]["content"]
    return str(text).partition("[")[2].partition("]")[0]


def ask(rows: Path, url: str, out: Path, **fields: object) -> Finished:
    profile = Profile(base_url=url, timeout=Timeouts(connect=2.0, first=1.0, total=1.5))
    options: dict[str, object] = {"concurrency": 4, "retry": QUICK, **fields}
    plan = Plan(
        benchmarks=[benchmark(str(rows))],
        models=["openai/m"],
        profile=profile,
        out=out,
        **options,  # type: ignore[arg-type]
    )
    return run_plan(plan)[0]


def states(finished: Finished) -> dict[str, int]:
    assert finished.result is not None
    return finished.result.report.replies


def bad(answer: Answer, times: int | None = None) -> "Faulty":
    return Faulty(answer, times)


class Faulty:
    """Answers the bad questions wrongly, always or the first `times` times, and all others with
    A."""

    def __init__(self, answer: Answer, times: int | None) -> None:
        self._answer = answer
        self._times = times
        self.seen: Counter[str] = Counter()

    def __call__(self, request: ReceivedRequest) -> Answer:
        name = question(request)
        self.seen[name] += 1
        if name in BAD and (self._times is None or self.seen[name] <= self._times):
            return self._answer
        return completion("A")


FINALLY_FAILING = {
    "500 always": (status(500), 4),
    "503 always": (status(503), 4),
    "an HTML page": (page(), 4),
    "JSON without choices": (Answer(body=b'{"object": "list"}'), 4),
    "not JSON": (Answer(body=b'{"choices": [{"mess'), 4),
    "not UTF-8": (Answer(body=b'{"choices": "\xff\xfe"}'), 4),
    "a closed connection": (closes(), 4),
    "a reset in mid-body": (resets(completion("A")), 4),
    "no answer": (hangs(), 4),
    "a slow drip": (drips(completion("A"), 0.05), 4),
    "400": (status(400, "too long"), 1),
    "413": (status(413, "too large"), 1),
    "422": (status(422, "no such field"), 1),
}


@pytest.mark.parametrize("fault", FINALLY_FAILING)
def test_what_fails_is_counted_not_scored_and_asked_again_alone(
    fault: str, rows: Path, tmp_path: Path
) -> None:
    answer, attempts = FINALLY_FAILING[fault]
    faulty = bad(answer)
    with serving(faulty) as server:
        finished = ask(rows, server.url, tmp_path / "runs")

        assert states(finished) == {"ok": N - 2, "failed": 2}
        assert finished.result is not None
        assert finished.result.headline.value == 1.0
        assert finished.result.headline.n == N - 2
        assert finished.result.report.incomplete
        assert {name: faulty.seen[name] for name in BAD} == dict.fromkeys(BAD, attempts)
        assert all(faulty.seen[f"q{i}"] == 1 for i in range(N) if f"q{i}" not in BAD)

    with serving(lambda request: completion("B")) as healed:
        again = ask(rows, healed.url, tmp_path / "runs")

        assert Counter(map(question, healed.requests)) == Counter(BAD)
        assert states(again) == {"ok": N}
        assert again.result is not None
        assert again.result.headline.value == pytest.approx((N - 2) / N)


PASSING = {
    "500 three times": (status(500), 3),
    "429 once": (status(429), 1),
    "429 with Retry-After": (status(429, retry_after="0.2"), 2),
    "HTML once": (page(), 1),
    "a cut body once": (resets(completion("A")), 1),
    "a closed connection once": (closes(), 1),
    "no answer once": (hangs(), 1),
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_asked_again_in_the_same_run(fault: str, rows: Path, tmp_path: Path) -> None:
    answer, times = PASSING[fault]
    faulty = bad(answer, times)
    with serving(faulty) as server:
        finished = ask(rows, server.url, tmp_path / "runs")

    assert states(finished) == {"ok": N}
    assert {faulty.seen[name] for name in BAD} == {times + 1}


REPLIES = {
    "content null": (completion(None), "empty"),
    "content empty": (completion(""), "empty"),
    "cut at the limit": (completion("A", stop="length"), "truncated"),
    "a content filter": (completion("", stop="content_filter"), "refused"),
    "a filter's 400": (status(400, code="content_filter"), "refused"),
    "a refusal field": (completion(None, refusal="I will not"), "refused"),
    "five megabytes": (completion("A" + " very" * 1_000_000), "ok"),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_a_reply_that_is_no_answer_is_a_reply_and_is_not_asked_again(
    kind: str, rows: Path, tmp_path: Path
) -> None:
    answer, state = REPLIES[kind]
    faulty = bad(answer)
    with serving(faulty) as server:
        finished = ask(rows, server.url, tmp_path / "runs")
        ask(rows, server.url, tmp_path / "runs")

    expected = {"ok": N} if state == "ok" else {"ok": N - 2, state: 2}
    assert states(finished) == expected
    assert set(faulty.seen.values()) == {1}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (401, "Pass the name of the environment variable that holds the key"),
        (404, "Does the server have a model"),
    ],
)
def test_a_wrong_key_or_model_ends_the_run_and_says_what_to_do(
    number: int, words: str, rows: Path, tmp_path: Path
) -> None:
    with serving(status(number, "no")) as server:
        finished = ask(rows, server.url, tmp_path / "runs", concurrency=1)

        assert len(server.requests) == 3
    assert finished.stopped is not None and words in finished.stopped
    assert states(finished) == {"failed": 3}
    assert finished.result is not None
    assert finished.result.headline.value is None


def test_a_server_that_is_not_there_ends_the_run_and_loses_nothing(
    rows: Path, tmp_path: Path
) -> None:
    with refusing() as url:
        finished = ask(rows, url, tmp_path / "runs", retry={**QUICK, "give_up": 5})
    assert finished.stopped is not None and "in a row got no reply" in finished.stopped

    with serving(completion("A")) as server:
        again = ask(rows, server.url, tmp_path / "runs")
        assert len(server.requests) == N
    assert states(again) == {"ok": N}


def test_bad_questions_whose_retries_come_last_do_not_end_the_run(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 120)
    bad_questions = {f"q{i}" for i in range(0, 120, 10)}

    def answer(request: ReceivedRequest) -> Answer:
        return status(500) if question(request) in bad_questions else completion("A")

    # The wait is long enough that all other questions have replies before the first retry.
    retry = {"backoff": 2.0, "longest_wait": 2.0, "attempts": 2, "give_up": 5}
    with serving(answer) as server:
        finished = ask(rows, server.url, tmp_path / "runs", concurrency=2, retry=retry)

        tries = Counter(map(question, server.requests))
    assert finished.stopped is None
    assert states(finished) == {"ok": 108, "failed": 12}
    assert {tries[name] for name in bad_questions} == {2}


def test_a_server_that_dies_during_a_run_ends_the_run(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 400)
    received = 0

    def dies(request: ReceivedRequest) -> Answer:
        nonlocal received
        received += 1
        return completion("A") if received <= 20 else status(500)

    with serving(dies) as server:
        finished = ask(rows, server.url, tmp_path / "runs", retry={**QUICK, "give_up": 5})

    assert finished.stopped is not None and "in a row got no reply" in finished.stopped
    assert states(finished)["failed"] < 100


def test_every_server_fault_leaves_its_words_in_the_journal(rows: Path, tmp_path: Path) -> None:
    with serving(bad(status(500, "the disk is on fire"))) as server:
        finished = ask(rows, server.url, tmp_path / "runs")

    errors = [
        record.error.message
        for record in Run(finished.run).replies()
        if isinstance(record, ReplyRecord) and record.error
    ]
    assert len(errors) == 8
    assert all("500" in error and "the disk is on fire" in error for error in errors)


# -- killed


def start(rows: Path, url: str, out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
    command += ["--base-url", url, "--concurrency", "8", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@contextmanager
def slow_server() -> Iterator[Server]:
    with serving(completion("A"), latency=0.05) as server:
        yield server


def test_a_run_killed_again_and_again_asks_only_what_was_in_flight(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 400)
    kills = 0
    with slow_server() as server:
        for wait in (0.05, 0.3, 0.6, 0.1):
            before = len(server.requests)
            process = start(rows, server.url, tmp_path / "runs")
            while len(server.requests) == before and process.poll() is None:
                time.sleep(0.005)
            time.sleep(wait)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.communicate()
        process = start(rows, server.url, tmp_path / "runs")
        _, words = process.communicate()
        assert process.returncode == 0, words.decode()
        total = len(server.requests)
    assert kills
    assert total <= 400 + 8 * kills
    [folder] = (tmp_path / "runs").glob("*/*/*")
    finals = Counter(
        record.key for record in Run(folder).replies() if isinstance(record, ReplyRecord)
    )
    assert len(finals) == 400
    assert set(finals.values()) == {1}


def test_a_journal_cut_anywhere_in_its_last_line_is_mended_by_the_next_run(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 20)
    with serving(completion("A")) as server:
        once = partial(
            snellen.evaluate, str(rows), "openai/m", base_url=server.url, out=tmp_path / "runs"
        )
        once()
        [journal] = (tmp_path / "runs").glob("*/*/*/replies.jsonl")
        content = journal.read_bytes()
        last = content.rindex(b"\n", 0, -1) + 1
        cuts = range(last, len(content), max(1, (len(content) - last) // 10))
        for cut in list(cuts)[:10]:
            journal.write_bytes(content[:cut])
            before = len(server.requests)
            assert once().failed == 0
            assert len(server.requests) == before + 1
            assert len(journal.read_bytes().splitlines()) == 20


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 400)
    with slow_server() as server:
        process = start(rows, server.url, tmp_path / "runs")
        while len(server.requests) < 40 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=30)

        assert process.returncode == 130
        assert "same command" in words.decode()
        assert "Traceback" not in words.decode()
        process = start(rows, server.url, tmp_path / "runs")
        process.communicate()
        assert process.returncode == 0
        assert len(server.requests) == 400, "what was in flight at Ctrl-C came in"


def test_a_second_run_of_the_same_kind_is_kept_out(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 100)
    with serving(completion("A"), latency=0.2) as server:
        first = start(rows, server.url, tmp_path / "runs")
        while not server.requests and first.poll() is None:
            time.sleep(0.005)
        second = start(rows, server.url, tmp_path / "runs")
        _, words = second.communicate()
        first.communicate()

        assert second.returncode == 2
        assert "is writing this run" in words.decode()
        assert first.returncode == 0
        assert len(server.requests) == 100
