"""Blind models answer in the form that the question asks for."""

import asyncio

import pytest

from snellen.core.model import Request
from snellen.core.profile import Profile
from snellen.media.content import assistant, user
from snellen.models.baseline import Blind, open_model


def first(question: str, *choices: str) -> str:
    return answer("first", Request(messages=(user(question),), choices=choices))


def answer(name: str, request: Request) -> str:
    model = open_model(name, profile=Profile(), api_key=None)
    assert isinstance(model, Blind)
    return asyncio.run(model.generate(request)).text


@pytest.mark.parametrize(
    "question",
    [
        "Which?\nA. a cat\nB. a dog",
        "Which?\n(A) a cat\n(B) a dog",
        "Which? (a) a cat (b) a dog",
        "Which?\n  A) a cat\n  B) a dog",
        "Which?\nA: a cat\nB: a dog",
        "Which? Options: A. a cat; B. a dog",
    ],
)
def test_a_choice_behind_a_letter_is_named_by_the_letter(question: str) -> None:
    assert first(question, "a cat", "a dog") == "A"


@pytest.mark.parametrize(
    "question", ["A cat or a dog?", "Which?\n1. a cat\n2. a dog", "WA. a cat or a dog?"]
)
def test_a_choice_behind_no_letter_is_said_in_words(question: str) -> None:
    assert first(question, "a cat", "a dog") == "a cat"


def test_letters_of_an_earlier_question_are_not_those_of_this_one() -> None:
    turns = (user("Which?\nA. a cat\nB. a dog"), assistant("A"), user("And now, in words?"))
    assert answer("first", Request(messages=turns, choices=("a cat", "a dog"))) == "a cat"


def test_letters_that_a_later_turn_asks_for_are_said() -> None:
    words = user("Therefore, among A through B, the answer is")
    turns = (user("Which?\nA. a cat\nB. a dog"), assistant("Hm."), words)
    assert answer("first", Request(messages=turns, choices=("a cat", "a dog"))) == "A"


def test_marks_in_a_choice_are_only_marks() -> None:
    assert first("Which?\nA. (x+1)*[y]?\nB. 2", "(x+1)*[y]?", "2") == "A"


def test_a_choice_that_is_a_picture_is_named_by_its_letter() -> None:
    # The pictures have replaced the marks in the question, and are no text.
    choices = ("<image_1>", "<image_2>")
    assert first("Which?\nA: \nB: ", *choices) == "A"
    assert first("Which?", *choices) == "<image_1>"


def test_choices_beyond_the_alphabet_are_said_in_words() -> None:
    choices = tuple(str(number) for number in range(100, 140))
    request = Request(messages=(user("Which?"),), choices=(*choices, "the longest"))
    assert answer("longest", request) == "the longest"


def test_another_question_draws_anew() -> None:
    choices = tuple("abcdefghij")
    drawn = {
        answer("random", Request(messages=(user(f"Question {k}"),), choices=choices))
        for k in range(60)
    }
    assert drawn == set(choices)  # one of ten is missing in 60 draws with a probability of 2 %


def test_a_choice_that_is_a_picture_with_a_text_is_named_by_its_letter() -> None:
    assert first("Which?\nA. \nB. ", "<image 1>", "<image_2>") == "A"
    assert first("Which?\nA. red \nB. blue", "red <image 1>", "blue") == "A"
    assert first("Which?", "<image 1>", "<image_2>") == "<image 1>"
