"""How often a run parses its replies, on the way and for the report."""

from dataclasses import replace
from pathlib import Path

from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.run import observer
from snellen.run.readings import Readings
from tests.tiny import Says, benchmark, parse, run


class Counts:
    """Parses like the tiny benchmark, and keeps the texts that it parsed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def parse(self, reply: Reply, sample: Sample) -> Reading:
        self.texts.append(reply.text)
        return parse(reply, sample)


def counted(n: int) -> tuple[Benchmark, Counts]:
    counts = Counts()
    plain = benchmark(n)
    scoring = replace(plain.scorings["official"], parse=counts.parse)
    return vary(plain, scorings={"official": scoring}), counts


def test_a_run_parses_a_sentence_once(tmp_path: Path) -> None:
    tiny, counts = counted(3)

    finished = run(tmp_path, Says(lambda request: f"The reply to {request.messages[0].text}"), tiny)

    assert sorted(counts.texts) == [f"The reply to question {n}" for n in range(3)]
    assert finished.result is not None
    assert finished.result.report.replies == {"ok": 3}


def test_a_reply_that_is_too_long_for_the_running_score_is_parsed_for_the_report(
    tmp_path: Path,
) -> None:
    tiny, counts = counted(1)
    text = "a" * (observer.LONG + 1)

    finished = run(tmp_path, Says(lambda request: text), tiny)

    assert counts.texts == [text]
    assert finished.progress.score is None


def test_another_reply_to_the_same_question_is_parsed_again() -> None:
    tiny, counts = counted(1)
    sample = Sample(id="s0", question="question 0", target="yes")
    readings = Readings(tiny.scorings["official"])
    readings.keep(Reply(text="The answer is yes."), sample)

    again = readings.parse(Reply(text="The answer is no."), sample)
    same = readings.parse(Reply(text="The answer is yes."), sample)

    assert [again.answer, same.answer] == ["The answer is no.", "The answer is yes."]
    assert counts.texts == ["The answer is yes.", "The answer is no."]


def test_equal_readings_are_kept_once() -> None:
    tiny, _ = counted(1)
    readings = Readings(tiny.scorings["official"])
    reply = Reply(text="The answer is yes.")
    samples = [Sample(id=f"s{n}", question="?", target="yes") for n in range(2)]
    for sample in samples:
        readings.keep(reply, sample)

    first, second = (readings.parse(reply, sample) for sample in samples)

    assert first is second
