"""Reads the rows of tab- or comma-separated files with a header. Quoting follows the csv module.

Other CSV readers are not used because none of them returns the position of a row in the file, or
the bytes of the row, from which the digest is computed.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from snellen.data._file import FileTable
from snellen.data.cells import LONE_RETURN, NotSplit, Span, spans, unquoted
from snellen.data.lines import MAX_ROW_BYTES, Line, empty, lines, not_utf8, opened, packed, too_long
from snellen.data.locations import DataFile
from snellen.data.row_index import Fields, Learnt, RowEntry, RowIndex
from snellen.data.table import Filtered, Row, Table, row_digest
from snellen.errors import DataError

MISSING = frozenset(
    b"#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan"
    b"|null".split(b"|")
)
"""Cells that pandas' read_csv reads as missing, in addition to empty cells:
pandas-dev/pandas@1285c95f802d7b89963ab7960fa2eae01cfb8c4e:pandas/_libs/parsers.pyx,
STR_NA_VALUES."""
LONGEST = max(map(len, MISSING))
LONG_ROW = 4_096
"""The length of a row, in bytes, above which locating its cells is faster than copying them."""
HEAD = 100
"""The number of bytes of each cell that are examined in a long row."""
THREADS = 2
"""The number of threads that hash long rows. If rows contain pictures, hashing is most of the
work."""
HASHED_AT_ONCE = 1 << 19
"""The minimum number of bytes that a thread reads and hashes at once, as one block."""
AHEAD = 256
"""The number of blocks that are split into rows before they are hashed. Splitting and hashing at
the same time would be slower, because both need the interpreter for every row."""
WORDS = {b",": "comma", b"\t": "tab"}
DELIMITERS = (
    (";", "semicolon", "Save it with commas between its cells (.csv) or with tabs (.tsv)."),
    ("\t", "tab", "If tabs separate its cells, rename it to .tsv."),
    (",", "comma", "If commas separate its cells, rename it to .csv."),
)


def tsv(path: Path | DataFile, where: str | None = None, revision: str | None = None) -> "Sheet":
    """Read a tab-separated file with a header, gzipped or not, as a table.

    All cells are unchanged text, even `None`, `NA`, and `null`. Quoting follows the csv module in
    strict mode: a quoted cell may contain tabs and line breaks, and two quotes inside a quoted cell
    stand for one quote.

    Iterating raises DataError at the first row that has more or fewer cells than the header, is not
    UTF-8, or has an unclosed quote.
    """
    return Tsv(path, where, revision)


def csv(path: Path | DataFile, where: str | None = None, revision: str | None = None) -> "Sheet":
    """Read a comma-separated file with a header as a table, in the same way as `tsv`."""
    return Csv(path, where, revision)


def read_as_missing(table: Table) -> Mapping[str, int]:
    """For each column, count the cells that Snellen reads as text, such as `None`, but that pandas'
    read_csv reads as missing.

    Empty cells are not counted, and columns with a count of 0 are left out. The result is {} if the
    table is not a sheet. The counts come from the index of the file, so this is fast once the index
    exists.
    """
    return {name: sum(words.values()) for name, words in _missing(table).items()}


def missing_note(table: Table) -> str | None:
    """A sentence that reports which cells pandas would read as missing; None if there are no such
    cells."""
    columns = _missing(table)
    if not columns:
        return None
    total: dict[str, int] = {}
    for words in columns.values():
        for word, n in words.items():
            total[word] = total.get(word, 0) + n
    n = sum(total.values())
    word = max(total, key=total.__getitem__)
    where = f"{word!r} in {', '.join(columns)}"
    if n == 1:
        return f"1 cell, {where}, is text here; pandas would read it as missing"
    return f"{n:,} cells such as {where} are text here; pandas would read them as missing"


def _missing(table: Table) -> Mapping[str, Mapping[str, int]]:
    while isinstance(table, Filtered):
        table = table.table
    return table.index().learnt.missing if isinstance(table, Sheet) else {}


class Record(NamedTuple):
    """A row of a sheet, and its position."""

    raw: bytes
    """The bytes of the row, without the line end."""
    offset: int
    """The offset of the row's first byte in the file."""
    position: int | None
    """The position of the row among all rows, from 0; None for the header."""
    line: int | None
    """The number of the row's first line; None if it is unknown."""
    spans: list[Span] | None
    """The positions of the cells in the row. None means that the row has no quotes and can simply
    be split at the delimiters."""

    def where(self, path: Path) -> str:
        """A description of the row for messages: `row 3 of a.tsv (line 4)`."""
        row = "the header" if self.position is None else f"row {self.position + 1}"
        return f"{row} of {path}" + (f" (line {self.line})" if self.line is not None else "")


Hash = blake2b
Unhashed = tuple[int, int, int, int, bytes]
"""The fields of an entry, with the row's bytes instead of their digest."""
PictureSpan = tuple[int, int]
"""The offset of a picture in its row, and its length; 0, 0 if the row has no picture to skip."""


class Sheet(FileTable):
    """A tab- or comma-separated file as a table. The digest of a row covers the bytes of the row
    and the names in the header, because without these names, the cells have no meaning."""

    DELIMITER: bytes

    def __iter__(self) -> Iterator[Row]:
        path = self._path
        known = self._digests(path)
        records = self._records(path)
        names = self._names(next(records), path)
        header = "\t".join(names).encode()
        for position, record in enumerate(records):
            digest = next(known, None)
            yield Row(
                self._fields(record, names, path),
                position,
                digest.hex() if digest else row_digest(header + record.raw),
            )

    def _row(self, raw: bytes, entry: RowEntry, position: int, path: Path, index: RowIndex) -> Row:
        record = Record(raw, entry.offset, position, None, None)
        if b'"' in raw:
            record = self._split(record, bytearray(raw), lambda: False, path)
        return Row(self._fields(record, index.learnt.names, path), position, entry.digest.hex())

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        return self._entries(path, learnt, lambda *_: (0, 0))

    def _entries(
        self, path: Path, learnt: Learnt, picture: Callable[[Record, list[bytes], int], PictureSpan]
    ) -> Iterator[Fields]:
        """The index entries of the rows. `picture` locates the picture in a row, given the
        beginnings of the row's cells."""
        records = self._records(path)
        names = learnt.names = self._names(next(records), path)
        rows = self._rows(records, names, learnt, picture, path)
        first = next(rows)  # never fails: `_records` refuses a table without rows
        rows = chain([first], rows)
        header = blake2b("\t".join(names).encode(), digest_size=16)
        if packed(path) or first[1] <= LONG_ROW:
            return _hashed(rows, header)
        return _hashed_in_threads(rows, header, path)

    def _rows(
        self,
        records: Iterator[Record],
        names: list[str],
        learnt: Learnt,
        picture: Callable[[Record, list[bytes], int], PictureSpan],
        path: Path,
    ) -> Iterator[Unhashed]:
        for position, record in enumerate(records):
            if record.spans is None and len(record.raw) > LONG_ROW:
                record = record._replace(spans=unquoted(record.raw, self.DELIMITER))
            cells = self._heads(record)
            _check_number(len(cells), names, record, path)
            for column, cell in enumerate(cells):
                if len(cell) <= LONGEST and cell in MISSING:
                    words = learnt.missing.setdefault(names[column], {})
                    words[cell.decode()] = words.get(cell.decode(), 0) + 1
            at, skip = picture(record, cells, position)
            yield record.offset, len(record.raw), at, skip, record.raw

    def _heads(self, record: Record) -> list[bytes]:
        """The beginning of each cell in a row, or the complete cells if `record` has no `spans`."""
        if record.spans is None:
            return record.raw.split(self.DELIMITER)
        return [record.raw[start : min(end, start + HEAD)] for start, end, _ in record.spans]

    def _names(self, header: Record, path: Path) -> list[str]:
        names = self._cells(header, path)
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise DataError(
                f"{path} has more than one column named {', '.join(map(repr, twice))}. "
                "Rename or remove all but one."
            )
        if len(names) == 1:
            self._check_delimiter(names[0], path)
        return names

    def _check_delimiter(self, header: str, path: Path) -> None:
        """Refuse a header with a single name if that name contains a different delimiter."""
        for other, word, mend in DELIMITERS:
            if n := header.count(other):
                raise DataError(
                    f"line 1 of {path} contains no {WORDS[self.DELIMITER]} but {n} {word}"
                    f"{'s' if n > 1 else ''}: it begins with {header[:40]!r}. {mend}"
                )

    def _records(self, path: Path) -> Iterator[Record]:
        """Yield the record of the header, and then the record of each row.

        Raises:
            DataError: A row cannot be split into cells, or the file has no rows.
        """
        position = None
        source = lines(path)
        for raw, number, offset in source:
            record = Record(raw.removesuffix(b"\r"), offset, position, number, None)
            if b'"' in raw:
                yield self._quoted(record, raw, source, path)
            elif not record.raw:
                continue
            elif b"\r" in record.raw:
                raise _not_split(NotSplit(LONE_RETURN), record, path)
            else:
                yield record
            position = 0 if position is None else position + 1
        if not position:
            raise empty(path)

    def _quoted(
        self, record: Record, begun: bytes, following: Iterator[Line], path: Path
    ) -> Record:
        """The row that begins with the line `begun`. If there are line breaks in quotes, the row
        continues on the following lines."""
        raw = bytearray(begun)

        def go_on() -> bool:
            """Append all lines up to and including the next line with a quote. Return whether there
            is such a line."""
            for line, _, _ in following:
                raw.extend(b"\n" + line)
                if len(raw) > MAX_ROW_BYTES:
                    assert record.line is not None
                    raise too_long(path, record.line)
                if b'"' in line:
                    return True
            return False

        return self._split(record, raw, go_on, path)

    def _split(
        self, record: Record, raw: bytearray, go_on: Callable[[], bool], path: Path
    ) -> Record:
        try:
            cells = spans(raw, self.DELIMITER, go_on)
        except NotSplit as error:
            raise _not_split(error, record, path) from error
        return record._replace(raw=bytes(raw), spans=cells)

    def _cells(self, record: Record, path: Path) -> list[str]:
        if record.spans is None:
            return _text(record.raw, 0, record, path).split(self.DELIMITER.decode())
        cells = []
        for start, end, doubled in record.spans:
            cell = _text(record.raw[start:end], start, record, path)
            cells.append(cell.replace('""', '"') if doubled else cell)
        return cells

    def _fields(self, record: Record, names: list[str], path: Path) -> dict[str, str]:
        cells = self._cells(record, path)
        _check_number(len(cells), names, record, path)
        return dict(zip(names, cells, strict=True))


class Tsv(Sheet):
    KIND = "tsv"
    DELIMITER = b"\t"


class Csv(Sheet):
    KIND = "csv"
    DELIMITER = b","


def _hashed(rows: Iterator[Unhashed], header: Hash) -> Iterator[Fields]:
    """Yield the entries of the rows. The digest in an entry covers the header and the row."""
    for offset, length, at, skip, raw in rows:
        yield offset, length, at, skip, _digest(header, raw)


def _hashed_in_threads(rows: Iterator[Unhashed], header: Hash, path: Path) -> Iterator[Fields]:
    """Yield the same entries as `_hashed`, but with threads. The threads read the rows again, so
    that only a few rows are in memory."""

    def hashed(block: Sequence[Fields]) -> list[Fields]:
        start, end = block[0][0], block[-1][0] + block[-1][1]
        read = memoryview(os.pread(descriptor, end - start, start))
        if len(read) < end - start:
            raise DataError(
                f"{path} became shorter while it was read. If it is still being written, wait "
                "until it is complete."
            )
        return [
            (offset, length, at, skip, _digest(header, read[offset - start :][:length]))
            for offset, length, at, skip, _ in block
        ]

    with opened(path) as file, ThreadPoolExecutor(THREADS) as threads:
        descriptor = file.fileno()
        blocks = _blocks(rows)
        while ahead := list(islice(blocks, AHEAD)):
            for entries in threads.map(hashed, ahead):
                yield from entries


def _blocks(rows: Iterator[Unhashed]) -> Iterator[list[Fields]]:
    """Group entries without digests into blocks that are hashed together."""
    block: list[Fields] = []
    for offset, length, at, skip, _ in rows:
        block.append((offset, length, at, skip, b""))
        if offset + length - block[0][0] >= HASHED_AT_ONCE:
            yield block
            block = []
    if block:
        yield block


def _digest(header: Hash, raw: bytes | memoryview) -> bytes:
    state = header.copy()
    state.update(raw)
    return state.digest()


def _text(raw: bytes, at: int, record: Record, path: Path) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, record.offset + at, record.where(path)) from error


def _check_number(n: int, names: list[str], record: Record, path: Path) -> None:
    if n != len(names):
        raise DataError(
            f"{record.where(path)} has {n} cells, but the header has {len(names)}: "
            f"{', '.join(names)}. Put quotes around cells that contain a separator or a line "
            "break. If this is the last row of the file, the file may have been cut off."
        )


def _not_split(error: NotSplit, record: Record, path: Path) -> DataError:
    return DataError(
        f"{record.where(path)} cannot be split into cells: {error}. "
        'If a cell contains a quote, write the quote as "" and put the cell in quotes. '
        "If this is the last row of the file, the file may have been cut off."
    )
