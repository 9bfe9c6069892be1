"""VisualPuzzles' rows with and without texts of choices, its prompts, and its rules in order."""

from pathlib import Path

import pytest

from snellen.benchmarks.visualpuzzles import Preset, visualpuzzles
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image

STEPS = (
    "Solve the multiple-choice question and then answer with the option letter from the given "
    "choices. The last line of your response should be of the following format:"
)
LAST = (
    "'Answer: $LETTER' (without quotes) where LETTER is one of options. Think step by step before "
    "answering."
)


def sample_of(tmp_path: Path, options: object) -> Sample:
    fields = {
        "id": 5,
        "question": "Which? ",
        "options": options,
        "answer": "B",
        "category": "Spatial",
        "image": Image(b"x", "image"),
    }
    return visualpuzzles(data=tmp_path).sample(0, Row(fields, 0))


def test_choices_in_the_picture_are_letters(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, None)
    assert (sample.id, sample.choices, sample.target) == ("5", ("A", "B", "C", "D"), "B")
    assert sample.tags == {"category": "Spatial", "difficulty": ""}


@pytest.mark.parametrize(
    ("prompt", "options", "text"),
    [
        (
            "cot",
            ["x", "y", "z", "w"],
            f"Question: Which?\nOptions:\n(A) x\n(B) y\n(C) z\n(D) w\n{STEPS} {LAST}",
        ),
        (
            "direct",
            None,
            "Question: Which?\nOptions: Choose from (A) (B) (C) (D) in the image.\nAnswer the "
            "question with the option's letter from the given choices directly.",
        ),
        (
            "vlmevalkit",
            "['x', 'y', 'z', 'w']",
            f"Which? \nOptions:\n(A) x\n(B) y\n(C) z\n(D) w\n{STEPS}{LAST}",
        ),
    ],
)
def test_prompts(prompt: Preset, options: object, text: str, tmp_path: Path) -> None:
    (message,) = visualpuzzles(prompt).prompt(sample_of(tmp_path, options), ())
    assert message.content[1:] == (text,)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: A\nFinal Answer: B", "A"),  # "Final Answer" counts only without another one
        ("Final Answer: B", "B"),
        ("Answer: Cannot say", "C"),
        ("answer: b", None),
        ("answer: red", "A"),
        ("answer: Blue", "B"),  # not after "answer:", but it is the choice that occurs last
        ("first red, then Blue", "B"),
        ("D", "D"),
        ("I say D", None),
        ("", None),
    ],
)
def test_the_official_rules_in_their_order(reply: str, answer: str | None) -> None:
    sample = Sample(id="0", question="?", choices=("red", "Blue", "green", "white"), target="A")
    reading = visualpuzzles().scorings["official"].parse(Reply(text=reply), sample)
    assert reading.answer == answer
    assert reading.undecided == (answer is None)


def test_a_drawn_letter_is_visible_as_guessed() -> None:
    sample = Sample(id="0", question="?", choices=tuple("ABCD"), data={"listed": False})
    reading = visualpuzzles().scorings["official"].parse(Reply(text="no idea"), sample)
    assert reading.guessed and reading.candidates == ("A", "B", "C", "D")


def test_vlmevalkit_takes_the_last_letter_after_answer() -> None:
    sample = Sample(id="0", question="?", choices=tuple("ABCD"))
    parse = visualpuzzles().scorings["vlmevalkit"].parse
    assert parse(Reply(text="Answer: A. No, answer : b"), sample).answer == "B"
    assert parse(Reply(text="B"), sample).answer is None
