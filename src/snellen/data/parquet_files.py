"""Reads the rows of a parquet file, or of all its parts in a folder. Needs the extra `parquet`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.data.lines import empty
from snellen.data.locations import DataFile, path_of
from snellen.data.row_index import Fields, Learnt, RowIndex, Scan, identity, index_of
from snellen.data.table import Facts, Row, fields_digest
from snellen.errors import DataError, install
from snellen.media import forms
from snellen.media.content import Image

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

HELD_BYTES = 4_000_000
HELD_ROWS = 1_000
_PART = re.compile(r"(?P<name>.*)-(?P<number>\d{5})-of-(?P<parts>\d{5})\b.*")


def parquet(
    path: Path | DataFile, where: str | None = None, revision: str | None = None
) -> "Parquet":
    """Read a parquet file as a table. The path may also be a folder with all parts of one file
    (`test-00000-of-00003.parquet`, ...), which are read in order.

    Cells are Python values. Pictures in the form of Hugging Face's Image feature, `{"bytes",
    "path"}`, become images, even inside lists. The digest of a row is the digest of its JSON, with
    bytes replaced by their digest. Only a few rows are in memory at a time.

    Iterating raises DataError if the extra `parquet` is not installed, if the file or a part of it
    is missing or cannot be read, or if the folder has the parts of several files.
    """
    return Parquet(path, where, revision)


class Parquet:
    """One parquet file, or its parts, as a table. The table cannot seek, because reading a row
    requires decoding all earlier rows of its row group."""

    def __init__(self, path: Path | DataFile, where: str | None, revision: str | None) -> None:
        self.where = where or str(path)
        self.revision = revision
        self._source = path
        self._indexes: dict[Path, RowIndex] = {}

    def __iter__(self) -> Iterator[Row]:
        position = 0
        for path in self._files():
            index = self._known(path)
            known = index.digests() if index else iter(())
            with _opened(path) as file:
                for fields in _rows(file, range(file.num_row_groups)):
                    digest = next(known, None)
                    yield _row(
                        fields, position, digest.hex() if digest else fields_digest(fields), path
                    )
                    position += 1
        if position == 0:
            raise empty(path_of(self._source))

    def facts(self) -> Facts:
        """The size and the digest of the table, from the indexes of the files. Creates the indexes
        if necessary."""
        rows = 0
        common = blake2b(digest_size=16)
        for path in self._files():
            index = self._indexes[path] = self._known(path) or index_of(
                path, "parquet", _scan(path)
            )
            rows += index.facts.rows
            for digest in index.digests():
                common.update(digest)
        if rows == 0:
            raise empty(path_of(self._source))
        return Facts(rows=rows, digest=common.hexdigest())

    def _known(self, path: Path) -> RowIndex | None:
        """The index of the file, if this table has already loaded it and the file has not changed
        since; None otherwise."""
        index = self._indexes.get(path)
        return index if index is not None and index.file == identity(path) else None

    def _files(self) -> list[Path]:
        path = path_of(self._source)
        return _parts(path) if path.is_dir() else [path]


def _parts(folder: Path) -> list[Path]:
    """The parts of the only data set in a folder, in order. Raises DataError if a part is missing
    or if the folder has several data sets."""
    sets: dict[str, dict[int, Path]] = {}
    wanted: dict[str, int] = {}
    for path in sorted(folder.glob("*.parquet")):
        part = _PART.fullmatch(path.stem)
        name = part["name"] if part else path.stem
        number, parts = (int(part["number"]), int(part["parts"])) if part else (0, 1)
        parts_of_set = sets.setdefault(name, {})
        if number in parts_of_set or wanted.setdefault(name, parts) != parts:
            other = next(iter(parts_of_set.values()))
            raise DataError(
                f"{folder} has two versions of {name}, with {other.name} and {path.name}. "
                "Delete the files of one version."
            )
        parts_of_set[number] = path
    if not sets:
        raise DataError(f"{folder} has no parquet file.")
    if len(sets) > 1:
        raise DataError(
            f"{folder} has the parquet files of {len(sets)} data sets: {', '.join(sets)}. "
            "Pass the path of one file, or move the files of one data set to a separate folder."
        )
    [(name, parts_of_set)] = sets.items()
    if missing := sorted(set(range(wanted[name])) - set(parts_of_set)):
        raise DataError(
            f"{folder} has {len(parts_of_set)} of the {wanted[name]} parts of {name}: "
            f"{name}-{missing[0]:05}-of-{wanted[name]:05}.parquet is missing. Download all parts."
        )
    return [parts_of_set[number] for number in sorted(parts_of_set)]


@contextmanager
def _opened(path: Path) -> Iterator["ParquetFile"]:
    """Open a parquet file, and turn errors that occur while the file is open into DataErrors."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise DataError(
            f"{path}: pyarrow is needed to read parquet and is not installed: {install('parquet')}."
        ) from error
    identity(path)  # raises our own error if the file is missing
    try:
        # With other values of these two options, pyarrow keeps whole row groups, or all of them,
        # in memory.
        with ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            yield file
    except (ArrowException, OSError, ValueError) as error:
        reason = f"{error}".rstrip(".")
        raise DataError(
            f"{path} cannot be read as parquet: {reason}. If it was downloaded, download it again."
        ) from error


def _rows(file: "ParquetFile", groups: Sequence[int]) -> Iterator[dict[str, Any]]:
    for group in groups:
        stored = file.metadata.row_group(group)
        size = stored.total_byte_size // max(1, stored.num_rows)
        held = max(1, min(HELD_ROWS, HELD_BYTES // max(1, size)))
        for batch in file.iter_batches(held, row_groups=[group], use_threads=False):
            yield from batch.to_pylist()


def _scan(path: Path) -> Scan:
    def scan(_: Learnt) -> Iterator[Fields]:
        with _opened(path) as file:
            for fields in _rows(file, range(file.num_row_groups)):
                yield 0, 0, 0, 0, bytes.fromhex(fields_digest(fields))

    return scan


def _row(fields: Mapping[str, Any], position: int, digest: str, path: Path) -> Row:
    seen = {
        name: _seen(value, f"row {position + 1} of {path.name}, {name}", path.parent)
        for name, value in fields.items()
    }
    return Row(seen, position, digest)


def _seen(value: Any, where: str, folder: Path) -> Any:
    """Convert the pictures in a cell to images."""
    if isinstance(value, list) and any(map(_is_picture, value)):
        return tuple(_seen(part, f"{where} {n}", folder) for n, part in enumerate(value, 1))
    if not _is_picture(value):
        return value
    if value["bytes"] is not None:
        return Image(value["bytes"], where)
    if value["path"] is not None:
        return forms.medium(value["path"], where, kind="image", folder=folder)
    return None


def _is_picture(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"bytes", "path"}
