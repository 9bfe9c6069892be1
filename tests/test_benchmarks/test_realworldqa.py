"""RealWorldQA's two layouts, its questions without choices, and its scorings."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks.realworldqa import INSTRUCTION, Preset, realworldqa
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image

LISTED = f"Which way?\n\nA. Left\nB. Straight on\n{INSTRUCTION}"
OPEN = "How many cars? Please answer directly with a single word or number."


def sample_of(tmp_path: Path, **fields: Any) -> Sample:
    (tmp_path / "annotations.json").write_text(json.dumps([fields]), encoding="utf-8")
    benchmark = realworldqa(data=tmp_path)
    return benchmark.sample(0, next(iter(benchmark.data)))


def test_choices_are_read_out_of_the_question(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, image="0.webp", question=LISTED, answer="B")
    assert sample.question == "Which way?"
    assert (sample.choices, sample.target) == (("Left", "Straight on"), "B")
    (picture,) = sample.media
    assert isinstance(picture, Image) and picture.label == "images/0.webp"


def test_a_question_without_choices_has_a_text_as_answer(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, image="0.webp", question=OPEN, answer="3")
    assert (sample.choices, sample.target) == ((), "3")


def test_an_answer_that_is_no_letter_of_a_choice_is_a_text(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, image="0.webp", question=LISTED, answer="Left")
    assert (sample.question, sample.choices, sample.target) == (LISTED, (), "Left")


@pytest.mark.parametrize(
    ("prompt", "question", "text"),
    [
        ("official", LISTED + "\n", LISTED + "\n"),
        ("lmms-eval", LISTED + "\n", LISTED),
        (
            "vlmevalkit",
            LISTED,
            "Question: Which way?\nOptions:\nA. Left\nB. Straight on\n"
            "Please select the correct answer from the options above. \n",
        ),
        ("vlmevalkit", OPEN, OPEN),
    ],
)
def test_prompts(prompt: Preset, question: str, text: str, tmp_path: Path) -> None:
    answer = "B" if question != OPEN else "3"
    sample = sample_of(tmp_path, image="0.webp", question=question, answer=answer)
    (message,) = realworldqa(prompt).prompt(sample, ())
    assert message.content[1:] == (text,)


def test_a_row_with_choices_in_columns_is_asked_in_the_authors_words(tmp_path: Path) -> None:
    fields = {
        "index": "4",
        "question": "Which way?",
        "A": "Left",
        "B": "Straight on",
        "answer": "B",
        "image": (Image(b"x", "image"),),
    }
    benchmark = realworldqa(data=tmp_path)
    sample = benchmark.sample(0, Row(fields, 0))
    (message,) = benchmark.prompt(sample, ())
    assert (sample.id, message.content[1:]) == ("4", (LISTED,))


@pytest.mark.parametrize(
    ("scoring", "target", "reply", "value"),
    [
        ("lmms-eval", "3", "3.", 1.0),
        ("lmms-eval", "3", "three", 0.0),
        ("lmms-eval", "No", " no ", 1.0),
        ("lmms-eval", "No", "No, it is not", 0.0),
        ("robust", "3", "There are three cars, so the answer is three.", 1.0),
        ("robust", "No", "", 0.0),
        ("vlmevalkit", "3", "3", 0.0),  # VLMEvalKit scores letters only
    ],
)
def test_open_questions(scoring: str, target: str, reply: str, value: float) -> None:
    sample = Sample(id="0", question=OPEN, target=target)
    rule = realworldqa().scorings[scoring]
    assert rule.score(rule.parse(Reply(text=reply), sample), sample) == value
