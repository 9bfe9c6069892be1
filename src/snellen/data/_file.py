"""Shared parts of tables of one file: the index, and access to rows by their number."""

import os
from collections.abc import Iterator
from pathlib import Path

from snellen.data.lines import opened, packed
from snellen.data.locations import DataFile, path_of
from snellen.data.row_index import Fields, Learnt, RowEntry, RowIndex, identity, index_of
from snellen.data.table import Facts, Row
from snellen.errors import DataError


class FileTable:
    """The rows of one file. `KIND` distinguishes the indexes of different ways to read it."""

    KIND: str

    def __init__(self, path: Path | DataFile, where: str | None, revision: str | None) -> None:
        self.where = where or f"{path}"
        self.revision = revision
        self._source = path
        self._index: RowIndex | None = None

    def __iter__(self) -> Iterator[Row]:
        """The rows. Raises DataError with the number of the first row that cannot be read."""
        raise NotImplementedError

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        """An index entry for each row, and the facts to learn while the file is read."""
        raise NotImplementedError

    def _row(self, raw: bytes, entry: RowEntry, position: int, path: Path, index: RowIndex) -> Row:
        """The row in these bytes of the file."""
        raise NotImplementedError

    def _bytes(self, descriptor: int, entry: RowEntry) -> bytes:
        """These bytes of the open file."""
        return os.pread(descriptor, entry.length, entry.offset)

    @property
    def seeks(self) -> bool:
        return not packed(self._path)

    def facts(self) -> Facts:
        """The number of rows and their digest, from the index, which is created if necessary."""
        return self.index().facts

    def at(self, position: int) -> Row:
        """One row, without reading those before it.

        Raises:
            DataError: the file is packed, cannot be opened, or the row cannot be read.
            IndexError: there is no such row.
        """
        path = self._path
        if packed(path):
            raise DataError(
                f"{path} is packed, so that all rows must be read to find row {position + 1}."
            )
        index = self.index()
        entry = index.entry(position)
        with opened(path) as file:
            return self._row(self._bytes(file.fileno(), entry), entry, position, path, index)

    def index(self) -> RowIndex:
        """The index of the file as it is now."""
        path = self._path
        if (index := self._current(path)) is None:
            index = self._index = index_of(path, self.KIND, lambda learnt: self._scan(path, learnt))
        return index

    @property
    def _path(self) -> Path:
        return path_of(self._source)

    def _current(self, path: Path) -> RowIndex | None:
        """The index if this table has it already and the file has not changed; None otherwise."""
        held = self._index
        return held if held is not None and held.file == identity(path) else None

    def _digests(self, path: Path) -> Iterator[bytes]:
        """The digests of the rows, as far as they are known."""
        held = self._current(path)
        return held.digests() if held is not None else iter(())
