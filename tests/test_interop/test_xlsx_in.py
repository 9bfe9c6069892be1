"""Spreadsheets made by other programs (openpyxl, xlsxwriter as pandas uses it), as predictions."""

import datetime
import re
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from snellen.errors import DataError, UsageError, install
from snellen.interop import predictions
from snellen.interop.predictions import Predictions
from tests.golden_data import golden

pytest.importorskip("python_calamine", reason="spreadsheets need the extra [xlsx]")
openpyxl = pytest.importorskip("openpyxl", reason="openpyxl makes the spreadsheets of these tests")


def book(path: Path, *rows: Sequence[object], other: Sequence[Sequence[object]] = ()) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if other:
        second = book.create_sheet("second")
        for row in other:
            second.append(row)
    book.save(path)
    return path


def has_note(predictions: Predictions, words: str) -> bool:
    return any(words in note for note in predictions.notes)


HEADER = ("index", "question", "prediction")


def test_cells_are_read_as_the_text_they_hold(tmp_path: Path) -> None:
    cells = ["None", "NA", "007", "", " a ", "a\nb", "x" * 32_766, "3/4", "TRUE"]
    path = book(tmp_path / "r.xlsx", HEADER, *[(n, "?", text) for n, text in enumerate(cells)])

    assert list(predictions.read(path).replies.values()) == cells


@pytest.mark.parametrize("value", [1, 1.0, "1"])
def test_an_id_is_the_same_as_a_number_and_as_text(tmp_path: Path, value: object) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, (value, "?", "A"), ("x", "?", "B"))

    assert predictions.read(path).replies == {"1": "A", "x": "B"}


def test_a_text_id_is_not_made_a_number(tmp_path: Path) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, ("1.0", "?", "A"), ("01", "?", "B"))

    assert predictions.read(path).replies == {"1.0": "A", "01": "B"}


def test_numbers_for_replies_are_text_and_that_is_said(tmp_path: Path) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, (1, "?", 3), (2, "?", 0.25), (3, "?", True))

    actual = predictions.read(path)

    assert actual.replies == {"1": "3", "2": "0.25", "3": "True"}
    assert has_note(actual, "3 rows have a number or a boolean as the reply")


def test_a_formula_is_no_reply_whatever_value_is_stored_for_it(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="it stores 0 as a formula's value")
    book = xlsxwriter.Workbook(tmp_path / "r.xlsx")
    sheet = book.add_worksheet()
    for row, cells in enumerate([HEADER, (1, "?", "A"), (2, "?", "=1+1")]):
        sheet.write_row(row, 0, cells)
    book.close()

    actual = predictions.read(tmp_path / "r.xlsx")

    assert actual.replies == {"1": "A"}
    assert has_note(
        actual, "1 rows have a formula in the column of replies (first: row 3 of the sheet)"
    )


@pytest.mark.parametrize(
    ("value", "why"), [("#N/A", "an error"), (datetime.date(2024, 3, 4), "a date or a time")]
)
def test_a_cell_that_lost_its_text_is_no_reply(tmp_path: Path, value: object, why: str) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, (1, "?", "A"), (2, "?", value))

    actual = predictions.read(path)

    assert actual.replies == {"1": "A"}
    assert has_note(actual, f"1 rows have {why}")


def test_a_formula_for_an_id_is_an_error(tmp_path: Path) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, ("=A1+1", "?", "A"))

    with pytest.raises(
        DataError, match="row 2 of the sheet has a formula instead of an id in the column 'index'"
    ):
        predictions.read(path)


def test_rows_may_begin_further_down_and_have_gaps(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for position, value in {"C3": "index", "D3": "prediction", "C6": 1, "D6": "A"}.items():
        book.active[position] = value
    book.save(tmp_path / "r.xlsx")

    assert predictions.read(tmp_path / "r.xlsx").replies == {"1": "A"}


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = book(tmp_path / "r.xlsx", (None, "index", "prediction"), (0, 7, "A"))

    assert predictions.read(path).replies == {"7": "A"}


def test_an_empty_second_sheet_does_no_harm(tmp_path: Path) -> None:
    workbook = openpyxl.load_workbook(book(tmp_path / "r.xlsx", HEADER, (1, "?", "A")))
    workbook.create_sheet("empty", 0)
    workbook.save(tmp_path / "r.xlsx")

    assert predictions.read(tmp_path / "r.xlsx").replies == {"1": "A"}


def test_the_published_file_is_read_as_openpyxl_reads_it() -> None:
    path = golden("mmbench") / "outputs" / "llava-v1.5-13b.xlsx"
    sheet = openpyxl.load_workbook(path).active
    names, *rows = sheet.iter_rows(values_only=True)
    index, prediction = names.index("index"), names.index("prediction")

    actual = predictions.read(path)

    assert actual.replies == {str(row[index]): row[prediction] for row in rows}
    assert len(actual.replies) == 4377


# -- bad files


def no_header(path: Path) -> None:
    book(path, (1, "?", "A"), (2, "?", "B"))


def two_sheets(path: Path) -> None:
    book(path, HEADER, (1, "?", "A"), other=[HEADER, (1, "?", "B")])


def doubled_column(path: Path) -> None:
    book(path, ("index", "prediction", "prediction"), (1, "A", "B"))


def empty(path: Path) -> None:
    book(path)


def only_a_header(path: Path) -> None:
    book(path, HEADER)


def other_column(path: Path) -> None:
    book(path, ("index", "question"), (1, "?"))


def two_replies(path: Path) -> None:
    book(path, HEADER, (1, "?", "A"), ("1", "?", "B"))


def truncated(path: Path) -> None:
    raw = book(path, HEADER, (1, "?", "A")).read_bytes()
    path.write_bytes(raw[: len(raw) // 2])


def damaged(path: Path) -> None:
    raw = bytearray(book(path, HEADER, (1, "?", "A")).read_bytes())
    at = raw.index(b"xl/worksheets/sheet1.xml") + 60
    raw[at : at + 8] = bytes(8)
    path.write_bytes(raw)


def no_xml(path: Path) -> None:
    """A whole archive, in which a sheet breaks off."""
    source = book(path.with_suffix(".tmp"), HEADER, (1, "?", "A"))
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        for part in old.namelist():
            new.writestr(part, old.read(part).replace(b"</row>", b"</ro"))


def text(path: Path) -> None:
    path.write_text("index,prediction\n1,A\n")


def no_bytes(path: Path) -> None:
    path.touch()


def other_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")


def old(path: Path) -> None:
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + "Workbook".encode("utf-16-le").ljust(4000))


def locked(path: Path) -> None:
    inside = "EncryptedPackage".encode("utf-16-le")
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1").ljust(2048) + inside.ljust(4000))


def far_cell(path: Path) -> None:
    workbook = openpyxl.load_workbook(book(path, HEADER, (1, "?", "A")))
    workbook.active["XFD1048576"] = "x"
    workbook.save(path)


def bomb(path: Path) -> None:
    """200 MB of one letter in one cell, 200 kB packed."""
    source = book(path.with_suffix(".tmp"), HEADER, (1, "?", "A"))
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            raw = old.read(part)
            if part == "xl/worksheets/sheet1.xml":
                raw = raw.replace(b">A<", b">" + b"A" * 200_000_000 + b"<")
            new.writestr(part, raw)


def lying_bomb(path: Path) -> None:
    """The same, said to unpack to 1,000 bytes."""
    bomb(path)
    raw = bytearray(path.read_bytes())
    for signature, name, size in ((b"PK\x03\x04", 30, 22), (b"PK\x01\x02", 46, 24)):
        at = raw.index(b"xl/worksheets/sheet1.xml")
        while raw[at - name : at - name + 4] != signature:
            at = raw.index(b"xl/worksheets/sheet1.xml", at + 1)
        raw[at - name + size : at - name + size + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            no_header,
            "no column of replies. It has 1, ., A\\. .* first row does not name the columns",
        ),
        (two_sheets, "2 sheets that are not empty, .*: 'Sheet', 'second'"),
        (doubled_column, "more than one column named 'prediction'"),
        (empty, "no rows below the first one"),
        (only_a_header, "no rows below the first one"),
        (other_column, "no column of replies. It has index, question"),
        (two_replies, "id '1' has two different replies, .* the second in row 3 of the sheet"),
        (truncated, "not a complete .xlsx file: .*download it again"),
        (damaged, "not a complete .xlsx file: .*download it again"),
        (no_xml, "cannot be read as a spreadsheet: .* Save it again"),
        (text, "begins with b'index,pr' and may be a text file"),
        (no_bytes, "not a complete .xlsx file"),
        (other_archive, "an archive that contains no spreadsheet"),
        (old, r"in the old spreadsheet format \(.xls\). Save it as .xlsx"),
        (locked, "protected with a password"),
        (far_cell, "cells up to row 1,048,576 and column 16,384"),
    ],
)
def test_a_bad_spreadsheet_is_refused_in_clear_words(
    tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    path = tmp_path / "r.xlsx"
    make(path)

    with pytest.raises(DataError, match=words):
        predictions.read(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (bomb, r"unpacks to 200 MB, .* times its size, and is not read"),
        (lying_bomb, "not a complete"),
    ],
)
def test_a_bomb_is_not_unpacked(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = tmp_path / "r.xlsx"
    make(path)

    tracemalloc.start()
    with pytest.raises(DataError, match=words):
        predictions.read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 5_000_000


def test_a_spreadsheet_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.xlsx cannot be opened: No such file"):
        predictions.read(tmp_path / "none.xlsx")


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "r.xlsx", HEADER, (1, "?", "A"))
    monkeypatch.setitem(sys.modules, "python_calamine", None)

    with pytest.raises(UsageError, match=re.escape(install("xlsx"))):
        predictions.read(path)
