"""What the benchmarks in perf/ rely on: replies that parsers read as intended, and the memory of a
command without that of the process that started it."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from snellen.answers.choice import option_letter
from snellen.answers.phrase import final_phrase
from snellen.answers.value import final_value
from snellen.answers.yes_no import yes_or_no

PERF = Path(__file__).parents[1] / "perf"
READ: dict[str, Callable[[Any, str], str | None]] = {
    "choices": lambda question, text: option_letter(text, question.choices).answer,
    "numbers": lambda _, text: final_value(text).answer,
    "open": lambda _, text: final_phrase(text).answer,
    "yes-no": lambda question, text: yes_or_no(text, question.text).answer,
}
LENGTHS = {"reasoning": (1400, 2200), "long": (14_500, 16_500), "untagged": (14_500, 16_000)}
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def imported() -> Iterator[Callable[[str], ModuleType]]:
    sys.path.insert(0, str(PERF))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(PERF))


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("form", ["letter", "sentence", "reasoning", "long", "untagged"])
def test_every_reply_of_a_benchmark_is_read_as_it_was_meant(
    imported: Callable[[str], ModuleType], kind: str, form: str
) -> None:
    replies = imported("_replies")
    for number in range(40):
        question = replies.question(kind, number)
        text = replies.reply(question, form)
        least, most = LENGTHS.get(form, (1, 120))
        assert least <= len(text) <= most, text
        assert READ[kind](question, text) == question.answer, text


@pytest.mark.parametrize("kind", READ)
def test_seven_of_ten_replies_are_right(imported: Callable[[str], ModuleType], kind: str) -> None:
    questions = [imported("_replies").question(kind, number) for number in range(100)]
    assert sum(question.answer == question.target for question in questions) == 70


@pytest.mark.parametrize("kind", READ)
def test_no_two_questions_have_the_same_worded_reply_or_the_same_choices(
    imported: Callable[[str], ModuleType], kind: str
) -> None:
    replies = imported("_replies")
    questions = [replies.question(kind, number) for number in range(300)]
    assert len({replies.reply(question, "reasoning") for question in questions}) == 300
    if kind == "choices":
        assert len({question.choices for question in questions}) == 300


def test_the_memory_of_a_command_is_not_that_of_the_process_that_started_it(
    imported: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    commands, log = imported("_commands"), tmp_path / "log.txt"
    ballast = bytearray(b"x") * (200 * MEGABYTE)
    small = commands.measured([sys.executable, "-S", "-c", "pass"], log)
    large = commands.measured([sys.executable, "-c", "b'x' * 100_000_000"], log)
    assert len(ballast) == 200 * MEGABYTE
    assert small["memory"] < 50
    assert 100 < large["memory"] < 150


def test_a_command_that_fails_ends_the_measurement_with_its_output(
    imported: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="something broke"):
        imported("_commands").measured(
            [sys.executable, "-c", "raise SystemExit('something broke')"], tmp_path / "log.txt"
        )
