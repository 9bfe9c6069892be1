"""Which choice a reply commits to. Replies were written for this table and read by a person."""

import pytest

from snellen.answers.choice import option_letter

CHOICES = ["a cat", "a dog", "a hot dog", "none"]


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("B", "B", "letter"),
        ("b", "B", "letter"),
        ("**B**", "B", "letter"),
        ("(B).", "B", "letter"),
        ("A dog.", "B", "choice"),
        ("$\\boxed{\\text{C}}$", "C", "boxed"),
        ("The answer is (B).", "B", "the answer is"),
        ("Answer: a", "A", "the answer is"),
        ("The correct option is **C**", "C", "the answer is"),
        ("The answer is B because A is wrong", "B", "the answer is"),
        ("Option A is wrong; the answer is B", "B", "the answer is"),
        ("Looking at it, option B is right, not A", "B", "option"),
        ("B. a dog", "B", "begins with"),
        ("B: it barks", "B", "begins with"),
        ("I would say B here", "B", "only letter"),
        ("I think it is a hot dog", "C", "only choice"),
        ("The answer is a cat, surely", "A", "only choice"),
        ("None of the above", "D", "only choice"),
    ],
)
def test_a_reply_that_commits_to_a_choice_is_read(reply: str, answer: str, rule: str) -> None:
    found = option_letter(reply, CHOICES)

    assert (found.answer, found.rule) == (answer, rule)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "A B C D",
        "A or B",
        "A, B",
        "Both A and B",
        "The answer is A or B",
        "A. a cat\nB. a dog\nC. a hot dog\nD. none",
        "There is a dog and a cat",
        "A man stands there",
        "I cannot see it",
        "The answer is not B",
        "The answer isn't A, it is B",
        "E",
        "Yes and no",
        "1 2 3",
        "CATALOG",
    ],
)
def test_a_reply_that_commits_to_none_is_unparsed(reply: str) -> None:
    assert option_letter(reply, CHOICES).answer is None


def test_a_letter_means_the_letter_where_a_choice_has_another_letters_text() -> None:
    assert option_letter("A", ["B", "A"]).answer == "A"


def test_two_choices_of_the_same_text_are_not_told_apart_by_it() -> None:
    assert option_letter("a cat", ["a cat", "a cat"]).answer is None
