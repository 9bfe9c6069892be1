"""A run that goes on: what is kept, what is asked again, and what a lost line costs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from snellen.core.benchmark import History
from snellen.core.model import Ranked, Reply, Request, Usage
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import Rejected
from snellen.media.content import Image, Message, assistant, user
from snellen.scoring import Report, score_run
from snellen.store import Run
from tests.tiny import Says, benchmark, records, run, sample_of, states


def two_turns(sample: Sample, history: History) -> tuple[Message, ...]:
    if len(history) == 2:
        return ()
    messages = [message for sent, reply in history for message in (sent[-1], assistant(reply.text))]
    return (*messages, user(f"{sample.question}, turn {len(history)}"))


def scored_again(folder: Path) -> Report:
    run = Run(folder)
    run.load()
    return score_run(run, benchmark())


def test_fewer_repeats_ask_those_again_that_failed(tmp_path: Path) -> None:
    broken = [True]

    def fails_first(request: Request) -> str:
        if broken[0] and request.seed is None:
            raise Rejected("no")
        return "yes"

    first = run(tmp_path, Says(fails_first), benchmark(1), repeats=3)
    assert states(first) == {"ok": 2, "failed": 1}
    broken[0] = False

    again = Says(fails_first)
    second = run(tmp_path, again, benchmark(1), repeats=2)

    assert len(again.requests) == 1
    assert states(second) == {"ok": 3}


def test_a_run_stays_as_large_as_its_largest_session(tmp_path: Path) -> None:
    run(tmp_path, Says(lambda request: "yes"), benchmark(2), repeats=2, limit=1)
    second = run(tmp_path, Says(lambda request: "yes"), benchmark(2), repeats=1, limit=1)

    assert second.result is not None
    assert "partial: 2 of 4" in second.result.report.notes


def test_a_question_whose_line_was_lost_is_written_again_and_scored(tmp_path: Path) -> None:
    first = run(tmp_path, Says(lambda request: "yes"))
    questions = first.run / "questions.jsonl"
    lines = questions.read_bytes().splitlines(keepends=True)
    questions.write_bytes(b"".join(lines[:-1]))

    alone = scored_again(first.run)
    again = Says(lambda request: "no")
    second = run(tmp_path, again)

    assert any(note.startswith("1 replies are not scored") for note in alone.notes)
    assert again.requests == []
    assert states(second) == {"ok": 10}
    assert second.result is not None
    assert not any("not scored" in note for note in second.result.report.notes)


def test_finished_conversations_give_their_slots_back(tmp_path: Path) -> None:
    tiny = benchmark(5, prompt=two_turns, conversation=Conversation(turns=None))
    run(tmp_path, Says(lambda request: "yes"), tiny, concurrency=1)

    again = Says(lambda request: "yes")
    finished = run(tmp_path, again, tiny, concurrency=1, max_time=20)

    assert finished.stopped is None
    assert again.requests == []
    assert finished.progress.kept == 5


def test_a_finished_conversation_needs_its_picture_no_more(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
            "0000000a49444154789c63600000000200014873"
            "6f660000000049454e44ae426082"
        )
    )

    def prompt(sample: Sample, history: History) -> tuple[Message, ...]:
        if len(history) == 2:
            return ()
        return (user(Image(picture), f"{sample.question}, turn {len(history)}"),)

    tiny = benchmark(2, prompt=prompt, conversation=Conversation(turns=None))
    first = run(tmp_path / "runs", Says(lambda request: "yes"), tiny)
    assert states(first) == {"ok": 2}
    picture.unlink()

    second = run(tmp_path / "runs", Says(lambda request: "yes"), tiny)

    assert states(second) == {"ok": 2}
    assert len(records(second)) == 4


def test_tokens_of_all_turns_are_counted(tmp_path: Path) -> None:
    usage = Usage(input=10, output=1)
    model = Says(lambda request: Reply(text="yes", stop="stop", usage=usage))

    finished = run(
        tmp_path, model, benchmark(3, prompt=two_turns, conversation=Conversation(turns=None))
    )

    assert finished.result is not None
    assert finished.result.report.spent is not None
    assert finished.result.report.spent.tokens == {"input": 60, "output": 6}


def test_missing_stands_in_the_manifest_and_in_the_result(tmp_path: Path) -> None:
    def fails(request: Request) -> str:
        if "question 1" in request.messages[0].text:
            raise Rejected("no")
        return "yes"

    finished = run(tmp_path, Says(fails), benchmark(4), missing="wrong")

    assert finished.result is not None
    for report in (finished.result.report, scored_again(finished.run)):
        accuracy = report.scorings["official"].metrics["accuracy"]
        assert accuracy.value == pytest.approx(0.75)
        assert any("1 of 4 have no reply and count as wrong" in note for note in report.notes)
        assert any(note.startswith("--missing wrong") for note in report.notes)


def test_a_rank_that_is_no_number_fails_its_question_alone(tmp_path: Path) -> None:
    class Ranks:
        name = "ranks"

        async def rank(self, request: Request) -> list[Ranked]:
            bad = "question 1" in request.messages[0].text
            return [Ranked(float("-inf") if bad else -1.0, 1), Ranked(-2.0, 1)]

    def sample(row_index: int, row: Row) -> Sample:
        return replace(sample_of(row_index, row), choices=("yes", "no"))

    tiny = benchmark(3, kind="rank", sample=sample)
    finished = run(tmp_path, Ranks(), tiny)

    kept = {record.key[0]: record.state for record in records(finished)}
    assert kept == {"s0": "ok", "s1": "failed", "s2": "ok"}


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes \ud83d"), benchmark(1))

    assert [record.reply for record in records(finished)] == ["yes ?"]


def test_a_changed_file_of_ones_own_model_is_another_run(tmp_path: Path) -> None:
    from snellen.api import evaluate

    file = tmp_path / "mine.py"
    file.write_text("def answer(messages):\n    return 'yes'\n")
    first = evaluate(benchmark(), f"python:{file}:answer", out=tmp_path / "runs")
    file.write_text("def answer(messages):\n    return 'no'\n")
    second = evaluate(benchmark(), f"python:{file}:answer", out=tmp_path / "runs")

    assert (first.headline.value, second.headline.value) == (1.0, 0.0)


def test_the_first_turn_alone_says_which_rows_are_finished(tmp_path: Path) -> None:
    finished = run(
        tmp_path,
        Says(lambda request: "yes"),
        benchmark(2, prompt=two_turns, conversation=Conversation(turns=None)),
    )
    loaded = Run(finished.run)
    loaded.load()

    lines = (finished.run / "questions.jsonl").read_text().splitlines()
    places = [json.loads(line)["place"] for line in lines]
    assert sorted(places) == [0, 0, 1, 1]
    assert [loaded.finished_at(row_index) for row_index in (0, 1, 2)] == [1, 1, 0]
