"""The base class of tables that read one file, with a row index and access to rows by position."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from snellen.data.lines import opened, packed
from snellen.data.locations import DataFile, path_of
from snellen.data.row_index import Fields, Learnt, RowEntry, RowIndex, identity, index_of
from snellen.data.table import Facts, Row
from snellen.errors import DataError


class FileTable:
    """The rows of one file. `KIND` names the format. A file that is read in two formats has an
    index for each."""

    KIND: str

    def __init__(self, path: Path | DataFile, where: str | None, revision: str | None) -> None:
        self.where = where or f"{path}"
        self.revision = revision
        self._source = path
        self._index: RowIndex | None = None

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows. Raise DataError with the number of the first row that cannot be read."""
        raise NotImplementedError

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        """Yield an index entry for each row, and store other facts about the file in `learnt`."""
        raise NotImplementedError

    def _row(self, raw: bytes, entry: RowEntry, position: int, path: Path, index: RowIndex) -> Row:
        """Parse the row from its bytes."""
        raise NotImplementedError

    def _bytes(self, descriptor: int, entry: RowEntry) -> bytes:
        """Read the bytes of the row that this index entry locates in the open file."""
        return os.pread(descriptor, entry.length, entry.offset)

    @property
    def seeks(self) -> bool:
        return not packed(self._path)

    def facts(self) -> Facts:
        """The size and the digest of the table, from the index. Creates the index if necessary."""
        return self.index().facts

    def at(self, position: int) -> Row:
        """Read one row without reading the rows before it.

        Raises:
            DataError: The file is gzipped or cannot be opened, or the row cannot be read.
            IndexError: There is no row at this position.
        """
        path = self._path
        if packed(path):
            raise DataError(
                f"{path} is gzipped, so row {position + 1} cannot be read without the rows before "
                "it. Decompress the file with gunzip."
            )
        index = self.index()
        entry = index.entry(position)
        with opened(path) as file:
            return self._row(self._bytes(file.fileno(), entry), entry, position, path, index)

    def rows(self, positions: Iterable[int]) -> Iterator[Row]:
        """Read the rows at these positions, in this order, from one opening of the file.

        Raises:
            DataError: The file cannot be opened, or a row cannot be read.
            IndexError: There is no row at one of the positions.
        """
        path, index = self._path, self.index()
        with opened(path) as file:
            for position in positions:
                entry = index.entry(position)
                yield self._row(self._bytes(file.fileno(), entry), entry, position, path, index)

    def index(self) -> RowIndex:
        """The index of the file in its current state."""
        path = self._path
        if (index := self._current(path)) is None:
            index = self._index = index_of(path, self.KIND, lambda learnt: self._scan(path, learnt))
        return index

    @property
    def _path(self) -> Path:
        return path_of(self._source)

    def _current(self, path: Path) -> RowIndex | None:
        """The index, if this table has already loaded it and the file has not changed since; None
        otherwise."""
        held = self._index
        return held if held is not None and held.file == identity(path) else None

    def _digests(self, path: Path) -> Iterator[bytes]:
        """Yield the digests of the rows if the index is loaded and current; otherwise, yield
        nothing."""
        held = self._current(path)
        return held.digests() if held is not None else iter(())
