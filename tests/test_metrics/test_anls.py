"""ANLS, as the organisers' evaluator computes it; figures by hand."""

import pytest

from snellen.metrics.anls import anls


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


def test_there_must_be_references() -> None:
    with pytest.raises(ValueError):
        anls("a", [])
