"""Why a run ends before its last question, how soon, and what it keeps."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import get_ident

import pytest

from snellen.api import Plan, evaluate, load_run, run_plan
from snellen.api import ask as ask_once
from snellen.core.benchmark import vary
from snellen.core.model import Reply, Request, Usage
from snellen.core.profile import Prices, Profile
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Line, Reading, ReplyTable, Resolution
from snellen.errors import DataError, Overloaded, Rejected, StoreError, UsageError
from snellen.registry import Opened
from snellen.run import Progress, attempts, observer, scheduler, selection
from snellen.store import ReplyRecord, Run
from tests.tiny import Says, benchmark, records, run, states


class Waits:
    """Answers the first request at once and the others after `seconds`."""

    name = "waits"

    def __init__(self, seconds: float, *, interrupt_after: float | None = None) -> None:
        self.seconds = seconds
        self.calls = 0
        self.interrupt_after = interrupt_after

    async def generate(self, request: Request) -> Reply:
        self.calls += 1
        if self.calls == 1:
            if self.interrupt_after is not None:
                loop = asyncio.get_running_loop()
                loop.call_later(self.interrupt_after, os.kill, os.getpid(), signal.SIGINT)
            return Reply(text="yes", stop="stop")
        await asyncio.sleep(self.seconds)
        return Reply(text="yes", stop="stop")


def test_what_a_spent_budget_has_paid_for_is_waited_for_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "GRACE", 0.05)

    finished = run(tmp_path, Waits(0.5), benchmark(8), max_requests=4)

    assert states(finished) == {"ok": 4}


def test_an_interrupt_is_heeded_while_a_spent_budget_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "GRACE", 0.05)
    started = time.monotonic()

    finished = run(tmp_path, Waits(30, interrupt_after=0.2), benchmark(8), max_requests=4)

    assert time.monotonic() - started < 15
    assert states(finished) == {"ok": 1}
    assert finished.interrupted


def test_an_interrupt_after_a_runs_last_reply_stops_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "GRACE", 0.05)
    interrupts = iter([signal.SIGINT])

    def interrupt_when_first_has_ended(progress: Sequence[Progress]) -> None:
        if progress[0].finished is not None:
            for number in interrupts:
                os.kill(os.getpid(), number)

    models = [
        Opened(model=model, name=model.name, server=model.name, concurrency=4)
        for model in (Says(lambda request: "yes"), Waits(30))
    ]
    plan = Plan(benchmarks=[benchmark(4)], models=models, out=tmp_path)
    first, second = run_plan(plan, interrupt_when_first_has_ended)

    assert (first.stopped, first.interrupted) == (None, False)
    assert (second.stopped, second.interrupted) == ("interrupted", True)


def test_a_budget_holds_for_requests_that_are_sent_again(tmp_path: Path) -> None:
    def busy(request: Request) -> str:
        raise Overloaded("busy")

    model = Says(busy)
    run(tmp_path, model, benchmark(2), max_requests=3)

    assert len(model.requests) == 3


def test_the_time_budget_ends_a_run_in_the_middle_of_a_long_wait(tmp_path: Path) -> None:
    def busy(request: Request) -> str:
        raise Overloaded("busy", retry_after=30)

    started = time.monotonic()
    finished = run(tmp_path, Says(busy), benchmark(3), max_time=0.3)

    assert time.monotonic() - started < 15
    assert finished.stopped == "the time budget of 0.3 s is used up"
    assert finished.interrupted


def test_a_budget_of_money_needs_prices() -> None:
    plan = Plan(benchmarks=[benchmark()], models=["baseline/first"], max_cost=1.0)
    with pytest.raises(UsageError, match=r"the token prices of baseline/first. Set `prices`"):
        run_plan(plan)


@pytest.mark.parametrize(
    ("usage", "calls", "why"),
    [
        (Usage(input=1_000_000, output=0), 3, "the budget of 5 is used up (6 spent)"),
        (None, 1, "the server does not report the number of tokens of a reply"),
        (Usage(input=1_000_000), 1, "the server does not report the number of tokens of a reply"),
    ],
)
def test_a_budget_of_money_is_kept_or_the_run_stops(
    tmp_path: Path, usage: Usage | None, calls: int, why: str
) -> None:
    model = Says(lambda request: Reply(text="yes", stop="stop", usage=usage))
    profile = Profile(prices=Prices(input=2.0, output=8.0))

    finished = run(tmp_path, model, concurrency=1, max_cost=5.0, profile=profile)

    assert len(model.requests) == calls
    assert finished.stopped is not None and finished.stopped.startswith(why)


def test_a_wait_that_a_server_asks_for_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "LONGEST_RETRY_AFTER", 0.01)
    times = iter(range(100))

    def busy_once(request: Request) -> str:
        if next(times) == 0:
            raise Overloaded("busy", retry_after=1e9)
        return "yes"

    assert states(run(tmp_path, Says(busy_once), benchmark(2))) == {"ok": 2}


def test_a_question_that_is_turned_away_for_ever_fails(tmp_path: Path) -> None:
    def full(request: Request) -> str:
        raise Overloaded("429", throttled=True)

    model = Says(full)
    finished = run(tmp_path, model, benchmark(1))

    assert len(model.requests) == attempts.TURNED_AWAY + 1
    assert states(finished) == {"failed": 1}


def test_failures_with_replies_between_them_do_not_end_a_run(tmp_path: Path) -> None:
    def every_third(request: Request) -> str:
        if int(request.messages[0].text.split()[1]) % 3 == 0:
            return "yes"
        raise Overloaded("busy")

    retry = {"attempts": 1, "give_up": 3}
    finished = run(tmp_path, Says(every_third), benchmark(30), concurrency=1, retry=retry)

    assert finished.stopped is None
    assert states(finished) == {"ok": 10, "failed": 20}


def test_a_request_that_the_model_cancels_is_a_failure_and_not_lost(tmp_path: Path) -> None:
    class Cancels:
        name = "cancels"

        async def generate(self, request: Request) -> Reply:
            if "3" in request.messages[0].text:
                raise asyncio.CancelledError
            return Reply(text="yes", stop="stop")

    finished = run(tmp_path, Cancels(), benchmark(6))

    assert states(finished) == {"ok": 5, "failed": 1}


def test_a_disk_that_cannot_flush_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = os.fsync

    def broken(fd: int) -> None:
        if os.readlink(f"/proc/self/fd/{fd}").endswith("replies.jsonl"):
            raise OSError(5, "Input/output error")
        flush(fd)

    monkeypatch.setattr(scheduler, "GRACE", 0.05)
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StoreError, match="cannot be flushed to the disk"):
        run(tmp_path, Waits(5), benchmark(4))


def test_one_runs_crash_leaves_the_others_scored(tmp_path: Path) -> None:
    class Breaks:
        name = "breaks"

        async def generate(self, request: Request) -> Reply:
            raise ZeroDivisionError("a bug")

    good = Says(lambda request: "yes", "good")
    models = [Opened(model=m, name=m.name, server=m.name, concurrency=2) for m in (Breaks(), good)]
    with pytest.raises(ZeroDivisionError):
        run_plan(Plan(benchmarks=[benchmark()], models=models, out=tmp_path))

    assert len(list(tmp_path.glob("tiny/good/*/report.json"))) == 1


class Closes(Says):
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_a_model_that_the_caller_opened_stays_open(tmp_path: Path) -> None:
    model = Closes(lambda request: "yes")

    evaluate(benchmark(), model, out=tmp_path)
    ask_once(model, "?")

    assert model.closed == 0


LONG_BATCH = """
import time

class Long:
    name = "long"

    def generate_batch(self, requests):
        time.sleep(60)
        return ["A"] * len(requests)
"""


def test_a_second_ctrl_c_waits_for_no_thread(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG_BATCH)
    rows = '{"question": "?", "A": "x", "B": "y", "answer": "A"}\n'
    (tmp_path / "mine.jsonl").write_text(rows * 3)
    ask = [sys.executable, "-m", "snellen", "run", "-m", "python:long.py:Long", "-b", "mine.jsonl"]
    started = time.monotonic()
    with subprocess.Popen(ask, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert any("in flight" in text for text in running.stderr)
        running.send_signal(signal.SIGINT)
        assert any("Ctrl-C again" in text for text in running.stderr)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130

    assert time.monotonic() - started < 40


def test_ids_that_are_doubled_far_down_are_named_when_they_are_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from snellen.data import Drawn

    monkeypatch.setattr(selection, "CHECKED", 3)
    names = ["a", "b", "c", "d", "b"]
    rows = [
        {"id": name, "q": f"question {i}", "a": "yes", "kind": "x"} for i, name in enumerate(names)
    ]
    doubled = benchmark(data=Drawn("tiny", lambda: iter(rows)))
    model = Says(lambda request: "yes")

    with pytest.raises(DataError, match=r"row 5 of tiny has the id 'b' of an earlier row"):
        run(tmp_path, model, doubled, concurrency=1)
    with pytest.raises(DataError, match=r"row 5 of tiny"):
        run(tmp_path, model, doubled, concurrency=1)

    assert len(model.requests) == 4


def test_replies_longer_than_a_page_wait_for_the_report_with_their_score(tmp_path: Path) -> None:
    model = Says(lambda request: "yes" * observer.LONG)

    finished = run(tmp_path, model, benchmark(1))

    assert finished.progress.score is None
    assert states(finished) == {"ok": 1}


def test_a_withheld_reply_is_wrong_in_the_running_score_as_in_the_result(tmp_path: Path) -> None:
    def say(request: Request) -> str | Reply:
        if request.messages[0].text == "question 3":
            return Reply(text="", stop="filter")
        return "yes"

    finished = run(tmp_path, Says(say), benchmark(4))

    assert states(finished) == {"ok": 3, "refused": 1}
    assert finished.progress.score == load_run(finished.run).headline.value == 3 / 4


def test_a_guess_counts_in_the_running_score_with_the_mean_of_its_candidates(
    tmp_path: Path,
) -> None:
    """The scoring draws yes or no for a reply that is neither, so half a point is to be expected.
    A reply that waits for a judge counts in neither score."""
    tiny = benchmark(4)
    official = tiny.scorings["official"]

    def parse(reply: Reply, sample: Sample) -> Reading:
        if reply.text == "perhaps":
            return Reading(answer=None, rule="undecided")
        if reply.text == "mumble":
            return Reading(answer=None, rule="drawn", guessed=True, candidates=("yes", "no"))
        return official.parse(reply, sample)

    def resolve(table: ReplyTable) -> Resolution:
        lines = (line for line in table.lines if line.reading.undecided)
        return Resolution(readings={line.sample.id: drawn(line) for line in lines})

    def drawn(line: Line) -> Reading:
        return replace(line.reading, answer="no")

    judge = Judge(
        name="judge",
        prompt=lambda sample, reply: (),
        parse=lambda text, sample: Reading(answer=None, rule="none"),
        when=lambda reading: reading.rule == "undecided",
    )
    scoring = replace(official, parse=parse, resolve=resolve, judge=judge)
    replies = dict(enumerate(("yes", "yes", "mumble", "perhaps")))

    finished = run(
        tmp_path,
        Says(lambda request: replies[int(request.messages[0].text[-1])]),
        vary(tiny, scorings={"official": scoring}),
    )

    assert finished.progress.score == pytest.approx(2.5 / 3)
    assert finished.progress.drawn == 1
    headline = load_run(finished.run).headline
    assert headline.n == 3
    assert headline.value == pytest.approx(2 / 3)


def test_every_attempt_is_journaled_with_its_number(tmp_path: Path) -> None:
    times = iter(range(10))

    def busy_twice(request: Request) -> str:
        if next(times) < 2:
            raise Overloaded("busy")
        return "yes"

    finished = run(tmp_path, Says(busy_twice), benchmark(1))

    assert [(record.attempt, record.state) for record in records(finished)] == [
        (1, "failed"),
        (2, "failed"),
        (3, "ok"),
    ]


def cost_of(n: int) -> Usage:
    return Usage(input=n * 1_000_000, output=0)


def test_what_is_under_way_counts_as_spent(tmp_path: Path) -> None:
    """16 at once, and still no more than the limit: without it 16 would have been paid."""

    class Priced(Waits):
        async def generate(self, request: Request) -> Reply:
            reply = await super().generate(request)
            return replace(reply, usage=cost_of(1))

    model = Priced(0.05)
    profile = Profile(prices=Prices(input=1.0, output=1.0))

    finished = run(tmp_path, model, benchmark(40), concurrency=16, max_cost=5.0, profile=profile)

    assert model.calls == 5
    assert finished.progress.cost == pytest.approx(5.0)
    assert (
        finished.stopped
        == "the budget of 5 is used up (1 spent, and about 4 for requests in flight)"
    )


def test_until_a_price_is_known_questions_are_asked_one_by_one(tmp_path: Path) -> None:
    replies: Iterator[Overloaded | Usage] = iter(
        [Overloaded("busy"), Overloaded("busy"), cost_of(9)]
    )

    def say(request: Request) -> Reply:
        came = next(replies)
        if isinstance(came, Overloaded):
            raise came
        return Reply(text="yes", stop="stop", usage=came)

    model = Says(say)
    profile = Profile(prices=Prices(input=1.0, output=1.0))
    retry = {"attempts": 1}

    run(tmp_path, model, benchmark(40), concurrency=16, max_cost=5.0, profile=profile, retry=retry)

    assert (model.most, len(model.requests)) == (1, 3)


def test_a_budget_is_of_one_call_and_the_report_of_all(tmp_path: Path) -> None:
    def say(request: Request) -> Reply:
        return Reply(text="yes", stop="stop", usage=cost_of(1))

    profile = Profile(prices=Prices(input=1.0, output=1.0))
    for calls in (1, 2):
        finished = run(
            tmp_path, Says(say), benchmark(10), concurrency=1, max_cost=3.0, profile=profile
        )

        assert finished.interrupted
        assert finished.progress.cost == pytest.approx(3.0)
        assert finished.result is not None and finished.result.report.spent is not None
        assert finished.result.report.spent.cost == pytest.approx(3.0 * calls)

    complete = run(tmp_path, Says(say), benchmark(10), profile=profile)
    assert complete.result is not None and complete.result.report.spent is not None
    assert complete.progress.kept == 6
    assert complete.result.report.spent.cost == pytest.approx(10.0)


# -- told of each reply


def test_each_new_reply_is_told_with_what_each_scoring_gives_it(tmp_path: Path) -> None:
    events: list[tuple[str, str, Mapping[str, float | None]]] = []
    model = Says(lambda request: "yes" if "1" in request.messages[0].text else "no")

    def on_sample(sample: Sample, reply: Reply, scores: Mapping[str, float | None]) -> None:
        stored = Run(next(tmp_path.glob("tiny/says/*")))
        stored.load()
        assert stored.has_reply((sample.id, 0, 0))
        events.append((sample.id, reply.text, scores))

    evaluate(benchmark(3), model, out=tmp_path, on_sample=on_sample)
    evaluate(benchmark(3), model, out=tmp_path, on_sample=on_sample)  # all of it is kept

    assert sorted(events) == [
        ("s0", "no", {"official": 0.0}),
        ("s1", "yes", {"official": 1.0}),
        ("s2", "no", {"official": 0.0}),
    ]


def test_failed_questions_are_not_told(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        if "1" in request.messages[0].text:
            raise Rejected("no")
        return "yes"

    sample_ids = []
    evaluate(
        benchmark(3),
        Says(say),
        out=tmp_path,
        on_sample=lambda sample, *_: sample_ids.append(sample.id),
    )

    assert sorted(sample_ids) == ["s0", "s2"]


def test_replies_are_told_in_the_callers_thread(tmp_path: Path) -> None:
    threads = set()
    model = Says(lambda request: "yes")
    evaluate(benchmark(), model, out=tmp_path, on_sample=lambda *_: threads.add(get_ident()))

    assert threads == {get_ident()}


def test_what_is_raised_by_who_is_told_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    """Four samples share a medium and are under way together; the first one's news is refused."""
    sample_ids = []

    def refuse(sample: Sample, reply: Reply, scores: Mapping[str, float | None]) -> None:
        sample_ids.append(sample.id)
        raise ZeroDivisionError("a bug of the loop")

    tiny = benchmark(12, group_by=lambda sample: str(int(sample.id[1:]) // 4))
    model = Waits(0.2)

    with pytest.raises(ZeroDivisionError, match="a bug of the loop"):
        evaluate(tiny, model, out=tmp_path, concurrency=4, on_sample=refuse)

    stored = [record for record in Run(next(tmp_path.glob("tiny/waits/*"))).replies()]
    assert len(sample_ids) == 1
    assert 1 < model.calls < 12
    assert [record.state for record in stored if isinstance(record, ReplyRecord)] == [
        "ok"
    ] * model.calls
    assert evaluate(tiny, Waits(0.0), out=tmp_path).report.replies == {"ok": 12}
