"""One sample's whole story, of a run and of somebody's file."""

import json
from pathlib import Path

import pytest

from snellen import api, registry, report
from snellen.errors import Overloaded, UsageError
from snellen.models.scripted import Scripted
from tests.test_scoring.test_judge import JUDGE, benchmark, opened, openly, plan, replied


def test_a_runs_sample_is_told_with_what_was_sent_and_what_came(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    (story,) = api.explain(replied(tmp_path, bench), "3", bench)
    assert story.messages == [("user", "number 3")]
    assert [(attempt.state, attempt.reply) for attempt in story.attempts] == [("ok", "A")]
    (reading,) = story.readings
    assert (reading.scoring, reading.answer, reading.rule) == ("official", "A", "letter")
    assert reading.score == 1.0


def test_every_attempt_is_told(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    model = Scripted([Overloaded("busy"), "A"])
    server = registry.Opened(model=model, name="m", server="m", concurrency=1)
    settings = api.Plan(
        benchmarks=[bench], models=[server], out=tmp_path, limit=1, retry={"backoff": 0.0}
    )
    (story,) = api.explain(api.run_plan(settings)[0].run, "0", bench)
    assert [(attempt.state, attempt.attempt, attempt.error) for attempt in story.attempts] == [
        ("failed", 1, "busy"),
        ("ok", 2, None),
    ]


def test_a_judges_words_are_told(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    assert JUDGE.name == "matching"
    api.judge_run(run, plan(opened(lambda _: "B", "judge")), benchmark=bench)
    (story,) = api.explain(run, "2", bench)
    assert story.attempts[0].reply == open_reply(2)
    assert story.readings[0].verdicts == ["B"]
    assert "the judge's verdict: B" in report.story(story)


def open_reply(n: int) -> str:
    return f"I think it is the first {n}"


def test_each_repeat_is_told(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    model = opened(openly, "m")
    settings = api.Plan(benchmarks=[bench], models=[model], out=tmp_path, repeats=2)
    stories = api.explain(api.run_plan(settings)[0].run, "1", bench)
    assert [story.repeat for story in stories] == [0, 1]


def test_a_reply_of_a_file_is_told_and_a_row_without_one(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    file = tmp_path / "said.jsonl"
    file.write_text('{"id": "1", "reply": "B"}\n')
    (story,) = api.explain(file, "1", bench)
    assert (story.attempts[0].reply, story.readings[0].score) == ("B", 0.0)
    (other,) = api.explain(file, "2", bench)
    assert other.attempts == []
    assert other.readings[0].state == "no-reply"


def test_a_question_without_a_reply_yet_is_told_as_far_as_it_went(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    journal = run / "replies.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"key":["7"' not in line))
    (story,) = api.explain(run, "7", bench)
    assert story.messages == [("user", "number 7")]
    assert story.attempts == []
    assert story.readings[0].state == "no-reply"


def test_an_id_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    with pytest.raises(UsageError, match="has no sample 'nobody'"):
        api.explain(replied(tmp_path, bench), "nobody", bench)


def test_what_a_terminal_acts_on_is_not_printed(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench, lambda _: "\x1b[31mred\u202e")
    (story,) = api.explain(run, "1", bench)
    assert "\x1b" not in report.story(story)
    assert "\u202e" not in report.story(story)
    assert json.dumps(story.attempts[0].reply) == '"\\u001b[31mred\\u202e"'
