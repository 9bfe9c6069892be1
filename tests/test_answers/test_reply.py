"""What of a reply is read."""

import pytest

from snellen.answers.reply import ENDS, REFUSES, final_text


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("B", "B"),
        ("<think>A</think>B", "B"),
        ("<think>A</think>B<think>C</think>D", "BD"),
        ("<think><think>A</think>C</think>B", "B"),
        ("A</think>B", "B"),
        ("B<think>A", "B"),
        ("<think>A", ""),
        ("<thinking>A</thinking>B", "B"),
        ("<reasoning>A</reasoning>B", "B"),
        ("B</s>", "B"),
        (" B<|im_end|>\n", "B"),
    ],
)
def test_thinking_and_marks_of_the_end_are_left_out(reply: str, kept: str) -> None:
    assert final_text(reply) == kept


def test_a_reply_of_the_allowed_length_is_read_whole() -> None:
    text = "a" * ENDS + "b" * ENDS

    assert final_text(text) == text


def test_of_a_longer_reply_the_two_ends_are_read() -> None:
    assert final_text("a" * ENDS + "c" + "b" * ENDS) == "a" * ENDS + "\n\n" + "b" * ENDS


@pytest.mark.parametrize(
    "reply",
    [
        "I'm unable to determine the correct option.",
        "We cannot answer this.",
        "There is not enough information.",
        "The correct option is not provided.",
        "It is not among the given choices.",
        "None of the options match.",
        "Please provide the image.",
        "无法确定",
    ],
)
def test_a_reply_that_cannot_tell_is_known_by_its_words(reply: str) -> None:
    assert REFUSES.search(reply)


@pytest.mark.parametrize("reply", ["It cannot be A.", "Not a dog.", "The dog is not near."])
def test_a_reply_that_denies_something_tells_all_the_same(reply: str) -> None:
    assert not REFUSES.search(reply)
