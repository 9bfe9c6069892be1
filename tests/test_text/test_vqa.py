"""Each rule by which VQA's evaluation normalises an answer, with what stands there if it is lost.

Expected texts are those of vqaEval.py (Python 3), LLaVA's m4c_evaluator.py and VLMEvalKit's
vqa_eval.py at the commits that the module names; `tests/parity` has 3,000 more.
"""

import pytest

from snellen.text.vqa import (
    CONTRACTIONS,
    join_lines,
    normalise,
    normalise_textvqa,
    normalise_vlmevalkit,
    plain_words,
    without_punctuation,
)


def test_line_ends_and_tabs_become_blanks() -> None:
    assert join_lines(" two\nred\tcats\r\n") == "two red cats"


# -- punctuation


@pytest.mark.parametrize("sign", [*';/[]"{}()=+\\_-><@`,?!'])
def test_a_sign_between_letters_becomes_a_blank(sign: str) -> None:
    assert without_punctuation(f"a{sign}b") == "a b"


@pytest.mark.parametrize("text", ["a- b", "a -b"])
def test_a_sign_beside_a_blank_is_deleted(text: str) -> None:
    assert without_punctuation(text) == "a b"


def test_a_sign_that_has_a_blank_beside_it_is_deleted_everywhere() -> None:
    assert without_punctuation("a-b c- d") == "ab c d"


def test_blanks_beside_a_sign_are_those_of_the_text_as_it_was() -> None:
    assert without_punctuation("a/-b") == "a  b"


@pytest.mark.parametrize("comma", ["1,000 a-b", "a-b 1,2"])
def test_a_comma_between_digits_has_every_sign_deleted(comma: str) -> None:
    assert "ab" in without_punctuation(comma)


def test_a_comma_between_letters_or_two_commas_are_no_such_comma() -> None:
    assert without_punctuation("a,b") == "a b"
    assert without_punctuation("1,,000") == "1  000"


def test_digits_of_any_script_are_digits() -> None:
    assert without_punctuation("\u0661,\u0662 a-b") == "\u0661\u0662 ab"


@pytest.mark.parametrize("text", ["it's", "10:30", "50%", "$5", "a*b", "a&b"])
def test_other_signs_stay(text: str) -> None:
    assert without_punctuation(f"{text}-c") == f"{text} c"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("3.", "3"),
        (".5", ".5"),
        ("1.5", "1.5"),
        ("e.g. this", "eg this"),
        ("a.5", "a.5"),
        ("..", ""),
    ],
)
def test_a_full_stop_stays_only_before_a_digit(text: str, left: str) -> None:
    assert without_punctuation(text) == left


def test_a_full_stop_before_a_less_than_sign_goes_all_the_same() -> None:
    assert without_punctuation(".<=5") == "  5"


def test_only_the_first_32_full_stops_go() -> None:
    assert without_punctuation("." * 40) == "." * 8
    assert normalise_vlmevalkit("." * 40) == "." * 8


def test_full_stops_are_looked_at_after_the_other_signs_went() -> None:
    # Before, "." would have "-" behind it, not a digit, and go: "15 x".
    assert without_punctuation("1.-5 -x") == "1.5 x"


# -- words


@pytest.mark.parametrize(
    ("word", "digit"),
    [
        ("zero", 0),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("none", 0),
    ],
)
def test_a_number_up_to_ten_is_written_in_digits(word: str, digit: int) -> None:
    assert plain_words(f"{word.upper()} cats") == f"{digit} cats"


def test_eleven_is_not() -> None:
    assert plain_words("eleven") == "eleven"


def test_articles_go_wherever_they_stand() -> None:
    assert plain_words("The cat and a dog of an age") == "cat and dog of age"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("DONT", "don't"),
        ("couldntve", "couldntve"),
        ("couldnt've", "couldn't've"),
        ("couldn'tve", "couldn't've"),
        ("oclock", "o'clock"),
        ("yalld've", "yalld've"),
        ("y'alld've", "y'all'd've"),
        ("'ow'sat", "'ow's'at"),
    ],
)
def test_a_contraction_gets_the_one_apostrophe_that_it_lacks(written: str, meant: str) -> None:
    assert plain_words(written) == meant


@pytest.mark.parametrize("word", ["lets", "shes", "its", "im", "ive", "id've", "well", "ill"])
def test_what_the_table_lacks_or_has_in_capitals_stays(word: str) -> None:
    assert plain_words(word) == word


def test_one_contraction_loses_its_apostrophe() -> None:
    assert plain_words("somebody'd") == "somebodyd"


def test_the_table_has_114_entries_that_change_a_word() -> None:
    # The authors' 120, without let's and she's, which they leave as they are, and four with an I.
    assert len(CONTRACTIONS) == 114


def test_words_are_normalised_once() -> None:
    assert plain_words("somebody'd've") == "somebody'd've"
    assert normalise("aint") == "ain't"
    assert normalise("ai.nt") == "ain't"


# -- all of it


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The umbrella!", "umbrella"),
        ("Two, please.", "2 please"),
        ("1,000", "1000"),
        ("a", ""),
        ("10:30 am", "10:30 am"),
        ("it's a dog", "it's dog"),
        ("T-shirt", "t shirt"),
    ],
)
def test_an_answer_is_normalised_as_vqas_evaluation_does(text: str, left: str) -> None:
    assert normalise(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("1,000-5", "1000 5"),
        ("a, b-c", "b c"),
        ("Joe's", "joe 's"),
        ("what?no", "whatno"),
        ("\nStop\tsign ", "stop sign"),
        ("3.", "3"),
    ],
)
def test_textvqas_normaliser_first_drops_commas_and_question_marks(text: str, left: str) -> None:
    assert normalise_textvqa(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [("3.", "3."), ("a.", ""), ("x.5", "x.5"), ("a b\nc", "b c"), ("x-y c-\nd", "xy c d")],
)
def test_vlmevalkits_keeps_a_full_stop_behind_a_digit(text: str, left: str) -> None:
    assert normalise_vlmevalkit(text) == left
