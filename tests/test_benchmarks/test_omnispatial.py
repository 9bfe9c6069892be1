"""OmniSpatial's system messages, its rows, and the quirks of its rules."""

import hashlib
from pathlib import Path

import pytest

from snellen.benchmarks.omnispatial import Preset, omnispatial
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.media.content import Image

BUNDLED = Path(omnispatial.__code__.co_filename).parent / "rows" / "omnispatial"
SAMPLE = Sample(id="0", question="?", choices=("x", "y", "z"), target="B")


@pytest.mark.parametrize(
    ("prompt", "digest"),
    [
        # SYS_PROMPTS[...] + "\n" + FORMAT_PROMPTS[...] of the authors' system_prompts.py
        ("manual-cot", "9811eea7073f08e38cd0d7e67f575ebeb309e33e3c362692d6a4a3ed0d1cfa69"),
        ("zeroshot-cot", "d79d3f902d0b1228de8832bdebe2a6dc4df8fa43f139c633ca4a0a93e6f6e5ae"),
        ("default", "ae87f51a84bb65ffbcf7390fe65e3ec73c5a3eddc7488eec846fb9c53af5ec9b"),
        ("direct", "c8d2b156ff931023b684b7141f35523d46e082258ccc93a67bc78f96429f74c8"),
    ],
)
def test_system_messages_are_the_authors(prompt: Preset, digest: str) -> None:
    system, _ = omnispatial(prompt).prompt(SAMPLE, ())
    assert hashlib.sha256(system.text.encode()).hexdigest() == digest


def test_the_question_comes_before_the_picture() -> None:
    benchmark = omnispatial(data=BUNDLED)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    _, user = benchmark.prompt(sample, ())
    text, picture = user.content
    assert text == "Which disc will fall first?\nA. The red one\nB. The blue one\n"
    assert isinstance(picture, Image) and picture.label == "Dynamic_Reasoning/1.png"
    assert (sample.id, sample.target) == ("Dynamic_Reasoning_1_0", "A")


@pytest.mark.parametrize(
    ("reply", "answer", "value"),
    [
        ("Answer: A\nAnswer : B", "B", 1.0),
        ("ANSWER: B.", "B", 1.0),
        ("Answer: b", "b", 0.0),
        ("Answer: **B**", "A", 0.0),
        ("Answer: Both", "A", 0.0),
        ("B", "A", 0.0),
    ],
)
def test_the_letter_after_answer_counts_and_otherwise_a(
    reply: str, answer: str, value: float
) -> None:
    scoring = omnispatial().scorings["official"]
    reading = scoring.parse(Reply(text=reply), SAMPLE)
    assert (reading.answer, scoring.score(reading, SAMPLE)) == (answer, value)
    assert reading.guessed == (answer == "A")


@pytest.mark.parametrize(("reply", "value"), [(" b", 1.0), ("Both", 1.0), ("Answer: B", 0.0)])
def test_a_direct_reply_counts_by_its_first_character(reply: str, value: float) -> None:
    scoring = omnispatial("direct").scorings["official"]
    assert scoring.score(scoring.parse(Reply(text=reply), SAMPLE), SAMPLE) == value
