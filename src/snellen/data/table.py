"""Rows of a data set, one at a time, each with its position and digest."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import orjson


class Row(dict[str, Any]):
    """One row: its fields, its position among all rows (from 0), and its digest. A row is never
    changed.

    `digest` is BLAKE2b-128 (hex) of the bytes of the row: the line of a text file without its line
    end. It covers pictures inside the row, but not files that the row names. By default it is the
    digest of the fields, computed when it is first needed; scoring predictions never needs it.
    """

    __slots__ = ("_digest", "position")

    def __init__(self, fields: Mapping[str, Any], position: int, digest: str | None = None) -> None:
        super().__init__(fields)
        self.position = position
        self._digest = digest

    @property
    def digest(self) -> str:
        if self._digest is None:
            self._digest = fields_digest(self)
        return self._digest


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The size and the digest of a table."""

    rows: int
    """The number of rows."""
    digest: str
    """BLAKE2b-128 of the rows' digests, in order, in hex."""


class Table(Protocol):
    """The rows of a data set, read again on every iteration, and never held as a list.

    `where` is its name in messages, and `revision` the published revision of the data set. Nothing
    is opened before the first iteration, so that a benchmark can be built without its data.
    """

    where: str
    revision: str | None

    def __iter__(self) -> Iterator[Row]: ...

    def facts(self) -> Facts: ...


@runtime_checkable
class Seekable(Protocol):
    """A table that can read a row without those before it, if `seeks` is true of its file."""

    @property
    def seeks(self) -> bool: ...

    def at(self, position: int) -> Row: ...


def rows_at(table: Table, places: Iterable[int]) -> Iterator[Row]:
    """The rows at these positions, in the order of the table: by seeking if possible, otherwise in
    one pass that ends at the last of them.

    Raises:
        IndexError: there is no such row.
    """
    wanted = sorted(set(places))
    if isinstance(table, Seekable) and table.seeks:
        yield from map(table.at, wanted)
        return
    left = iter(wanted)
    position = next(left, None)
    for row in table if wanted else ():
        if row.position == position:
            yield row
            position = next(left, None)
            if position is None:
                return
    if position is not None:
        raise IndexError(f"there is no row {position} in {table.where}")


def row_digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def facts_of(rows: Iterator[Row]) -> Facts:
    """One pass over the rows: their number and their common digest."""
    common = blake2b(digest_size=16)
    n = 0
    for row in rows:
        common.update(bytes.fromhex(row.digest))
        n += 1
    return Facts(rows=n, digest=common.hexdigest())


class Drawn:
    """A table from a function, for rows that the package draws or lists itself."""

    def __init__(
        self,
        where: str,
        rows: Callable[[], Iterator[Mapping[str, Any]]],
        revision: str | None = None,
    ) -> None:
        self.where = where
        self.revision = revision
        self._rows = rows

    def __iter__(self) -> Iterator[Row]:
        for position, fields in enumerate(self._rows()):
            yield Row(fields, position)

    def facts(self) -> Facts:
        return facts_of(iter(self))


class Filtered:
    """The rows of another table that pass a test. Each keeps its position among all rows."""

    def __init__(self, table: Table, keep: Callable[[Row], bool]) -> None:
        self.where = table.where
        self.revision = table.revision
        self.table = table
        self._keep = keep

    def __iter__(self) -> Iterator[Row]:
        return (row for row in self.table if self._keep(row))

    @property
    def seeks(self) -> bool:
        return isinstance(self.table, Seekable) and self.table.seeks

    def at(self, position: int) -> Row:
        row = next(rows_at(self.table, [position]))
        if not self._keep(row):
            raise IndexError(f"row {position} of {self.where} is left out")
        return row

    def facts(self) -> Facts:
        return facts_of(iter(self))


def fields_digest(fields: Mapping[str, Any]) -> str:
    """The digest of a row that is not text: of its JSON with sorted names, and bytes replaced by
    their digest."""
    return row_digest(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, bytes):
        return row_digest(value)
    if isinstance(value, Decimal | timedelta):
        return str(value)
    raise TypeError(f"a row holds a {type(value).__name__}, which is not a JSON type")
