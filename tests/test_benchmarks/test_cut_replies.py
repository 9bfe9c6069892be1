"""Letters in replies that were cut at the token limit, by our own rules."""

from dataclasses import replace

import pytest

from snellen.benchmarks.families.tasks import parse_letter, scorings
from snellen.benchmarks.mathvista import robust_answer
from snellen.core import Reply, Sample

SAMPLE = Sample(
    id="1",
    question="Which one?",
    choices=("salt", "sugar", "pepper", "flour"),
    target="D",
    data={"precision": None},
)


def cut(text: str) -> Reply:
    return Reply(text=text, stop="length")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("There are several possibilities, among them (D) and then I would", "only letter"),
        ("There are several possibilities, among them C) pepper and then I", "letter and choice"),
        ("Pepper. It is the one that", "begins with choice"),
        ("I see pepper on the table and also", "only choice"),
    ],
)
def test_a_letter_that_a_cut_reply_only_mentions_is_no_answer(text: str, rule: str) -> None:
    complete = parse_letter(Reply(text=text), SAMPLE)
    assert complete.rule == rule
    assert complete.answer is not None
    for parse in (parse_letter, robust_answer, scorings("mcq")["default"].parse):
        reading = parse(cut(text), SAMPLE)
        assert (reading.answer, reading.rule) == (None, f"cut: {rule}")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("D", "letter"),
        ("flour", "choice"),
        ("<answer>D</answer> because the", "answer tag"),
        (r"So it is \boxed{D}. To check, we", "boxed"),
        ("The answer is D, because the", "the answer is"),
        ("I choose option D, because the", "option"),
        ("D is correct, because the", "is right"),
        ("It is white. So D. To check the", "concludes"),
        ("D. flour, because the", "begins with"),
    ],
)
def test_a_letter_that_a_cut_reply_states_is_an_answer(text: str, rule: str) -> None:
    reading = parse_letter(cut(text), SAMPLE)
    assert (reading.answer, reading.rule) == ("D", rule)


def test_choices_with_the_same_text_do_not_make_a_cut_reply_an_answer() -> None:
    sample = replace(SAMPLE, choices=("salt", "sugar", "flour", "flour"))
    text = "I would think of (C) or maybe of (D) and"
    assert robust_answer(Reply(text=text), sample).answer == "C"
    assert robust_answer(cut(text), sample).answer is None
