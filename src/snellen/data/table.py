"""Tables: data sets that yield one row at a time, each with its position and digest."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import orjson

from snellen.errors import DataError


class Row(dict[str, Any]):
    """One row: its fields, its position among all rows (from 0), and its digest. Never change a
    row.

    `digest` is the BLAKE2b-128, in hex, of the bytes of the row: in a text file, the line without
    its line end. The digest covers pictures inside the row, but not files that the row refers to.
    If no digest is passed, it is computed from the bytes `raw`, or else from the fields, when it is
    first accessed. Scoring predictions does not need the digest.
    """

    __slots__ = ("_digest", "_raw", "position")

    def __init__(
        self,
        fields: Mapping[str, Any],
        position: int,
        digest: str | None = None,
        raw: bytes | None = None,
    ) -> None:
        super().__init__(fields)
        self.position = position
        self._digest = digest
        self._raw = raw

    @property
    def digest(self) -> str:
        if self._digest is None:
            self._digest = fields_digest(self) if self._raw is None else row_digest(self._raw)
        return self._digest


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The size and the digest of a table."""

    rows: int
    """The number of rows."""
    digest: str
    """The BLAKE2b-128, in hex, of the digests of all rows in order."""


class Table(Protocol):
    """The rows of a data set. Every iteration reads the rows again; they are never kept as a list.

    `where` is the name of the table in messages, and `revision` is the published revision of the
    data set. Nothing is opened before the first iteration, so that a benchmark can be created
    without its data.
    """

    where: str
    revision: str | None

    def __iter__(self) -> Iterator[Row]: ...

    def facts(self) -> Facts: ...


@runtime_checkable
class Seekable(Protocol):
    """A table that supports access to rows by position if `seeks` is true."""

    @property
    def seeks(self) -> bool: ...

    def at(self, position: int) -> Row: ...


@runtime_checkable
class ReadsMany(Seekable, Protocol):
    """A seekable table that reads many rows faster than one row at a time."""

    def rows(self, positions: Iterable[int]) -> Iterator[Row]: ...


@runtime_checkable
class Noted(Protocol):
    """A table with a note for runs, such as one about files that only the prompts use. None: there
    is nothing to report."""

    def run_note(self) -> str | None: ...


def has_all_positions(table: Table) -> bool:
    """Whether the rows of a table have the positions from 0 to their number, and can be read by
    position."""
    all_positions = getattr(table, "HAS_ALL_POSITIONS", False)
    return bool(all_positions) and isinstance(table, Seekable) and table.seeks


def rows_at(table: Table, places: Iterable[int]) -> Iterator[Row]:
    """Yield the rows at these positions, in the order of the table. If the table cannot seek, it is
    read up to the last of these rows.

    Raises:
        IndexError: There is no row at one of the positions.
    """
    wanted = sorted(set(places))
    if isinstance(table, Seekable) and table.seeks:
        yield from table.rows(wanted) if isinstance(table, ReadsMany) else map(table.at, wanted)
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
    """Read all rows once, and return the size and the digest of the table."""
    common = blake2b(digest_size=16)
    n = 0
    for row in rows:
        common.update(bytes.fromhex(row.digest))
        n += 1
    return Facts(rows=n, digest=common.hexdigest())


def unreadable(where: str, fields: Iterable[str], error: Exception) -> DataError:
    """The error for a row that does not have the expected form. `where` names the row."""
    names = ", ".join(fields)
    return DataError(f"{where} cannot be read: {problem(error)}. It has the fields {names}.")


def problem(error: Exception) -> str:
    """What is wrong with a row, from the error that reading it raised."""
    return (
        f"no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
    )


class Drawn:
    """A table whose rows come from a function instead of a file of rows."""

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
    """The rows of another table for which `keep` is true. Each row keeps its position in that
    table."""

    def __init__(self, table: Table, keep: Callable[[Row], bool]) -> None:
        self.where = table.where
        self.revision = table.revision
        self.table = table
        self._keep = keep

    def __iter__(self) -> Iterator[Row]:
        return (row for row in self.table if self._keeps(row))

    @property
    def seeks(self) -> bool:
        return isinstance(self.table, Seekable) and self.table.seeks

    def at(self, position: int) -> Row:
        row = next(rows_at(self.table, [position]))
        if not self._keeps(row):
            raise IndexError(f"row {position} of {self.where} is left out")
        return row

    def _keeps(self, row: Row) -> bool:
        """Whether a row is kept.

        Raises:
            DataError: The row lacks a field that decides whether it is kept, or the field has an
                unexpected value.
        """
        try:
            return self._keep(row)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise unreadable(f"row {row.position + 1} of {self.where}", row, error) from error

    def facts(self) -> Facts:
        return facts_of(iter(self))


def fields_digest(fields: Mapping[str, Any]) -> str:
    """The digest of a row that does not come from a text file. The digest is computed from the row
    as JSON, with sorted names and with bytes replaced by their digest."""
    return row_digest(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, bytes):
        return row_digest(value)
    if isinstance(value, Decimal | timedelta):
        return str(value)
    raise TypeError(f"a row contains a {type(value).__name__}, which is not a JSON type")
