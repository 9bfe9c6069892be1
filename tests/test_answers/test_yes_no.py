"""Whether a reply says yes or no. Replies were written for this table and read by a person."""

# ruff: noqa: RUF001  # Chinese has wide signs

import pytest

from snellen.answers.yes_no import yes_or_no

DOG = "Is there a dog in the image?"


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("Yes", "yes", "alone"),
        ("no.", "no", "alone"),
        ("**Yes**", "yes", "alone"),
        ('"No!"', "no", "alone"),
        ("Y", "yes", "alone"),
        ("n", "no", "alone"),
        ("True.", "yes", "alone"),
        ("ＹＥＳ！", "yes", "alone"),
        ("是", "yes", "alone"),
        ("不是。", "no", "alone"),
        ("<think>yes, or is it</think>\nNo", "no", "alone"),
        ("so yes</think> No", "no", "alone"),
        ("I see it. <answer>Yes</answer>", "yes", "answer tag"),
        ("No cat, so <answer> yes, a dog", "yes", "answer tag"),
        (r"So $\boxed{\text{No}}$", "no", "boxed"),
        ("The answer is yes, as no cat is there", "yes", "the answer is"),
        ("No cat here.\n\n**Answer:** Yes", "yes", "the answer is"),
        ("The answer to the question is no", "no", "the answer is"),
        ("答案：否", "no", "the answer is"),
        ("No... wait, yes.", "yes", "takes back"),
        ("Yes. Actually, no, it is a cat.", "no", "takes back"),
        ("Yes, there is no cat.", "yes", "begins with"),
        ("No dogs are there.", "no", "begins with"),
        ("- No: only a cat", "no", "begins with"),
        ("Yeah it is", "yes", "begins with"),
        ("Definitely not a dog", "no", "begins with"),
        ("Not really.", "no", "begins with"),
        ("是的，有一只狗", "yes", "begins with"),
        ("没有，只有猫", "no", "begins with"),
        ("I see a tail, so yes, there is one.", "yes", "called out"),
        ("Asked for yes or no: no.", "no", "called out"),
        ("No doubt the reply is yes.", "yes", "called out"),
        ("There is a dog.", "yes", "says the question"),
        ("There is a dog in the picture, on a couch.", "yes", "says the question"),
        ("There are no dogs", "no", "says the question"),
        ("There isn't a dog", "no", "says the question"),
        ("The image does not contain a dog.", "no", "says the question"),
    ],
)
def test_a_reply_that_says_yes_or_no_is_read(reply: str, answer: str, rule: str) -> None:
    reading = yes_or_no(reply, DOG)
    assert (reading.answer, reading.rule, reading.candidates) == (answer, rule, (answer,))


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("Yes and no.", "several: begins with"),
        ("yes/no", "several: begins with"),
        ("No, yes", "several: begins with"),
        ("The answer is yes. The answer is no.", "several: the answer is"),
        (r"\boxed{yes} or \boxed{no}", "several: boxed"),
        ("Perhaps yes, or perhaps no.", "several: called out"),
        ("<think>yes", "neither yes nor no"),
        ("", "neither yes nor no"),
        ("I'm sorry, I can't do that.", "does not know"),
        ("It is not possible to tell from the picture.", "does not know"),
        ("I cannot say yes or no", "does not know"),
        ("Is it yes or no", "neither yes nor no"),
        ("Not sure", "neither yes nor no"),
        ("No idea.", "neither yes nor no"),
        ("The answer is not yes.", "neither yes nor no"),
        ("True colours", "neither yes nor no"),
        ("Nothing. Yesterday, eyes.", "neither yes nor no"),
        ("no-one", "neither yes nor no"),
        ("是否", "neither yes nor no"),
        ("是红色", "neither yes nor no"),
        ("Is there a dog?", "neither yes nor no"),
        ("There is a cat, not a dog.", "neither yes nor no"),
        ("There is no cat but a dog.", "neither yes nor no"),
        ("There may be a dog.", "neither yes nor no"),
        ("There is a dog house.", "neither yes nor no"),
        ("There is not no dog.", "neither yes nor no"),
    ],
)
def test_a_reply_that_says_both_or_neither_is_left_unread(reply: str, rule: str) -> None:
    reading = yes_or_no(reply, DOG)
    assert (reading.answer, reading.rule) == (None, rule)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Is the right disc larger than the left one?", "The left disc is larger than the right."),
        ("Is there a red car?", "There is a red bus and a blue car."),
        ("Isn't there no car?", "There is no car."),
        ("What is it?", "It is a car."),
        ("", "There is a car."),
    ],
)
def test_a_statement_that_is_not_the_question_is_left_unread(question: str, reply: str) -> None:
    assert yes_or_no(reply, question).answer is None


def test_a_statement_of_what_is_asked_means_yes() -> None:
    reading = yes_or_no("The man opens the door.", "Look. Does the man open the door?")
    assert reading.answer == "yes"
