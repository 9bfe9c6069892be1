"""Rows of sheets: tab- or comma-separated text with a header, quoted as the csv module does."""

import csv as quoting
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from snellen.datasets._find import Found, path_of
from snellen.datasets._lines import (
    MAX_ROW_BYTES,
    Line,
    empty,
    lines,
    not_utf8,
    too_long,
    without_end,
)
from snellen.datasets._table import Facts, Row, row_digest
from snellen.errors import DataError


def tsv(path: Path | Found, where: str | None = None, revision: str | None = None) -> "Sheet":
    """A table of a tab-separated file with a header, gzipped or not.

    A cell is text as it stands, `None`, `NA` and `null` too. Quotes are the csv module's, strictly:
    a quoted cell may hold tabs and line breaks, and two quotes in it are one. Iterating raises
    DataError with the number of the first row that has not as many cells as the header, is not
    UTF-8, or has a quote that is never closed.
    """
    return Sheet(path, "\t", where, revision)


def csv(path: Path | Found, where: str | None = None, revision: str | None = None) -> "Sheet":
    """A table of a comma-separated file with a header; all else as `tsv`."""
    return Sheet(path, ",", where, revision)


class _Record(NamedTuple):
    """A row's bytes without its line end, where they start, and its cells where already read."""

    raw: bytes
    number: int
    offset: int
    cells: list[str] | None


class Sheet:
    """A separated text file as a table. A row's digest is that of the header's names and its own
    bytes, since a row means nothing without them."""

    def __init__(
        self,
        path: Path | Found,
        delimiter: str,
        where: str | None,
        revision: str | None,
    ) -> None:
        self.where = where or str(path)
        self.revision = revision
        self._path = path
        self._delimiter = delimiter

    def __iter__(self) -> Iterator[Row]:
        path = path_of(self._path)
        records = self._records(path)
        names = self._names(records, path)
        header = "\t".join(names).encode()
        place = -1
        for place, record in enumerate(records):
            cells = self._cells(record, path, f"row {place}")
            if len(cells) != len(names):
                raise DataError(
                    f"row {place} of {path} (line {record.number}) has {len(cells)} cells, the "
                    f"header has {len(names)}: {', '.join(names)}. A cell with a separator or a "
                    "line break in it needs quotes; a last row may be cut off with its file."
                )
            yield Row(dict(zip(names, cells, strict=True)), place, row_digest(header + record.raw))
        if place < 0:
            raise empty(path)

    def facts(self) -> Facts:
        """Number and digest of the rows; only those with quotes are parsed, to find their end."""
        path = path_of(self._path)
        records = self._records(path)
        header = "\t".join(self._names(records, path)).encode()
        common = blake2b(digest_size=16)
        n = 0
        for record in records:
            common.update(blake2b(header + record.raw, digest_size=16).digest())
            n += 1
        if n == 0:
            raise empty(path)
        return Facts(rows=n, digest=common.hexdigest())

    def _names(self, records: Iterator[_Record], path: Path) -> list[str]:
        header = next(records, None)
        if header is None:
            raise empty(path)
        names = self._cells(header, path, "the header")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise DataError(
                f"{path} has more than one column named {', '.join(map(repr, twice))}. "
                "Rename or remove all but one."
            )
        return names

    def _records(self, path: Path) -> Iterator[_Record]:
        # One setting for the whole of the program, whose default of 128 kB is less than a picture.
        quoting.field_size_limit(MAX_ROW_BYTES)
        place = -1
        source = lines(path)
        for line in source:
            raw = without_end(line.raw)
            if not raw:
                continue
            if b'"' in raw or b"\r" in raw:
                row = "the header" if place < 0 else f"row {place}"
                yield self._quoted(line, source, path, row)
            else:
                yield _Record(raw, line.number, line.offset, None)
            place += 1

    def _quoted(self, first: Line, following: Iterator[Line], path: Path, row: str) -> _Record:
        """The row that begins with this line and may go on over line breaks inside quotes."""
        taken: list[bytes] = []

        def wanted() -> Iterator[str]:
            size = 0
            line: Line | None = first
            while line is not None:
                taken.append(line.raw)
                size += len(line.raw)
                if size > MAX_ROW_BYTES:
                    raise too_long(path, first.number)
                yield _text(line.raw, path, line.offset, row)
                line = next(following, None)

        try:
            cells = next(quoting.reader(wanted(), delimiter=self._delimiter, strict=True))
        except quoting.Error as error:
            raise DataError(
                f"{row} of {path} (line {first.number}) cannot be split into cells: {error}. "
                'A quote in a cell is written "" and the cell is put in quotes; '
                "if it is the last row, the file may be cut off."
            ) from error
        return _Record(without_end(b"".join(taken)), first.number, first.offset, cells)

    def _cells(self, record: _Record, path: Path, row: str) -> list[str]:
        if record.cells is not None:
            return record.cells
        return _text(record.raw, path, record.offset, row).split(self._delimiter)


def _text(raw: bytes, path: Path, offset: int, row: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, path, offset, row) from error
