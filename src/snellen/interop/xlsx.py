"""Writes spreadsheets."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from snellen.data import placed
from snellen.data.spreadsheet_cells import EXACT, LONGEST, cell
from snellen.errors import DataError, UsageError, install

MOST_ROWS = 1_048_575  # under the header
NOT_XML = re.compile("[\ufffe\uffff]")


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Write rows under a header in one sheet. Text does not become a formula, a link, or a number,
    even if somebody edits the cell. Returns an empty list, because there are no notes for the user.

    Raises:
        DataError: a cell or the sheet is longer than a spreadsheet allows, a cell contains
            something that a spreadsheet cannot store, or the file cannot be written. After an
            error, no file is left behind.
        UsageError: xlsxwriter is not installed.
    """
    try:
        import xlsxwriter
        from xlsxwriter.exceptions import XlsxFileError
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path} is a spreadsheet, which needs an extra: {install('xlsx')}. You can also write "
            ".tsv, .csv, or .jsonl."
        ) from error
    with placed(path) as part:
        book = xlsxwriter.Workbook(part)
        sheet = book.add_worksheet()
        as_text = book.add_format({"num_format": "@"})
        for column, name in enumerate(columns):
            sheet.write_string(0, column, name, as_text)
        for number, row in enumerate(rows):
            if number == MOST_ROWS:
                raise DataError(
                    f"{path.name}: a sheet cannot have more than {MOST_ROWS:,} rows. Write .tsv or "
                    ".jsonl."
                )
            for column, (name, value) in enumerate(zip(columns, row, strict=True)):
                where = f"{path.name}: {name!r} of row {number + 1}"
                _put(sheet, number + 1, column, cell(value, where), where, as_text)
        try:
            book.close()
        except XlsxFileError as error:  # xlsxwriter also raises it for an OSError
            raise DataError(f"{path} cannot be written: {error}.") from error
    return []


def _put(
    sheet: Any,
    row: int,
    column: int,
    value: str | int | float | bool | None,
    where: str,
    as_text: Any,
) -> None:
    match value:
        case None:
            pass
        case bool():
            sheet.write_boolean(row, column, value)
        case int() | float() if abs(value) < EXACT:
            sheet.write_number(row, column, value)
        case _:
            sheet.write_string(row, column, _checked(str(value), where), as_text)


def _checked(text: str, where: str) -> str:
    # Spreadsheets count UTF-16 units, so characters above U+FFFF count twice.
    length = len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
    if length > LONGEST:
        raise DataError(
            f"{where} has {length:,} characters, but a spreadsheet cell can have at most "
            f"{LONGEST:,}. Write .tsv or .jsonl."
        )
    if match := NOT_XML.search(text):
        raise DataError(
            f"{where} has the character U+{ord(match[0]):04X}, which a spreadsheet cannot store. "
            "Write .tsv or .jsonl."
        )
    return text
