"""Rows of a data set, one at a time, each with its place and the digest of what was read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import orjson


class Row(dict[str, Any]):
    """One row as it came: its fields, its place among all rows (from 0), and its digest. Nobody
    changes it.

    `digest` is BLAKE2b-128 (hex) of what was read for this row: the line of a text file without its
    line end, pictures inside the row included, files that it names not. Where none is given it is
    that of the fields, made when somebody asks: who scores predictions never does.
    """

    __slots__ = ("_digest", "place")

    def __init__(self, fields: Mapping[str, Any], place: int, digest: str | None = None) -> None:
        super().__init__(fields)
        self.place = place
        self._digest = digest

    @property
    def digest(self) -> str:
        if self._digest is None:
            self._digest = fields_digest(self)
        return self._digest


@dataclass(frozen=True, kw_only=True)
class Facts:
    """How many rows a table has, and the digest of them all (BLAKE2b-128 of the rows' digests in
    order)."""

    rows: int
    digest: str


class Table(Protocol):
    """Rows of a data set, read anew on every iteration, never held as a list.

    `where` is what a person calls it in a message, `revision` the data set's published revision.
    Nothing is opened
    before the first iteration, so that a benchmark can be built where its data is not.
    """

    where: str
    revision: str | None

    def __iter__(self) -> Iterator[Row]: ...

    def facts(self) -> Facts: ...


@runtime_checkable
class Seekable(Protocol):
    """A table that gives a row without reading those before it, if `seeks` is true of its file."""

    @property
    def seeks(self) -> bool: ...

    def at(self, place: int) -> Row: ...


def rows_at(table: Table, places: Iterable[int]) -> Iterator[Row]:
    """The table's rows at these places, in the table's order: sought where it can be done, else
    found in one pass that ends at the last of them.

    Raises:
        IndexError: there is no such row.
    """
    wanted = sorted(set(places))
    if isinstance(table, Seekable) and table.seeks:
        yield from map(table.at, wanted)
        return
    left = iter(wanted)
    place = next(left, None)
    for row in table if wanted else ():
        if row.place == place:
            yield row
            place = next(left, None)
            if place is None:
                return
    if place is not None:
        raise IndexError(f"there is no row {place} in {table.where}")


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
    """A table made by a function, for rows that the package draws or lists itself."""

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
        for place, fields in enumerate(self._rows()):
            yield Row(fields, place)

    def facts(self) -> Facts:
        return facts_of(iter(self))


class Filtered:
    """The rows of another table that pass a test; each keeps its place among all rows."""

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

    def at(self, place: int) -> Row:
        row = next(rows_at(self.table, [place]))
        if not self._keep(row):
            raise IndexError(f"row {place} of {self.where} is left out")
        return row

    def facts(self) -> Facts:
        return facts_of(iter(self))


def fields_digest(fields: Mapping[str, Any]) -> str:
    """The digest of a row that is no text: of its JSON with sorted names, bytes by their digest."""
    return row_digest(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, bytes):
        return row_digest(value)
    if isinstance(value, Decimal | timedelta):
        return str(value)
    raise TypeError(f"a row holds a {type(value).__name__}, which is no JSON type")
