"""Reads the rows of a spreadsheet (.xlsx) with calamine, after checks that calamine does not make.

calamine keeps the whole rectangle from the first to the last cell in memory, so a file of 5 kB with
a cell in the last possible row and column crashes the program. For a formula, calamine returns the
stored value as if it were text (0 for formulas that xlsxwriter wrote). For an error such as #N/A,
calamine returns nothing. Therefore, the XML files in the spreadsheet are first unpacked, within
limits, and searched for formulas and errors.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.data.locations import DataFile, path_of
from snellen.data.spreadsheet_cells import EXACT, NoText
from snellen.data.table import Drawn
from snellen.errors import DataError, UsageError, check_regular, install

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

MOST_BYTES = 1_000_000_000
"""The maximum unpacked size of a file, in bytes."""
MOST_RATIO = 100
"""For files that unpack to more than SMALL bytes, the maximum ratio of the unpacked size to the
packed size. The ratio is about 10 for files of predictions and 1,000 for a zip bomb."""
SMALL = 50_000_000
BLOCK = 1 << 20
MOST_CELLS = 20_000_000
"""The maximum number of cells in the rectangle that calamine keeps, at 60 bytes each."""
OLD = bytes.fromhex("d0cf11e0a1b11ae1")
"""The first bytes of an .xls file, and of an .xlsx file with a password."""

# XML elements, with or without a namespace prefix. Text cannot match: it has no unescaped "<".
SHEET = re.compile(rb"<(?:\w+:)?sheetData[\s/>]")
TAG = re.compile(rb"<(?:\w+:)?(row|c|f)(?=[\s/>])([^<>]*)>")
REFERENCE = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
ERROR = re.compile(rb"""\st\s*=\s*["']e["']""")


@dataclass
class _Sheet:
    """The content of a sheet: the number of filled cells, the last row and column, and the cells
    that do not contain their original text (`lost`). The keys of `lost` are (row, column), counted
    from 1."""

    cells: int = 0
    rows: int = 0
    columns: int = 0
    lost: dict[tuple[int, int], NoText] = field(default_factory=dict)


def workbook(
    source: Path | DataFile, where: str | None = None, revision: str | None = None
) -> Drawn:
    """Read a spreadsheet with a single filled sheet as a table. The first row of the sheet has the
    names of the columns. The table needs the extra `xlsx` and cannot seek.

    Iterating raises DataError if a cell contains a formula, an error, or a date, and in the same
    cases as for `sheet_rows`.
    """
    path = path_of(source)
    return Drawn(where or str(source), lambda: _texts(path), revision)


def _texts(path: Path) -> Iterator[Mapping[str, Any]]:
    for label, row in sheet_rows(path):
        for name, value in row.items():
            if isinstance(value, NoText):
                raise DataError(
                    f"{path.name}: the cell {name!r} in {label} contains {value.why} instead of "
                    "text. Write the text itself into the cell."
                )
        yield {name: value for name, value in row.items() if value != ""}


def sheet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of the sheet, each with a label for messages. The first row that is not empty
    has the names of the columns. Empty rows and columns without a name are left out.

    A cell is text, a number, a boolean, "" if it is empty, or NoText.

    Raises:
        DataError: The file is not an .xlsx file, has a password, is damaged or too large, has
            several filled sheets, or has no rows below the names of the columns.
        UsageError: calamine is not installed.
    """
    inspected = _inspected(path)
    filled = _filled(path, len(inspected))
    lost = [sheet.lost for sheet in inspected if sheet.cells]
    if len(lost) > 1:
        raise DataError(
            f"{path} has {len(lost)} sheets that are not empty, but only one can be read: "
            f"{', '.join(repr(sheet.name) for sheet in filled)}. Save the sheet that you need as a "
            "separate file."
        )
    n = 0
    for sheet in filled:
        for row in _rows(sheet, lost[0], path):
            yield row
            n += 1
    if n == 0:
        raise DataError(
            f"{path} has no rows below the first one, which must have the names of the columns."
        )


def _rows(
    sheet: "CalamineSheet", lost: Mapping[tuple[int, int], NoText], path: Path
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    assert sheet.start is not None
    first = sheet.start[1] + 1
    names: dict[int, str] = {}
    for number, values in enumerate(sheet.iter_rows(), start=1):
        cells = {
            column: lost.get((number, column), value)
            for column, value in enumerate(values, start=first)
        }
        if all(value == "" for value in cells.values()):
            continue
        if names:
            label = f"row {number} of the sheet"
            yield label, {name: _kept(cells[column]) for column, name in names.items()}
        else:
            names = _names(cells, path)


def _names(cells: Mapping[int, object], path: Path) -> dict[int, str]:
    """The names of the columns, keyed by column. Columns without a name, such as pandas' index, are
    left out."""
    names = {column: str(_kept(value)) for column, value in cells.items() if value != ""}
    if twice := [name for name in names.values() if list(names.values()).count(name) > 1]:
        raise DataError(f"{path} has more than one column named {twice[0]!r}. Rename all but one.")
    return names


def _kept(value: object) -> object:
    """The value of a cell. A float that is a whole number becomes an int, since all numbers in
    spreadsheets are floats. A date or time becomes NoText."""
    match value:
        case float() if value.is_integer() and abs(value) < EXACT:
            return int(value)
        case date() | time() | timedelta():
            return NoText("a date or a time (perhaps converted by a spreadsheet program)")
    return value


def _filled(path: Path, inspected: int) -> list["CalamineSheet"]:
    """Read the sheets with calamine, and return those that are not empty."""
    try:
        import python_calamine as calamine
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path}: an extra is needed to read spreadsheets: {install('xlsx')}. You can also "
            "save the file as .tsv, .csv, or .json."
        ) from error
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        kind = calamine.SheetTypeEnum.WorkSheet
        names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == kind]
        if len(names) > inspected:
            raise DataError(f"{path} has sheets in an encoding other than UTF-8. Save it again.")
        return [sheet for sheet in map(book.get_sheet_by_name, names) if sheet.height]
    except calamine.CalamineError as error:
        raise DataError(
            f"{path} cannot be read as a spreadsheet: {error}. Save it again."
        ) from error


# -- checks before calamine reads the file


def _inspected(path: Path) -> list[_Sheet]:
    """Check a file and inspect all its sheets, without calamine.

    Raises:
        DataError: The file is not an .xlsx file, is damaged, or exceeds a limit.
    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            start = file.read(len(OLD))
            if start == OLD:
                raise _locked_or_old(path)
            with zipfile.ZipFile(file) as archive:
                return _parts(archive, path)
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        begun = "" if start[:2] == b"PK" else f" (it begins with {start!r} and may be a text file)"
        raise DataError(
            f"{path} is not a complete .xlsx file{begun}: {error}. If it was downloaded, download "
            "it again."
        ) from error


def _parts(archive: zipfile.ZipFile, path: Path) -> list[_Sheet]:
    parts = archive.infolist()
    if "xl/workbook.xml" not in archive.namelist():
        raise DataError(
            f"{path} is an archive that contains no spreadsheet. Save the spreadsheet as .xlsx."
        )
    unpacked = sum(part.file_size for part in parts)
    packed = max(1, sum(part.compress_size for part in parts))
    if unpacked > MOST_BYTES or (unpacked > SMALL and unpacked / packed > MOST_RATIO):
        raise DataError(
            f"{path} unpacks to {unpacked / 1e6:,.0f} MB, {unpacked / packed:,.0f} times its size, "
            f"and is not read. The limit is {MOST_BYTES / 1e6:,.0f} MB. Above "
            f"{SMALL / 1e6:,.0f} MB, a file may also unpack to at most {MOST_RATIO} times its "
            "size. Save it as .tsv."
        )
    sheets = []
    for part in parts:
        raw = _unpacked(archive, part)
        if SHEET.search(raw):
            sheet = _sheet(raw)
            if sheet.rows * sheet.columns > MOST_CELLS:
                raise DataError(
                    f"{path} has cells up to row {sheet.rows:,} and column {sheet.columns:,}. This "
                    f"is more than the limit of {MOST_CELLS:,} cells. Delete the empty rows below "
                    "and the empty columns to the right of the data, or save it as .tsv."
                )
            sheets.append(sheet)
    return sheets


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Unpack one XML file of the spreadsheet. Reading in blocks never unpacks more than the
    declared size. If the file has more data, the checksum does not match, and zipfile raises an
    error."""
    with archive.open(part) as file:
        return b"".join(iter(lambda: file.read(BLOCK), b""))


def _sheet(raw: bytes) -> _Sheet:
    sheet = _Sheet()
    row = column = 0
    for tag in TAG.finditer(raw):
        name, attributes = tag.groups()
        if name == b"f":
            sheet.lost[row, column] = NoText("a formula")
            continue
        reference = REFERENCE.search(attributes)
        if name == b"row":
            row, column = (int(reference[2]) if reference else row + 1), 0
            continue
        if reference:
            row, column = int(reference[2]), _column(reference[1])
        else:
            column += 1
        if attributes.endswith(b"/"):
            continue  # an empty cell with a format, such as a color or a border
        sheet.cells += 1
        sheet.rows, sheet.columns = max(sheet.rows, row), max(sheet.columns, column)
        if ERROR.search(attributes):
            sheet.lost[row, column] = NoText("an error, such as #N/A")
    return sheet


def _column(letters: bytes) -> int:
    """The number of a column: 1 for A, 28 for AB."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _locked_or_old(path: Path) -> DataError:
    with open(path, "rb") as file:
        locked = "EncryptedPackage".encode("utf-16-le") in file.read(SMALL)
    if locked:
        return DataError(f"{path} is protected with a password. Save it without one.")
    return DataError(
        f"{path} is in the old spreadsheet format (.xls). Save it as .xlsx, .csv, or .tsv."
    )
