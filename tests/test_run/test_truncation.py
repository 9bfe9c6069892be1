"""Replies that are cut at the token limit, and thoughts that are not as asked: noticed among the
first replies, stopped, and asked again with more tokens, over real connections."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from snellen.api import Finished, Plan, run_plan
from snellen.core.procedure import Conversation
from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.registry import benchmark
from snellen.report import run_facts
from snellen.store import ReplyRecord, Run
from tests import tiny
from tests.servers import Answer, ReceivedRequest, Server, completion, serving, status
from tests.test_cli.conftest import Snellen, snellen
from tests.test_run.test_faults import QUICK, question, write_rows

__all__ = ["snellen"]

LIMIT, MORE = 512, 4096


class Needs:
    """A model that answers A if it may use as many tokens as the question needs. A longer reply is
    cut. `need` is by the question's number; others need 10."""

    def __init__(self, need: dict[int, int]) -> None:
        self.need = need
        self.requests: list[tuple[int, int]] = []

    def __call__(self, request: ReceivedRequest) -> Answer:
        number, most = int(question(request)[1:]), request.json["max_tokens"]
        self.requests.append((number, most))
        need = self.need.get(number, 10)
        usage = {"prompt_tokens": 9, "completion_tokens": min(need, most)}
        if need > most:
            return completion("Well,", stop="length", usage=usage)
        return completion("A", usage=usage)


def ask(rows: Path, server: Server, out: Path, **options: Any) -> Finished:
    plan = Plan(
        benchmarks=[benchmark(str(rows))],
        models=["openai/m"],
        profile=options.pop("profile", Profile(base_url=server.url)),
        out=out,
        **{"concurrency": 1, "max_tokens": LIMIT, "retry": QUICK, **options},
    )
    return run_plan(plan)[0]


def states(finished: Finished) -> dict[str, int]:
    assert finished.result is not None
    return finished.result.report.replies


def notes(finished: Finished) -> str:
    assert finished.result is not None
    return "\n".join(finished.result.report.notes)


def records(finished: Finished) -> list[ReplyRecord]:
    return [record for record in Run(finished.run).replies() if isinstance(record, ReplyRecord)]


def manifest(finished: Finished) -> Any:
    return json.loads((finished.run / "manifest.json").read_text())


def cut(*numbers: int, need: int = 1000) -> Needs:
    return Needs(dict.fromkeys(numbers, need))


# -- noticed


@pytest.mark.parametrize(
    ("n", "numbers", "noticed"),
    [
        (80, (10, 20), None),  # 4 % of the first 50
        (80, (10, 20, 30), "3 of the first 31 replies were cut at 512 tokens"),
        (80, (0, 1, 2, 3), "3 of the first 3 replies were cut at 512 tokens"),
        (80, (10, 20, 60, 61, 62), None),  # the others are not among the first 50
        (20, (5,), None),  # 5 % of a smaller run
        (20, (5, 6), "2 of the first 7 replies were cut at 512 tokens"),
    ],
)
def test_more_than_one_in_twenty_cut_replies_are_noticed_at_once(
    tmp_path: Path, n: int, numbers: tuple[int, ...], noticed: str | None
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", n)
    with serving(cut(*numbers)) as server:
        finished = ask(rows, server, tmp_path / "runs")

    shown = [note for note in finished.progress.notes if "of the first" in note]
    assert states(finished) == {"ok": n - len(numbers), "truncated": len(numbers)}
    assert [note.partition(". ")[0] for note in shown] == ([noticed] if noticed else [])
    if noticed:
        assert "Raise the limit with --max-tokens" in shown[0] and "--effort" in shown[0]
        assert shown[0] in notes(finished)
    again = ask(rows, server, tmp_path / "runs")  # nothing is left to ask
    assert ("of the first" in notes(again)) == bool(noticed)


def test_a_run_that_stops_for_cut_replies_can_be_resumed(snellen: Snellen, tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 40), cut(*range(0, 40, 2))
    with serving(needs) as server:
        command = ("run", "-b", rows, "-m", "openai/m", "--base-url", server.url)
        limits = ("--max-tokens", "512", "--concurrency", "1")
        stopped = snellen(*command, *limits, "--on-truncation", "stop")
        before = len(needs.requests)
        resumed = snellen(*command, *limits)

    assert stopped.code == 130
    assert "stopped: 3 of the first 5 replies were cut at 512 tokens" in stopped.err
    assert "the same command resumes" in stopped.err
    assert before <= 6, "a request may be under way when the run stops"
    assert resumed.code == 0
    assert max(Counter(needs.requests).values()) == 1 and len(needs.requests) == 40


def test_the_command_that_stopped_a_run_for_cut_replies_goes_on_with_it(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 40), cut(*range(0, 40, 2))
    with serving(needs) as server:
        stopped = ask(rows, server, tmp_path / "runs", on_truncation="stop")
        resumed = ask(rows, server, tmp_path / "runs", on_truncation="stop")

    assert stopped.interrupted and not resumed.interrupted
    assert states(resumed) == {"ok": 20, "truncated": 20}
    assert len(needs.requests) == 40


# -- raised


def test_a_run_raises_its_limit_and_asks_the_cut_questions_again(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 60), cut(*range(0, 60, 5))
    with serving(needs) as server:
        finished = ask(rows, server, tmp_path / "runs", on_truncation=f"raise:{MORE}")
        again = ask(rows, server, tmp_path / "runs", on_truncation=f"raise:{MORE}")

    assert states(finished) == states(again) == {"ok": 60}
    assert (finished.progress.done, finished.progress.failed) == (60, 0)
    # The third cut reply is the eleventh reply.
    assert needs.requests[:10] == [(n, LIMIT) for n in range(10)]
    assert Counter(needs.requests) == Counter(
        [(n, LIMIT) for n in range(11)]
        + [(n, MORE) for n in (0, 5, 10)]
        + [(n, MORE) for n in range(11, 60)]
    )
    by_question = {record.key.sample: record for record in records(finished)}
    assert (by_question["q1"].max_tokens, by_question["q1"].cut_at) == (None, None)
    assert (by_question["q5"].max_tokens, by_question["q5"].cut_at) == (MORE, LIMIT)
    assert by_question["q5"].attempt == 2
    assert (by_question["q20"].max_tokens, by_question["q20"].cut_at) == (MORE, None)
    assert manifest(finished)["raised"] == MORE
    assert manifest(finished)["identity"]["generation"]["on_truncation"] == f"raise:{MORE}"
    assert "3 of the first 11 replies were cut at 512 tokens. Further replies" in notes(again)
    assert (
        "3 questions with truncated replies were asked again with 4,096 tokens: "
        "3 replies are complete"
    ) in notes(again)
    assert "49 questions were asked with 4,096 tokens" in notes(again)


def test_a_run_whose_limit_was_raised_goes_on_with_it(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 30), cut(0, 1, 20)
    option = {"on_truncation": f"raise:{MORE}"}
    with serving(needs) as server:
        first = ask(rows, server, tmp_path / "runs", max_requests=6, **option)
        assert first.interrupted and states(first) == {"ok": 4, "truncated": 1}
        last = ask(rows, server, tmp_path / "runs", **option)

    assert states(last) == {"ok": 30}
    assert Counter(needs.requests)[0, MORE] == Counter(needs.requests)[1, MORE] == 1
    assert all(most == MORE for n, most in needs.requests if n >= 2)
    assert max(Counter(needs.requests).values()) == 1


def test_cut_replies_of_an_earlier_call_are_asked_again_once_the_limit_is_raised(
    tmp_path: Path,
) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 60), cut(0, 1, 12, 13, 14)
    option = {"on_truncation": f"raise:{MORE}"}
    with serving(needs) as server:
        first = ask(rows, server, tmp_path / "runs", max_requests=10, **option)
        assert first.interrupted and states(first) == {"ok": 8, "truncated": 2}
        last = ask(rows, server, tmp_path / "runs", **option)

    assert states(last) == {"ok": 60}
    assert (last.progress.kept, last.progress.done) == (8, 52)
    assert max(Counter(needs.requests).values()) == 1
    assert (
        "5 questions with truncated replies were asked again with 4,096 tokens: "
        "5 replies are complete"
    ) in notes(last)


def test_cut_replies_of_an_earlier_call_are_kept_if_the_limit_is_not_raised(
    tmp_path: Path,
) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 70), cut(0, 1)
    option = {"on_truncation": f"raise:{MORE}"}
    with serving(needs) as server:
        ask(rows, server, tmp_path / "runs", max_requests=10, **option)
        last = ask(rows, server, tmp_path / "runs", **option)

    assert states(last) == {"ok": 68, "truncated": 2}
    assert (last.progress.kept, last.progress.done) == (10, 60)
    assert len(needs.requests) == 70


def test_a_run_that_may_raise_its_limit_and_need_not_is_as_any_other(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 60), cut(3, 58)
    heard: list[tuple[str, str]] = []
    with serving(needs) as server:
        finished = ask(
            *(rows, server, tmp_path / "runs"),
            on_truncation="raise:4096",
            concurrency=4,
            on_sample=lambda sample, reply, scores: heard.append((sample.id, reply.state)),
        )

    assert {most for _, most in needs.requests} == {LIMIT} and len(needs.requests) == 60
    assert states(finished) == {"ok": 58, "truncated": 2}
    assert finished.progress.done == 60
    assert Counter(heard)["q3", "truncated"] == 1 and len(heard) == 60


# -- asked again


def test_only_cut_questions_are_asked_again_and_counted(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 30)
    needs = Needs({2: 1000, 7: 1000, 9: 9000})
    with serving(needs) as server:
        first = ask(rows, server, tmp_path / "runs")
        needs.requests.clear()
        second = ask(rows, server, tmp_path / "runs", retry_truncated=MORE)
        sent = sorted(needs.requests)
        third = ask(rows, server, tmp_path / "runs", retry_truncated=MORE)
        plain = ask(rows, server, tmp_path / "runs")
        assert sorted(needs.requests) == sent, "nothing is asked with the same limit twice"
        last = ask(rows, server, tmp_path / "runs", retry_truncated=16384)

    assert {run.run for run in (first, second, third, plain, last)} == {first.run}
    assert sent == [(2, MORE), (7, MORE), (9, MORE)]
    assert states(second) == states(third) == states(plain) == {"ok": 29, "truncated": 1}
    assert "again with 4,096 tokens: 2 replies are complete now, 1 are still truncated" in notes(
        plain
    )
    assert states(last) == {"ok": 30}
    assert (
        "again with 4,096 or 16,384 tokens: 3 replies are complete now, 0 are still truncated"
        in notes(last)
    )
    assert [session.get("retry_truncated") for session in manifest(last)["sessions"]] == [
        *(None, MORE, MORE, None, 16384)
    ]
    assert last.result is not None
    assert last.result.report.other_limits == {"4096": 2, "16384": 1}
    settings = dict(run_facts.settings(last.result))["generation"]
    assert "max_tokens=512" in settings
    assert settings.endswith(
        "; max_tokens=4096 for 2 of the replies; max_tokens=16384 for 1 of the replies"
    )
    calls = [session["started"] for session in manifest(last)["sessions"]]
    provenance = dict(run_facts.provenance(manifest(last)))
    assert (provenance["started"], provenance["last of 5 calls"]) == (calls[0], calls[-1])
    attempts = [
        (record.attempt, record.max_tokens, record.cut_at, record.state)
        for record in records(last)
        if record.key.sample == "q9"
    ]
    assert attempts == [
        (1, None, None, "truncated"),
        (2, MORE, LIMIT, "truncated"),
        (3, 16384, MORE, "ok"),
    ]
    assert last.result is not None and last.result.report.spent is not None
    assert (last.result.report.spent.replies, last.result.report.spent.questions) == (34, 30)


def test_a_question_that_fails_when_it_is_asked_again_keeps_its_reply(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 10), cut(4)
    is_broken = True

    def answer(request: ReceivedRequest) -> Answer:
        if is_broken and request.json["max_tokens"] == MORE:
            return status(400, "not now")
        return needs(request)

    with serving(answer) as server:
        ask(rows, server, tmp_path / "runs")
        failed = ask(rows, server, tmp_path / "runs", retry_truncated=MORE)
        is_broken = False
        healed = ask(rows, server, tmp_path / "runs", retry_truncated=MORE)

    assert states(failed) == {"ok": 9, "truncated": 1} and failed.progress.failed == 1
    assert states(healed) == {"ok": 10}


def test_each_repeat_is_asked_again_by_itself(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 5), cut(3)
    with serving(needs) as server:
        ask(rows, server, tmp_path / "runs", repeats=3)
        needs.requests.clear()
        finished = ask(rows, server, tmp_path / "runs", repeats=3, retry_truncated=MORE)

    assert needs.requests == [(3, MORE)] * 3
    assert states(finished) == {"ok": 15}
    assert (finished.progress.kept, finished.progress.done) == (12, 3)


def test_killed_again_and_again_each_cut_question_is_asked_again_once(tmp_path: Path) -> None:
    rows, needs = write_rows(tmp_path / "rows.jsonl", 200), cut(*range(200))
    kills = 0
    with serving(needs, latency=0.02) as server:
        first = ask(rows, server, tmp_path / "runs", concurrency=32)
        assert states(first) == {"truncated": 200}
        command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
        command += ["--base-url", server.url, "--concurrency", "8", "--max-tokens", str(LIMIT)]
        command += ["--out", str(tmp_path / "runs"), "--retry-truncated", str(MORE)]
        for wait in (0.05, 0.2):
            before = len(server.requests)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            while len(server.requests) == before and process.poll() is None:
                time.sleep(0.005)
            time.sleep(wait)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.communicate()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        words, _ = process.communicate()
        assert process.returncode == 0, words.decode()
        again = len(server.requests) - 200
    last = ask(rows, server, tmp_path / "runs")

    assert kills and again <= 200 + 8 * kills
    assert states(last) == {"ok": 200}
    stored = Counter((record.key, record.max_tokens) for record in records(last))
    assert len(stored) == 400 and set(stored.values()) == {1}
    questions = (last.run / "questions.jsonl").read_text().splitlines()
    assert len(questions) == 200, "a question that is asked again has its line already"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"retry_truncated": 512}, "--retry-truncated 512 is not above the current limit of 512"),
        ({"on_truncation": "raise:100"}, "--on-truncation raise 100 is not above"),
        ({"on_truncation": "raise"}, "'raise' is neither stop, continue, nor raise:N"),
        ({"on_truncation": "raise:0"}, "is neither stop, continue, nor raise:N"),
    ],
)
def test_a_limit_that_cannot_be_raised_is_refused(
    tmp_path: Path, option: dict[str, Any], message: str
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 1)
    with serving(completion("A")) as server:
        with pytest.raises(UsageError, match=message):
            ask(rows, server, tmp_path / "runs", **option)
        assert not server.requests


def test_turns_are_not_asked_again_because_later_ones_follow_from_them(tmp_path: Path) -> None:
    turns = tiny.benchmark(2, conversation=Conversation(turns=2))
    with serving(completion("A")) as server:
        plan = Plan(
            benchmarks=[turns],
            models=["openai/m"],
            base_url=server.url,
            out=tmp_path,
            retry_truncated=MORE,
        )
        with pytest.raises(UsageError, match="works only for benchmarks with generated replies"):
            run_plan(plan)
        assert not server.requests


# -- cut by the server


class CutsEarly(Needs):
    """A server that cuts the replies to some questions at 24 tokens, whatever the limit."""

    def __call__(self, request: ReceivedRequest) -> Answer:
        number, most = int(question(request)[1:]), request.json["max_tokens"]
        if number not in self.need:
            return super().__call__(request)
        self.requests.append((number, most))
        usage = {"prompt_tokens": 9, "completion_tokens": 24}
        return completion("Well,", stop="length", usage=usage)


@pytest.mark.parametrize("option", [{}, {"on_truncation": f"raise:{MORE}"}])
def test_replies_that_the_server_cuts_below_the_limit_are_not_blamed_on_it(
    tmp_path: Path, option: dict[str, Any]
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 60)
    early = CutsEarly(dict.fromkeys(range(0, 60, 5), 0))
    with serving(early) as server:
        finished = ask(rows, server, tmp_path / "runs", **option)
        again = ask(rows, server, tmp_path / "runs", retry_truncated=MORE, **option)
        assert sorted(early.requests) == [(n, LIMIT) for n in range(60)], "nothing is asked again"

    (noticed,) = [note for note in finished.progress.notes if "of the first" in note]
    assert noticed.startswith("3 of the first 11 replies were cut by the server after at most 24 ")
    assert "below the 512 that were asked for. A higher limit will not help" in noticed
    assert states(again) == {"ok": 48, "truncated": 12}
    assert "raised" not in manifest(again)
    for text in (notes(finished), notes(again)):
        assert "12 of 60 replies (20.0 %) were cut by the server after at most 24 tokens" in text
        assert not {"Raise the limit", "increase --max-tokens"} & {*text.split(". ")}
        assert "at the token limit" not in text and "token_floor" not in text


def test_replies_cut_by_the_server_and_at_the_limit_are_counted_apart(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 50)

    class Both(CutsEarly):
        def __call__(self, request: ReceivedRequest) -> Answer:
            if question(request) == "q9":
                return cut(9)(request)
            return super().__call__(request)

    with serving(Both({1: 0, 2: 0})) as server:
        finished = ask(rows, server, tmp_path / "runs")

    (noticed,) = [note for note in finished.progress.notes if "of the first" in note]
    assert noticed.startswith("1 of the first 10 replies was cut at 512 tokens. Raise the limit")
    assert "; 2 of the first 10 replies were cut by the server after at most 24 tok" in noticed
    assert "1 of 50 replies (2.0 %) was cut at the token limit" in notes(finished)
    assert "2 of 50 replies (4.0 %) were cut by the server" in notes(finished)


def test_shares_of_cut_and_empty_replies_are_of_the_replies_that_there_are(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 15)

    def answer(request: ReceivedRequest) -> Answer:
        number = int(question(request)[1:])
        if number < 5:
            return status(400, "not this one")
        return completion("", usage={}) if number == 5 else cut(6)(request)

    with serving(answer) as server:
        finished = ask(rows, server, tmp_path / "runs")

    assert states(finished) == {"failed": 5, "ok": 8, "empty": 1, "truncated": 1}
    assert "1 of 10 replies (10.0 %) was cut" in notes(finished)
    assert "1 of 10 replies is empty (10.0 %)" in notes(finished)


# -- thoughts


@pytest.mark.parametrize(
    ("effort", "answer", "noticed"),
    [
        ("none", completion("A", reasoning_content="x, so A"), "reply 1 has thoughts"),
        ("none", completion("<think>x, so A</think>A"), "start the server with a reasoning parser"),
        ("none", completion("<think>\n\n</think>\n\nA"), None),
        ("none", completion("A"), None),
        ("low", completion("A"), "none of the first 50 replies has thoughts"),
        ("low", completion("<think>x</think>A"), None),
        ("low", completion("A", reasoning="x, so A"), None),
        (None, completion("A", reasoning_content="x"), None),
        (None, completion("A"), None),
    ],
)
def test_thoughts_that_are_not_as_asked_are_noticed(
    tmp_path: Path, effort: str | None, answer: Answer, noticed: str | None
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 55)
    with serving(answer) as server:
        profile = Profile(base_url=server.url, effort=effort)  # type: ignore[arg-type]
        finished = ask(rows, server, tmp_path / "runs", profile=profile, concurrency=8)

    shown = [note for note in finished.progress.notes if "thoughts" in note]
    assert len(shown) == bool(noticed)
    if noticed:
        assert noticed in shown[0] and shown[0] in notes(finished)


def test_thoughts_are_expected_as_a_recipe_or_a_profile_has_them(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 3)
    with serving(completion("A", reasoning_content="x, so A")) as server:
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        profile = Profile(base_url=server.url, extra=extra)
        finished = ask(rows, server, tmp_path / "runs", profile=profile)

    assert "reply 1 has thoughts, although thinking was turned off" in notes(finished)
