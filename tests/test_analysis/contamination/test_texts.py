"""The same question in other words is the same question; another one is not."""

import pytest

from snellen.analysis.contamination.texts import Grams, alike, has, words


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("What color is the cat?", "what color is the cat"),
        ("What colour is the bus?", "What color is the bus?"),
        ("<image>\nPlease, what is the value?", "What is the value?"),
        ("图中有几只猫?", "图中有几只猫"),
        ("\uff21\uff22\uff23 is 3?", "abc is 3"),  # of full width
    ],
)
def test_these_ask_the_same(a: str, b: str) -> None:
    assert alike(words(a), words(b)) > 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Is there a cat in the image?", "Is there a bat in the image?"),
        ("Is the cat left of the dog?", "Is the dog left of the cat at all?"),
        ("What is 12 plus 7?", "What is 12 plus 8?"),
        ("Which one is moving?", "Which one is not moving?"),
        ("Is it on the table?", "Is it under the table?"),
        ("the man bites a dog", "a dog bites the man"),
        ("图中有几只猫?", "图中有几只狗?"),
        ("", "the"),
        # Two of MathVision's: the order of the numbers is what is asked about.
        ("Five cards lie in the order 1, 3, 5, 4, 2", "Five cards lie in the order 5, 1, 4, 3, 2"),
    ],
)
def test_these_do_not(a: str, b: str) -> None:
    assert alike(words(a), words(b)) == 0


def test_of_a_long_text_a_tenth_may_differ_but_no_number() -> None:
    long = (
        "a train leaves the old station at nine and "
        + "runs along the river " * 5
        + "in 40 minutes"
    )
    assert alike(words(long), words(long.replace("old", "new"))) > 0
    assert alike(words(long), words(long.replace("40", "50"))) == 0


def test_a_part_is_found_by_whole_words() -> None:
    assert has(words("it is a red car"), words("red car"))
    assert not has(words("it is a red cart"), words("red car"))
    assert not has(words("anything"), ())


QUESTION = "how many of the small red squares lie between the two long black lines"
# 14 words: 7 n-grams of 8 words


def test_a_question_is_found_in_a_text_around_it() -> None:
    grams = Grams([words(QUESTION), words("another one of at least eight words that is not there")])
    [(text, question, share)] = grams.near([words("nothing"), words(f"We ask {QUESTION} now.")])
    assert (text, question) == (1, 0)
    assert 0.99 < share < 1


def test_a_question_of_which_most_is_there_is_near_and_half_is_not() -> None:
    grams = Grams([words(QUESTION)])
    of = words(QUESTION)
    # Without its last two words 5 of 7 n-grams are left, without three 4.
    [(_, _, share)] = grams.near([of[:-2]])
    assert share == pytest.approx(5 / 7)
    assert list(grams.near([of[:-3]])) == []


def test_what_more_than_ten_questions_share_proves_nothing() -> None:
    form = "answer the question with one word from the picture alone please and what is"
    grams = Grams([words(f"{form} {n} {'abcdefghijkl'[n]}") for n in range(12)])
    assert list(grams.near([words(form)])) == []


def test_short_and_no_texts_have_no_n_grams() -> None:
    assert list(Grams([words("what is it"), ()]).near([words("what is it"), ()])) == []
    assert list(Grams([]).near([words(QUESTION)])) == []


def test_n_grams_do_not_go_over_the_end_of_a_text() -> None:
    of = words(QUESTION)
    assert list(Grams([of]).near([of[:7], of[7:]])) == []
