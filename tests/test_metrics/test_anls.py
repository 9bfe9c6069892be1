"""ANLS, as the organisers' evaluator and three other tools compute it; figures by hand."""

from collections.abc import Callable, Sequence

import pytest

from snellen.metrics.anls import anls, anls_m4c, anls_mmpretrain, anls_pix2struct

Rule = Callable[[str, Sequence[str]], float]
RULES = (anls, anls_mmpretrain, anls_pix2struct, anls_m4c)


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("May 5, 1970", ["May 5, 1970"], 1.0),
        ("may  5,\n1970", ["MAY 5, 1970"], 1.0),
        ("5 May 1970", ["May 5, 1970", "5 May 1970"], 1.0),
        ("sitting", ["kitten"], 1 - 3 / 7),
        ("abcd", ["abce"], 0.75),
        ("no", ["yes"], 0.0),
        ("", ["yes"], 0.0),
        ("", [""], 1.0),
        ("", ["x", ""], 1.0),
    ],
)
def test_the_nearest_reference_counts(answer: str, references: list[str], expected: float) -> None:
    assert anls(answer, references) == pytest.approx(expected, abs=1e-12)


def test_exactly_one_half_counts() -> None:
    assert anls("ab", ["ax"]) == 0.5


def test_less_than_one_half_is_nothing() -> None:
    assert anls("abc", ["axx"]) == 0.0


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        # One letter of two is wrong: of four signs with the blanks, three of four are right.
        ("  ax", "ab", 0.75),
        ("ax", "ab  ", 0.75),
        # Nothing but blanks has two letters to be put in, of a hundred.
        (" " * 100, "ab", 0.98),
    ],
)
def test_blanks_that_count_for_no_distance_count_for_the_length(
    answer: str, reference: str, expected: float
) -> None:
    assert anls(answer, [reference]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("answer", "reference"), [("ab", "ßß"), ("ßß", "ab")])
def test_the_length_is_that_in_capitals(answer: str, reference: str) -> None:
    # "ßß" is "SSSS": 2 of 4, where 2 of 2 would be nothing.
    assert anls(answer, [reference]) == 0.5


@pytest.mark.parametrize("rule", RULES)
def test_there_must_be_references(rule: Rule) -> None:
    with pytest.raises(ValueError, match="cannot be scored without references"):
        rule("a", [])


@pytest.mark.parametrize("rule", RULES)
def test_one_text_is_no_list_of_references(rule: Rule) -> None:
    with pytest.raises(TypeError, match=r"references must be a list of answers, .*\['hello'\]"):
        rule("hello", "hello")


@pytest.mark.parametrize("rule", RULES)
def test_no_answer_is_not_an_empty_one(rule: Rule) -> None:
    with pytest.raises(TypeError, match="an answer must be text, not a NoneType"):
        rule(None, ["hello"])  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("5 May", ["May 5", "5 may"], 1.0),
        ("sitting", ["kitten"], 1 - 3 / 7),
        ("abc", ["axx"], 0.0),
        ("", ["yes"], 0.0),
        # The authors of two of them divide by zero here.
        ("", [""], 1.0),
    ],
)
def test_all_rules_give_the_same_where_blanks_and_halves_are_not_at_stake(
    rule: Rule, answer: str, references: list[str], expected: float
) -> None:
    assert rule(answer, references) == pytest.approx(expected, abs=1e-12)


def test_mmpretrain_counts_an_answers_blanks_for_the_length_but_not_a_references() -> None:
    assert anls_mmpretrain("  ax", ["ab"]) == 0.75
    assert anls_mmpretrain("ax", ["ab  "]) == 0.5
    assert anls("ax", ["ab  "]) == 0.75


def test_mmpretrains_length_is_that_in_capitals_of_both() -> None:
    assert anls_mmpretrain("ab", ["ßß"]) == anls_mmpretrain("ßß", ["ab"]) == 0.5


def test_mmpretrain_evens_out_blanks_and_keeps_exactly_one_half() -> None:
    assert anls_mmpretrain("A  b\n", ["a b"]) == 1.0
    assert anls_mmpretrain("ab", ["ax"]) == 0.5


def test_to_pix2struct_blanks_are_signs_as_any_other() -> None:
    # Of four signs one is too many.
    assert anls_pix2struct("Cat ", ["cat"]) == anls_pix2struct("cat", ["CAT "]) == 0.75
    assert anls_pix2struct("a  b", ["a b"]) == 0.75


def test_pix2struct_gives_nothing_for_exactly_one_half() -> None:
    assert anls_pix2struct("ab", ["ax"]) == 0.0
    assert anls_pix2struct("abc", ["abx"]) == pytest.approx(2 / 3)


def test_pix2structs_and_m4cs_lengths_are_those_of_small_letters() -> None:
    assert anls_pix2struct("abcß", ["abcd"]) == anls_m4c("abcß", ["abcd"]) == 0.75
    assert anls("abcß", ["abcd"]) == 0.8


def test_to_m4c_blanks_count_between_words_but_not_at_the_ends() -> None:
    assert anls_m4c(" Cat\n", ["cat  "]) == 1.0
    assert anls_m4c("a  b", ["a b"]) == 0.75


def test_m4c_keeps_exactly_one_half() -> None:
    assert anls_m4c("ab", ["ax"]) == 0.5
