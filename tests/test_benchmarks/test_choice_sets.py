"""Rows with choices in each usual format, and what the shared prompts and scorings make of them."""

import base64
from pathlib import Path

import pytest

from snellen.answers.others import LMMS_EVAL, lmms_eval_letter
from snellen.benchmarks.families import choice_sets
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row, find
from snellen.media.content import Image

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def data_file(tmp_path: Path) -> DataFile:
    (tmp_path / "rows.json").write_text("[]", encoding="utf-8")
    (tmp_path / "1.png").write_bytes(PNG)
    return find(tmp_path, "a set", ["rows.json"])


def test_choices_are_read_from_columns_up_to_the_last_that_has_text() -> None:
    assert choice_sets.choices_of(Row({"A": "a", "B": "", "C": "c", "D": ""}, 0)) == ("a", "", "c")


@pytest.mark.parametrize("field", ["choices", "options"])
@pytest.mark.parametrize("cell", [["a", "b"], "['a', 'b']"])
def test_choices_are_read_from_a_list_or_from_one_that_is_written_as_text(
    field: str, cell: object
) -> None:
    assert choice_sets.choices_of(Row({field: cell}, 0)) == ("a", "b")


def test_a_row_without_choices_says_which_fields_were_looked_for() -> None:
    with pytest.raises(ValueError, match="the fields choices, options, and A, B, "):
        choice_sets.choices_of(Row({"question": "What?", "A": None, "options": []}, 0))


@pytest.mark.parametrize("cell", ["B", "b", "(B)", " B "])
def test_a_letter_is_read_in_each_way_of_writing_it(cell: str) -> None:
    assert choice_sets.target_of(cell, ("x", "y")) == "B"


@pytest.mark.parametrize("cell", ["", None, "  "])
def test_a_right_answer_that_is_not_public_is_no_answer(cell: object) -> None:
    assert choice_sets.target_of(cell, ("x", "y")) is None


@pytest.mark.parametrize("cell", ["C", "AB", "x", "1", "Z"])
def test_what_is_no_letter_of_a_choice_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match="not one of the letters A, B"):
        choice_sets.target_of(cell, ("x", "y"))


def test_the_letter_of_an_empty_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="not one of the letters A, C"):
        choice_sets.target_of("B", ("x", "", "y"))


def test_an_index_counts_from_zero_even_if_the_choices_are_numbers() -> None:
    assert choice_sets.letter_at("1", ("2", "1", "0")) == "B"
    assert choice_sets.letter_at(2, ("2", "1", "0")) == "C"


@pytest.mark.parametrize("index", ["2", -1, "B", None])
def test_an_index_without_a_choice_is_refused(index: object) -> None:
    with pytest.raises(ValueError, match="not an index of the 2 choices"):
        choice_sets.letter_at(index, ("x", "y"))


def test_pictures_are_read_from_bytes_names_and_lists_of_both(data_file: DataFile) -> None:
    shown = choice_sets.pictures([PNG, "1.png", None], data_file)
    assert [image.source for image in shown] == [PNG, data_file.folder / "1.png"]
    assert choice_sets.pictures("", data_file) == ()
    with pytest.raises(ValueError, match="no picture in the field, but int"):
        choice_sets.pictures(3, data_file)


def test_a_row_of_a_hub_file_becomes_a_sample(data_file: DataFile) -> None:
    row = Row(
        {
            "question_id": 7,
            "question": "Which?",
            "choices": ["x", "y"],
            "answer": "(B)",
            "image": Image(PNG, "image"),
            "task": "count",
        },
        3,
    )
    sample = choice_sets.sample_of(row, data_file, tags=("task",))
    assert (sample.id, sample.question, sample.target) == ("7", "Which?", "B")
    assert sample.tags == {"task": "count"}
    assert len(sample.media) == 1


def test_a_row_without_an_id_has_its_position_as_id() -> None:
    assert choice_sets.id_of(Row({"index": ""}, 3)) == "3"
    assert choice_sets.id_of(Row({"index": 0}, 3)) == "0"


SAMPLE = Sample(
    id="1", question="Which?", choices=("x", "", "y"), target="C", data={"hint": "Look."}
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # What `ImageMCQDataset.build_prompt` gives for this row.
        (
            "vlmevalkit",
            "Hint: Look.\nQuestion: Which?\nOptions:\nA. x\nC. y\n"
            "Please select the correct answer from the options above. \n",
        ),
        (
            "lmms-eval",
            "Which?\nA. x\nC. y\nAnswer with the option's letter from the given choices directly.",
        ),
    ],
)
def test_the_usual_prompts(name: str, text: str) -> None:
    (message,) = choice_sets.message(SAMPLE, choice_sets.PROMPTS[name])
    assert message.content == (text,)


def test_a_benchmarks_own_scorings_come_first_and_replace_the_usual_ones() -> None:
    own = choice_sets.rule(LMMS_EVAL, choice_sets.parser(lmms_eval_letter))
    both = choice_sets.scorings({"lmms-eval": own, "vlmevalkit": own})
    assert list(both) == ["lmms-eval", "vlmevalkit", "robust"]
    assert both["vlmevalkit"] is own
    assert list(choice_sets.scorings()) == ["vlmevalkit", "robust"]


@pytest.mark.parametrize(
    ("name", "reply", "answer"),
    [
        ("vlmevalkit", "The answer is C", "C"),
        ("vlmevalkit", "C is the one that I would choose", None),  # not among the last four words
        ("lmms-eval", "C is the one that I would choose", "C"),
        ("robust", "Not A, so C.", "C"),
    ],
)
def test_the_usual_scorings(name: str, reply: str, answer: str | None) -> None:
    lmms_eval = choice_sets.rule(LMMS_EVAL, choice_sets.parser(lmms_eval_letter))
    scoring = choice_sets.scorings({"lmms-eval": lmms_eval})[name]
    assert scoring.parse(Reply(text=reply), SAMPLE).answer == answer


def test_the_published_sheet_of_a_set() -> None:
    file = choice_sets.sheet("MMStar")
    assert (file.name, file.md5) == ("MMStar.tsv", "e1ecd2140806c1b1bbf54b43372efb9e")
