"""The phrase that a reply of one sentence states."""

import pytest

from snellen.answers.statement import stated_phrase


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The picture shows MBMM.", "MBMM"),
        ("The picture shows MBMM", "MBMM"),
        ("The number written in the picture is **79,878**.", "79,878"),
        ("The color of the circle is red.", "red"),
        ("The sign says: \u201cOpen\u201d.", "Open"),
        ("It's red.", "red"),
        ("It reads 3.5.", "3.5"),
        ("There are 5 triangles.", "5 triangles"),
        ("I can see MBMM.", "MBMM"),
    ],
)
def test_a_single_sentence_states_what_follows_its_verb(reply: str, answer: str) -> None:
    assert stated_phrase(reply)[:2] == (answer, "one sentence")


@pytest.mark.parametrize(
    "reply",
    [
        "MBMM",
        "The Beatles",
        "The car is not red.",
        "The cat is on the mat.",
        "If it were red, the car would be a taxi.",
        "The picture shows letters. They are small.",
        "A man who is riding a horse",
        "it",
    ],
)
def test_other_replies_are_a_phrase_as_they_stand(reply: str) -> None:
    assert stated_phrase(reply)[:2] == (reply.removesuffix("."), "whole reply")


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("The answer is 79878.", "79878", "the answer is"),
        ("The answer is 79878", "79878", "the answer is"),
        (r"The volume is \boxed{8}.", "8", "boxed"),
        ("The answer is 3. No, the answer is 4.", "4", "the last answer is"),
        ("", None, "nothing said"),
    ],
)
def test_the_rules_of_the_final_phrase_come_first(
    reply: str, answer: str | None, rule: str
) -> None:
    assert stated_phrase(reply)[:2] == (answer, rule)


def test_the_last_of_several_stated_answers_corrects_the_others() -> None:
    phrase = stated_phrase("The answer is red. Wait, the answer is blue. No: the answer is red.")

    assert (phrase.answer, phrase.rule) == ("red", "the last answer is")
