"""What a file of predictions says about the questions is compared with the data set."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.errors import DataError
from snellen.run.score_run import explain

QUESTIONS = [
    {"id": f"{n}", "question": f"What is {n} + 1?", "A": f"{n + 1}", "B": f"{n}", "C": f"-{n}"}
    for n in range(10, 20)
]
"""The right answer is A."""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write(tmp_path / "sums.csv", [{**row, "answer": "A"} for row in QUESTIONS])


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def replies(rows: Path, change: Any, *, count: int = 10, reply: str = "A") -> Path:
    """A file in VLMEvalKit's layout with the reply to each question. The first `count` rows have
    other columns."""
    complete = [{**row, "answer": "A", "prediction": reply} for row in QUESTIONS]
    changed = [change(row) if n < count else row for n, row in enumerate(complete)]
    columns = {name: "" for row in changed for name in row}
    return write(rows.parent / "replies.csv", [{**columns, **row} for row in changed])


def notes(file: Path, rows: Path) -> list[str]:
    """The notes about the file, without those about the columns and the rows."""
    report = snellen.score(file, str(rows)).report
    assert report.scorings["default"].metrics["accuracy"].value == 1.0
    return [note for note in report.notes if "in the file" in note]


# -- choices


def swapped(row: dict[str, str]) -> dict[str, str]:
    return {**row, "A": row["B"], "B": row["A"]}


@pytest.mark.parametrize("count", [10, 1])
def test_choices_in_another_order_are_refused_even_in_one_row(rows: Path, count: int) -> None:
    with pytest.raises(
        DataError,
        match="sample '10' has its choices in a different order than in the data set: choice A is "
        "'10' in the file, but '11' in the data set",
    ):
        snellen.score(replies(rows, swapped, count=count), str(rows))


def test_a_sample_of_a_file_with_choices_in_another_order_is_not_explained(rows: Path) -> None:
    file = replies(rows, lambda row: swapped(row) if row["id"] == "19" else row)

    with pytest.raises(DataError, match="sample '19' has its choices in a different order"):
        explain(file, "10", str(rows))


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {**row, "C": row["B"], "B": row["C"]},  # only the sign differs
        lambda row: {**row, "C": "", "D": row["C"]},  # another letter
    ],
)
def test_a_choice_under_another_letter_is_refused(rows: Path, change: Any) -> None:
    with pytest.raises(DataError, match="sample '10' has its choices in a different order"):
        snellen.score(replies(rows, change), str(rows))


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {**row, "A": f"{float(row['A'])}"},  # as pandas writes a column with gaps
        lambda row: {**row, "A": f" {row['A']} ", "B": "nan", "C": ""},
        lambda row: {name: text for name, text in row.items() if name not in ("A", "B", "C")},
        lambda row: {**row, "A": f"A. {row['A']}"},
        lambda row: {**row, "D": "nan"},
    ],
)
def test_choices_that_are_missing_or_written_in_another_way_match(rows: Path, change: Any) -> None:
    assert notes(replies(rows, change), rows) == []


def test_columns_of_choices_that_contain_only_their_letters_are_not_compared(rows: Path) -> None:
    letters = {letter: letter for letter in "ABC"}

    assert notes(replies(rows, lambda row: {**row, **letters}), rows) == []


def test_a_few_other_choices_are_noted_and_more_are_refused(rows: Path) -> None:
    def other(row: dict[str, str]) -> dict[str, str]:
        return {**row, "C": "none of them"}

    [note] = notes(replies(rows, other, count=2), rows)
    assert note == (
        "the choices of 2 of the 10 questions in the file differ from those of the data set, for "
        "example: '10': choice C is 'none of them' in the file, but '-10' in the data set"
    )
    with pytest.raises(DataError, match="the choices of 3 of the 10 questions in the file differ"):
        snellen.score(replies(rows, other, count=3), str(rows))


def test_a_choice_that_the_file_has_twice_has_not_moved(rows: Path) -> None:
    [note] = notes(replies(rows, lambda row: {**row, "C": row["B"]}, count=1), rows)
    assert "choice C is '10' in the file, but '-10' in the data set" in note


# -- answers


def test_other_answers_are_noted_and_not_used(rows: Path) -> None:
    file = replies(rows, lambda row: {**row, "answer": "B"}, count=4)

    [note] = notes(file, rows)
    assert note == (
        "4 of the 10 right answers in the file differ from those of the data set, for example: "
        "'10' has 'B' in the file, but 'A' in the data set. The data set's answers are used; "
        "--answers-in-file uses those of the file"
    )


@pytest.mark.parametrize("answer", ["a", " A ", "4", "['A', 'B']", "I do not know"])
def test_answers_that_are_no_choice_are_not_compared(rows: Path, answer: str) -> None:
    assert notes(replies(rows, lambda row: {**row, "answer": answer}), rows) == []


@pytest.mark.parametrize(
    ("answer", "is_noted"), [("12.0", False), ("['twelve', 'dozen']", False), ("13", True)]
)
def test_an_answer_without_choices_is_a_number_or_a_text_and_no_list(
    tmp_path: Path, answer: str, is_noted: bool
) -> None:
    question = {"id": "1", "question": "What is 6 + 6?"}
    mine = write(tmp_path / "mine.csv", [{**question, "answer": "12"}])
    file = write(tmp_path / "r.csv", [{**question, "answer": answer, "prediction": "12"}])

    report = snellen.score(file, str(mine)).report

    assert any("right answers in the file" in note for note in report.notes) == is_noted


# -- questions


def test_the_message_about_own_rows_names_their_file_and_no_columns(rows: Path) -> None:
    file = replies(rows, lambda row: {**row, "question": "Which is red?" + row["id"]})

    with pytest.raises(DataError) as caught:
        snellen.score(file, str(rows))
    assert f"Check that the replies are to the questions of {rows}." in str(caught.value)
    assert "columns" not in str(caught.value)


# -- replies without an answer


def test_a_file_whose_replies_cannot_be_parsed_gets_a_note_with_one_of_them(rows: Path) -> None:
    report = snellen.score(replies(rows, dict, reply="0.0"), str(rows)).report

    assert any("10 of 10 replies are unparsed, such as '0.0' to '10'" in n for n in report.notes)


def test_a_file_with_some_replies_that_cannot_be_parsed_gets_no_note(rows: Path) -> None:
    file = replies(rows, lambda row: {**row, "prediction": "0.0"}, count=8)
    report = snellen.score(file, str(rows)).report

    assert not any("unparsed" in note for note in report.notes)
