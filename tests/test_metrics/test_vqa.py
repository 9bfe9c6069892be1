"""VQA accuracy: the formula by hand, and where the tools that have it differ."""

import math

import pytest

from snellen.metrics.vqa import (
    LONGEST_KEPT,
    stvqa_accuracy,
    textvqa_accuracy,
    textvqa_accuracy_vlmevalkit,
    vqa_accuracy,
    vqa_accuracy_always,
    vqa_accuracy_lavis,
    vqa_accuracy_mmpretrain,
)

RULES = (
    textvqa_accuracy,
    textvqa_accuracy_vlmevalkit,
    vqa_accuracy,
    vqa_accuracy_always,
    vqa_accuracy_lavis,
    vqa_accuracy_mmpretrain,
)


def repeat_answers(*answers: tuple[str, int]) -> list[str]:
    return [answer for answer, times in answers for _ in range(times)]


@pytest.mark.parametrize(
    ("people", "accuracy"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (9, 1.0)]
)
def test_each_of_ten_is_left_out_in_turn(people: int, accuracy: float) -> None:
    references = repeat_answers(("cat", people), ("dog", 10 - people))
    assert vqa_accuracy("cat", references) == accuracy
    assert textvqa_accuracy("cat", references) == accuracy


@pytest.mark.parametrize(
    ("answer", "references", "accuracy"),
    [
        ("STOP sign?", ["yield", "the stop, sign"], 1.0),
        ("two", ["2"], 1.0),
        ("Joe's", ["joe 's"], 1.0),
        ("stop", ["stop sign"], 0.0),
        # Both are nothing when articles are gone.
        ("the", ["a"], 1.0),
        ("", ["stop"], 0.0),
    ],
)
def test_st_vqas_accuracy_asks_for_one_equal_answer_of_any_number(
    answer: str, references: list[str], accuracy: float
) -> None:
    assert stvqa_accuracy(answer, references) == accuracy


def test_a_hand_count_of_fewer_people() -> None:
    # Of five, two said it: left out in turn, two see 1/3 and three 2/3.
    assert math.isclose(
        vqa_accuracy("a b", repeat_answers(("b", 2), ("c", 3))), (2 / 3 + 3 * 2 / 3) / 5
    )
    # One person alone has nobody to agree with.
    assert vqa_accuracy("red", ["red"]) == 0.0


def test_answers_are_normalized_only_where_people_differ() -> None:
    assert vqa_accuracy("Red", repeat_answers(("red", 10))) == 0.0
    assert vqa_accuracy("red", repeat_answers(("Red", 10))) == 0.0
    assert vqa_accuracy("Red", repeat_answers(("red", 9), ("Red", 1))) == 1.0


def test_people_who_differ_in_blanks_at_the_ends_agree() -> None:
    assert vqa_accuracy("Red", repeat_answers(("red", 5), ("red\n", 5))) == 0.0
    assert vqa_accuracy("red\t", repeat_answers(("red", 5), ("red\n", 5))) == 1.0


def test_silence_is_worth_what_people_said_that_normalizes_to_nothing() -> None:
    assert vqa_accuracy("", repeat_answers(("the", 2), ("stop", 8))) == 0.6
    assert vqa_accuracy("", repeat_answers(("the", 10))) == 0.0


def test_lmms_eval_always_normalizes() -> None:
    assert vqa_accuracy_always("Red", repeat_answers(("red", 10))) == 1.0


def test_lavis_leaves_people_their_articles_capitals_and_numbers() -> None:
    assert vqa_accuracy_lavis("two", repeat_answers(("two", 6), ("2", 4))) == 1.0
    assert vqa_accuracy_lavis("two", repeat_answers(("two", 7), ("2", 3))) == 0.9
    assert vqa_accuracy_lavis("the cat", repeat_answers(("the cat", 9), ("cat", 1))) == 0.3


def test_lavis_drops_peoples_punctuation_only_where_they_differ() -> None:
    assert vqa_accuracy_lavis("a t-shirt", repeat_answers(("t-shirt", 10))) == 0.0
    assert vqa_accuracy_lavis("a t-shirt", repeat_answers(("t-shirt", 9), ("shirt", 1))) == 1.0


def test_lavis_leaves_line_ends_in_what_people_said() -> None:
    assert vqa_accuracy_lavis("red\n", repeat_answers(("red", 5), ("red\n", 5))) == 1.0
    assert vqa_accuracy_lavis("red\n", repeat_answers(("red", 1), ("red\n", 9))) == 0.3


@pytest.mark.parametrize(("people", "accuracy"), [(0, 0.0), (1, 1 / 3), (2, 2 / 3), (3, 1.0)])
def test_mmpretrain_leaves_nobody_out(people: int, accuracy: float) -> None:
    references = repeat_answers(("cat", people), ("dog", 10 - people))
    assert math.isclose(vqa_accuracy_mmpretrain("the cat", references), accuracy)


def test_vlmevalkit_takes_a_number_with_a_full_stop_for_another() -> None:
    assert textvqa_accuracy_vlmevalkit("3.", repeat_answers(("3", 10))) == 0.0
    assert textvqa_accuracy("3.", repeat_answers(("3", 10))) == 1.0


def test_textvqa_normalizes_though_all_agree() -> None:
    assert textvqa_accuracy("STOP, sign?", repeat_answers(("stop sign", 10))) == 1.0


@pytest.mark.parametrize("rule", RULES)
def test_without_people_there_is_no_accuracy(rule) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="cannot be scored without people's answers"):
        rule("cat", [])


@pytest.mark.parametrize("rule", [*RULES, stvqa_accuracy])
def test_one_text_is_no_list_of_peoples_answers(rule) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError, match=r"references must be a list of answers, .*\['red'\]"):
        rule("red", "red")


@pytest.mark.parametrize("rule", [*RULES, stvqa_accuracy])
def test_no_answer_is_not_an_empty_one(rule) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError, match="an answer must be text, not a NoneType"):
        rule(None, ["red"])


@pytest.mark.parametrize("rule", RULES)
def test_an_answer_of_any_length_is_normalized(rule) -> None:  # type: ignore[no-untyped-def]
    long = "x" * LONGEST_KEPT
    assert rule(f"The {long}!", repeat_answers((long, 5), ("y", 5))) == 1.0
