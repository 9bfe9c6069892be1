"""CountBench's files, prompts, and the quirks of three rules."""

from pathlib import Path

import pytest

from snellen.benchmarks.countbench import countbench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image

TWO = Sample(id="0", question="How many?", target="2", data={"hint": "", "image": "1"})


@pytest.mark.parametrize(
    ("scoring", "reply", "value"),
    [
        ("official", "2", 1.0),
        ("official", "Two", 1.0),
        ("official", "2.", 0.0),
        ("official", " 2", 0.0),
        ("official", "There are 2", 0.0),
        ("lmms-eval", " TWO\n", 1.0),
        ("lmms-eval", "2.", 0.0),
        ("vlmevalkit", "12", 1.0),
        ("vlmevalkit", "2 or 3", 1.0),
        ("vlmevalkit", "two", 0.0),
        ("robust", "There are two.", 1.0),
        ("robust", "12", 0.0),
        ("robust", "2 or 3", 0.0),
    ],
)
def test_what_a_reply_counts(scoring: str, reply: str, value: float) -> None:
    rule = countbench().scorings[scoring]
    assert rule.score(rule.parse(Reply(text=reply), TWO), TWO) == value


@pytest.mark.parametrize("field", ["number", "answer"])
def test_the_number_is_in_the_hubs_field_or_the_toolkits(field: str, tmp_path: Path) -> None:
    fields = {"question": " How many? ", field: 7, "image": Image(b"x", "image"), "text": "seven"}
    sample = countbench(data=tmp_path).sample(0, Row(fields, 0))
    assert (sample.question, sample.target, sample.tags) == ("How many?", "7", {"number": "7"})


def test_the_prompts() -> None:
    (kit,), (lmms,) = (countbench(name).prompt(TWO, ()) for name in ("vlmevalkit", "lmms-eval"))
    assert kit.content == (
        "How many? Note that: answer with a number directly e.g. 3. Do not include any additional "
        "text.",
    )
    assert lmms.content == (
        "Look at the image carefully and count the objects. Answer with just a number, without any "
        "additional text. How many?",
    )


def test_the_headline_is_official_with_any_prompt() -> None:
    assert [countbench(name).headline for name in ("vlmevalkit", "lmms-eval")] == ["official"] * 2
