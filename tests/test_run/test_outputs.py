"""What a model returns is checked before it is stored: a wrong value fails its question alone."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.analysis.result import Result
from snellen.core.model import Emission, Query, Ranked, Reply, Request, SessionSpec, Times, Usage
from snellen.core.outputs import check_emissions, check_ranking, check_reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import Overloaded, Rejected
from snellen.media.content import Message, user
from snellen.models.python import of_object
from snellen.store import ReplyRecord, Run
from tests.tiny import Says, benchmark, run, states

ESCAPE = "\x1b"


class Text(str):
    """What a tokenizer or a data frame may return instead of a string."""


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Lazy(Reply):
    @property
    def text(self) -> str:
        raise RuntimeError("not generated yet")

    @text.setter
    def text(self, value: str) -> None:
        pass


class Custom(BaseException):
    pass


def write_rows(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    rows = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ask(folder: Path, answer: Callable[[Request], Any]) -> Result:
    """The result where one question of three gets `answer`, the others "A"."""

    def model(request: Request) -> Any:
        return answer(request) if "[q1]" in request.messages[-1].text else "A"

    return snellen.evaluate(str(write_rows(folder)), model, out=folder / "runs")


def records(folder: Path) -> dict[str, ReplyRecord]:
    (manifest,) = folder.glob("runs/*/*/*/manifest.json")
    run = Run(manifest.parent)
    return {record.key[0]: record for record in run.replies() if isinstance(record, ReplyRecord)}


def raising(error: BaseException) -> Callable[[Request], Any]:
    def answer(request: Request) -> Any:
        raise error

    return answer


def reply(**fields: Any) -> Callable[[Request], Any]:
    return lambda request: Reply(**{"text": "A", **fields})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(text=5), "Reply.text is an int, not text."),
        (reply(text=None), "Reply.text is None, not text."),
        (reply(text=b"A"), "Reply.text is a bytes, not text."),
        (reply(reasoning=["a"]), "Reply.reasoning is a list, not text."),
        (reply(stop=object()), "Reply.stop is an object, not text."),
        (reply(usage={"input": 5}), "Reply.usage is a dict, not a Usage."),
        (
            reply(usage=Usage(input="many")),  # type: ignore[arg-type]
            "Reply.usage.input is a str, not a whole number of tokens.",
        ),
        (reply(usage=Usage(output=-1)), "Reply.usage.output is not a number of tokens from 0"),
        (reply(usage=Usage(cached=10**30)), "Reply.usage.cached is not a number of tokens from 0"),
        (reply(times=Times(first=float("nan"))), "Reply.times.first is not a finite number."),
        (reply(times=Times(total=10**400)), "Reply.times.total is not a finite number."),
        (reply(times=3.0), "Reply.times is a float, not a Times."),
        (reply(choices=5), "Reply.choices gives an int, not one pair (log-probability, tokens)"),
        (reply(choices=((float("nan"), 1),)), "its log-probability, is not a finite number."),
        (reply(shown=5), "Reply.shown is an int, not a list of the frame times of each video."),
        (lambda request: Lazy(text="A"), "Reply cannot be read: RuntimeError: not generated yet"),
        (raising(Unreadable()), "Unreadable: (its message cannot be read"),
        (raising(Custom("mine")), "Custom: mine"),
        (raising(SystemExit(0)), "SystemExit: 0"),
        (raising(GeneratorExit()), "GeneratorExit"),
        (raising(ValueError(f"{ESCAPE}[2J\x00\x07\u202e")), r"\x1b[2J\x00\x07\u202e"),
        (raising(ValueError("half \udc80")), r"half \udc80"),
    ],
)
def test_a_wrong_value_or_exception_fails_its_question_with_the_reason(
    tmp_path: Path, answer: Callable[[Request], Any], reason: str
) -> None:
    result = ask(tmp_path, answer)
    assert result.report.replies == {"ok": 2, "failed": 1}
    error = records(tmp_path)["q1"].error
    assert error is not None and reason in error.message
    assert error.type == "Rejected"


def test_the_message_of_an_exception_is_cut_to_a_length_that_can_be_read(tmp_path: Path) -> None:
    ask(tmp_path, raising(ValueError("x" * 5_000_000)))
    error = records(tmp_path)["q1"].error
    assert error is not None and len(error.message) <= 2000


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: np.str_("A"),
        lambda request: Text("A"),
        reply(text=Text("A"), stop=np.str_("stop"), reasoning=Text("because")),
        reply(usage=Usage(input=np.int64(5), output=np.int32(1))),  # type: ignore[arg-type]
        reply(times=Times(first=np.float32(0.5), total=1)),  # type: ignore[arg-type]
    ],
)
def test_text_and_numbers_of_other_libraries_are_stored_as_plain_ones(
    tmp_path: Path, answer: Callable[[Request], Any]
) -> None:
    result = ask(tmp_path, answer)
    assert result.report.replies == {"ok": 3}
    assert records(tmp_path)["q1"].reply == "A"


def test_ctrl_c_raised_in_a_models_thread_interrupts_the_run(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, raising(KeyboardInterrupt()))


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, "soon", True])
def test_a_wait_that_is_no_number_of_seconds_is_not_waited(tmp_path: Path, seconds: Any) -> None:
    calls: list[Request] = []

    def answer(request: Request) -> str:
        calls.append(request)
        if len(calls) == 1:
            raise Overloaded("busy", retry_after=seconds)
        return "yes"

    assert states(run(tmp_path, Says(answer), benchmark(n=1))) == {"ok": 1}


def test_one_wrong_reply_of_a_batch_fails_its_question_alone(tmp_path: Path) -> None:
    class Model:
        def generate_batch(self, conversations: Sequence[Sequence[Message]]) -> list[Any]:
            return [5 if "[q1]" in turns[-1].text else Text("A") for turns in conversations]

    result = snellen.evaluate(str(write_rows(tmp_path)), Model(), out=tmp_path / "runs")
    assert result.report.replies == {"ok": 2, "failed": 1}


RANKED = Request(messages=(user("Which?"),), kind="rank", choices=("x", "y"))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([Ranked(-1.0, 1)], "rank() returned 1 log-probabilities for 2 choices."),
        ([Ranked(-1.0, 1)] * 3, "rank() returned 3 log-probabilities for 2 choices."),
        ([Ranked(-1.0, 1), Ranked(float("nan"), 1)], "is not a finite number."),
        ([Ranked(-1.0, 1), Ranked(float("-inf"), 1)], "is not a finite number."),
        ([-1.0, -2.0], "rank()[0] is a float, not a pair (log-probability, tokens)."),
        ([(-1.0, 1), (-1.0, 1.5)], "is a float, not a whole number of tokens."),
        (None, "gives None, not one pair (log-probability, tokens) per choice."),
    ],
)
def test_a_ranking_has_one_finite_log_probability_per_choice(value: object, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_ranking(value, RANKED, "mine")
    assert reason in str(caught.value)


def test_numpys_log_probabilities_become_plain_numbers() -> None:
    (first, _) = check_ranking([(np.float32(-0.5), np.int64(2)), (-1, 1)], RANKED, "mine")
    assert first == Ranked(-0.5, 2) and type(first.logprob) is float and type(first.tokens) is int


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("text", "returned a str, not a list of Emission."),
        ([Emission(text=5)], "Emission.text is an int, not text."),  # type: ignore[arg-type]
        ([Emission(text="a", final=1)], "Emission.final is an int"),  # type: ignore[arg-type]
        ([Emission(text="a", silence=float("inf"))], "Emission.silence is not a finite number."),
        ([Emission(text="a", query=7)], "Emission.query is an int, not text."),  # type: ignore[arg-type]
        ([Emission(text="a", usage=7)], "Emission.usage is an int, not a Usage."),  # type: ignore[arg-type]
        (["a"], "returned a str, not an Emission."),
    ],
)
def test_what_a_session_says_is_checked_too(value: object, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_emissions(value, "mine")
    assert reason in str(caught.value)


def test_a_session_of_ones_own_says_plain_text() -> None:
    class Mine:
        def open(self, spec: SessionSpec) -> "Mine":
            return self

        def feed(self, frames: object) -> Any:
            return np.str_("now")

        def ask(self, query: Query, must_answer: bool) -> Any:
            return Emission(text=5)  # type: ignore[arg-type]

    model: Any = of_object(Mine(), "mine")

    async def body() -> None:
        session = await model.open(SessionSpec())
        (emission,) = await session.feed([])
        assert type(emission.text) is str and emission.text == "now"
        with pytest.raises(Rejected, match=r"mine: Emission\.text is an int, not text"):
            await session.ask(Query(id="1", text="?"), must_answer=True)

    asyncio.run(body())


def test_half_of_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert check_reply(Reply(text="a\udc80", stop="\udc80"), "mine") == Reply(text="a?", stop="?")


def test_a_question_in_text_of_another_library_is_asked_and_stored(tmp_path: Path) -> None:
    def sample(row_index: int, row: Row) -> Sample:
        return Sample(
            id=row["id"], question=np.str_(row["q"]), target=row["a"], data={"n": np.int64(3)}
        )

    finished = run(tmp_path, Says(lambda request: "yes"), benchmark(n=2, sample=sample))
    question, _ = Run(finished.run).questions()
    assert (question.question, question.data) == ("question 0", {"n": 3})
