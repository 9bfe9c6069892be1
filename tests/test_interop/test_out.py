"""What is written is read back the same, by us and by other programs."""

import csv as quoting
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.errors import DataError, UsageError, install
from snellen.interop import Answered, jsonl, predictions, separated, vlmevalkit, xlsx

NEEDS_XLSX = "spreadsheets need the extra [xlsx]"
RISKY = ["=1+1", "+cmd", "-a", "@SUM(A1)", "\t=1", "\r=1", "- a cat", "'=1", "''-x", "\uff1d1"]
PLAIN = ["-5", "+0.5", "-1e-05", "a=b", "", "'quoted'", "007", "None", "a\nb", 'say "x", y']

Write = Callable[[Path, Sequence[str], Iterable[Sequence[object]]], list[str]]


@pytest.fixture
def write_xlsx() -> Write:
    pytest.importorskip("xlsxwriter", reason=NEEDS_XLSX)
    pytest.importorskip("python_calamine", reason=NEEDS_XLSX)
    return xlsx.write


def read(path: Path) -> dict[str, str]:
    return dict(predictions.read(path).replies)


def rows_of(texts: Iterable[str]) -> list[tuple[str, str]]:
    return [(f"q{n}", text) for n, text in enumerate(texts)]


# XML has no U+FFFE and U+FFFF, and a cell no more than 32,767 characters.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"))
TEXTS = st.lists(TEXT | st.sampled_from(["_x0041_", "_xFFFE_", *RISKY, *PLAIN]), min_size=1)
QUICKLY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICKLY
@given(texts=TEXTS)
def test_a_spreadsheet_holds_every_text(
    write_xlsx: Write, tmp_path: Path, texts: list[str]
) -> None:
    write_xlsx(tmp_path / "r.xlsx", ["id", "reply"], rows_of(texts))

    assert read(tmp_path / "r.xlsx") == dict(rows_of(texts))


@QUICKLY
@given(texts=TEXTS)
def test_jsonl_holds_every_text(tmp_path: Path, texts: list[str]) -> None:
    jsonl.write(tmp_path / "r.jsonl", ["id", "reply"], rows_of(texts))

    assert read(tmp_path / "r.jsonl") == dict(rows_of(texts))


@QUICKLY
@given(texts=TEXTS)
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_separated_text_holds_every_text(tmp_path: Path, kind: str, texts: list[str]) -> None:
    path = tmp_path / f"r.{kind}"
    separated.write(path, ["id", "reply"], rows_of(texts), formulas="kept")

    assert read(path) == dict(rows_of(texts))


@QUICKLY
@given(texts=TEXTS)
def test_what_was_changed_can_be_told_and_taken_back(tmp_path: Path, texts: list[str]) -> None:
    separated.write(tmp_path / "r.csv", ["id", "reply"], rows_of(texts))

    items = list(read(tmp_path / "r.csv").values())

    assert all(cell in (text, f"'{text}") for cell, text in zip(items, texts, strict=True))
    assert len(set(items)) == len(set(texts))


@pytest.mark.parametrize("text", RISKY)
def test_what_a_spreadsheet_would_run_has_an_apostrophe_before_it(
    tmp_path: Path, text: str
) -> None:
    notes = separated.write(tmp_path / "r.csv", ["id", "reply"], [("1", text)])

    assert read(tmp_path / "r.csv") == {"1": f"'{text}"}
    assert notes == [
        "1 cells that a spreadsheet program would take for formulas now begin with an apostrophe"
    ]


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_cell_stays_as_it_is(tmp_path: Path, text: str) -> None:
    notes = separated.write(tmp_path / "r.tsv", ["id", "reply"], [("1", text)])

    assert read(tmp_path / "r.tsv") == {"1": text}
    assert notes == []


@pytest.mark.parametrize("text", RISKY)
def test_openpyxl_finds_text_and_no_formula(write_xlsx: Write, tmp_path: Path, text: str) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads what was written")
    write_xlsx(tmp_path / "r.xlsx", ["id", "reply"], [("1", text.strip())])

    cell = openpyxl.load_workbook(tmp_path / "r.xlsx").active["B2"]

    assert (cell.value, cell.number_format) == (text.strip(), "@")
    assert cell.data_type == "s"


def test_a_long_address_is_text_and_no_link(write_xlsx: Write, tmp_path: Path) -> None:
    text = "https://example.org/" + "a" * 3000

    write_xlsx(tmp_path / "r.xlsx", ["id", "reply"], [("1", text)])

    assert read(tmp_path / "r.xlsx") == {"1": text}


def test_numbers_stay_numbers(write_xlsx: Write, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads what was written")
    row = (7, 0.25, True, None, 2**60, ["a", "b"])

    write_xlsx(tmp_path / "r.xlsx", list("abcdef"), [row])

    cells = next(openpyxl.load_workbook(tmp_path / "r.xlsx").active.iter_rows(min_row=2))
    assert [cell.value for cell in cells] == [7, 0.25, True, None, str(2**60), '["a", "b"]']


def test_jsonl_keeps_values_as_they_are(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "r.jsonl", ["a", "b", "c", "d"], [(1, None, ["x"], "=1+1")])

    line = (tmp_path / "r.jsonl").read_text()
    assert json.loads(line) == {"a": 1, "b": None, "c": ["x"], "d": "=1+1"}


def test_another_reader_of_csv_finds_the_same_cells(tmp_path: Path) -> None:
    rows = [["1", 'say "x", y\r\nz'], ["2", ""]]
    separated.write(tmp_path / "r.csv", ["id", "reply"], rows)

    with open(tmp_path / "r.csv", newline="") as file:
        assert list(quoting.reader(file)) == [["id", "reply"], *rows]


# -- what cannot be written


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 32_768, "'reply' of row 2 has 32,768 characters, but a .* cell .* at most 32,767"),
        ("😀" * 16_384, "has 32,768 characters"),
        ("\uffff", r"has the character U\+FFFF, which a spreadsheet cannot store"),
        ("\ud83d", "has half a character"),
        (float("nan"), "is nan, which cannot be written to a file as a number"),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused_and_leaves_no_file(
    write_xlsx: Write, tmp_path: Path, value: object, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        write_xlsx(tmp_path / "r.xlsx", ["id", "reply"], [("1", "A"), ("2", value)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name"), [(separated, "r.csv"), (separated, "r.tsv"), (jsonl, "r")]
)
@pytest.mark.parametrize("value", ["\ud83d", float("inf")])
def test_what_a_text_file_cannot_hold_is_refused_and_leaves_what_was_there(
    tmp_path: Path, kind: Any, name: str, value: object
) -> None:
    path = tmp_path / name
    path.write_text("before")

    with pytest.raises(DataError, match="row 2"):
        kind.write(path, ["id", "reply"], [("1", "A"), ("2", value)])
    assert [(actual.name, actual.read_text()) for actual in tmp_path.iterdir()] == [
        (name, "before")
    ]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"r\.csv cannot be written: No such file or directory"):
        separated.write(tmp_path / "none" / "r.csv", ["id"], [])


def test_a_spreadsheet_that_cannot_be_written_is_named(write_xlsx: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"r\.xlsx cannot be written: .*No such file or directory"):
        write_xlsx(tmp_path / "none" / "r.xlsx", ["id"], [])


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    with pytest.raises(UsageError, match=re.escape(install("xlsx"))):
        xlsx.write(tmp_path / "r.xlsx", ["id"], [])


# -- other tools' layouts

RUN = [
    Answered(
        id="3",
        position=0,
        question="Which?",
        choices=("x", "y"),
        target="B",
        reply="- B",
        tags={"category": "a"},
    ),
    Answered(
        id="1000003",
        position=1,
        question="Which?",
        choices=("y", "x", "z"),
        target="A",
        reply="None",
        reasoning="hm",
        tags={"category": "a", "split": "dev"},
    ),
    Answered(id="4", position=2, question="How many?", target="2", reply=None),
]


def test_vlmevalkit_has_the_data_sets_columns_and_the_prediction() -> None:
    columns, rows = vlmevalkit.table(RUN)

    assert [dict(zip(columns, row, strict=True)) for row in rows] == [
        {"index": 3, "question": "Which?", "A": "x", "B": "y", "C": None, "answer": "B",
         "category": "a", "split": None, "prediction": "- B", "thinking": None},
        {"index": 1000003, "question": "Which?", "A": "y", "B": "x", "C": "z", "answer": "A",
         "category": "a", "split": "dev", "prediction": "None", "thinking": "hm"},
        {"index": 4, "question": "How many?", "A": None, "B": None, "C": None, "answer": "2",
         "category": None, "split": None, "prediction": "Failed to obtain answer via API.",
         "thinking": None},
    ]  # fmt: skip


def test_vlmevalkit_ids_that_are_no_whole_numbers_are_text() -> None:
    _, rows = vlmevalkit.table(
        [Answered(id=name, position=0, question="?") for name in ("1", "01")]
    )

    assert [row[0] for row in rows] == ["1", "01"]


def test_a_tag_does_not_hide_a_column_of_vlmevalkit() -> None:
    row = Answered(id="1", position=0, question="?", target="yes", tags={"answer": "binary"})
    columns, (cells,) = vlmevalkit.table([row])
    assert dict(zip(columns, cells, strict=True)) | {"prediction": None} == {
        "index": 1,
        "question": "?",
        "answer": "yes",
        "answer_tag": "binary",
        "prediction": None,
    }


@pytest.mark.parametrize("kind", [".xlsx", ".tsv"])
def test_a_vlmevalkit_file_is_read_back(write_xlsx: Write, tmp_path: Path, kind: str) -> None:
    path = tmp_path / vlmevalkit.file_name("org/m", "MMBench_DEV_EN", kind)
    if kind == ".xlsx":
        write_xlsx(path, *vlmevalkit.table(RUN))
    else:
        separated.write(path, *vlmevalkit.table(RUN), formulas="kept")

    actual = predictions.read(path)

    assert actual.replies == {"3": "- B", "1000003": "None"}
    assert ("org__m", "MMBench_DEV_EN") in actual.possible_names
    assert any("1 rows say that the model gave no reply" in note for note in actual.notes)


def test_a_list_of_objects_is_json_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "sent.json"
    jsonl.write_list(path, ("question_id", "answer"), [(7, "é"), (8, "two\nlines")])
    assert json.loads(path.read_bytes()) == [
        {"question_id": 7, "answer": "é"},
        {"question_id": 8, "answer": "two\nlines"},
    ]


def test_an_object_by_id_is_json_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "sent.json"
    jsonl.write_by_id(path, ("id", "answer"), [("test_Art_1", "A"), (2, None)])
    assert json.loads(path.read_bytes()) == {"test_Art_1": "A", "2": None}


@pytest.mark.parametrize(("write", "empty"), [(jsonl.write_list, []), (jsonl.write_by_id, {})])
def test_without_rows_the_json_is_empty_and_whole(
    write: Callable[..., list[str]], empty: object, tmp_path: Path
) -> None:
    path = tmp_path / "sent.json"
    write(path, ("id", "answer"), [])
    assert json.loads(path.read_bytes()) == empty


@pytest.mark.parametrize("first", ["1", 1])
def test_an_id_that_comes_twice_is_not_sent_as_one(tmp_path: Path, first: object) -> None:
    path = tmp_path / "sent.json"
    with pytest.raises(DataError, match="row 2 has the same id '1' as an earlier row"):
        jsonl.write_by_id(path, ("id", "answer"), [(first, "A"), ("1", "B")])
    assert not path.exists()
