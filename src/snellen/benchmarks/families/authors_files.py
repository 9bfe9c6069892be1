"""Read a data set in any published format: its authors' JSON, VLMEvalKit's TSV, or parquet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from snellen.data import (
    DataFile,
    Drawn,
    Facts,
    Row,
    Table,
    facts_of,
    file_content,
    parquet,
    vlmevalkit_tsv,
)
from snellen.errors import DataError
from snellen.media.content import Image, Slice

Rows = Callable[[Path], Iterator[dict[str, Any]]]


def table(
    data_file: DataFile, rows: Rows, revision: str | None = None
) -> tuple[Table, DataFile | None]:
    """Return the rows of a data set, and the file that contains them. The file is None for a folder
    of parquet parts.

    The file's suffix determines its format: .tsv, .parquet, or, for any other suffix, the authors'
    JSON. `rows` reads the authors' JSON. A folder that the user passes may contain the parts of one
    parquet file, under any names.
    """
    folder = data_file.data
    if folder is not None and folder.is_dir() and any(folder.glob("*.parquet")):
        return parquet(folder), None
    kind = Path(str(data_file)).suffix
    if kind == ".tsv":
        return vlmevalkit_tsv(data_file), data_file
    if kind == ".parquet":
        return parquet(data_file), data_file
    return Drawn(str(data_file), lambda: _own(data_file.path, rows), revision), data_file


class Joined:
    """The rows of several tables, one table after another."""

    def __init__(self, where: str, tables: Iterable[Table]) -> None:
        self.where = where
        self.revision: str | None = None
        self._tables = tuple(tables)

    def __iter__(self) -> Iterator[Row]:
        position = 0
        for table in self._tables:
            for row in table:
                yield Row(row, position, row.digest)
                position += 1

    def facts(self) -> Facts:
        return facts_of(iter(self))


def of_json(path: Path) -> Any:
    """The content of a JSON file, gzipped or not.

    Raises:
        DataError: the file is not complete, valid JSON in UTF-8, or it cannot be read.
    """
    try:
        return orjson.loads(file_content(path))
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{path} is not complete, valid JSON: {error}. Download it again."
        ) from error


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON file that is a list of objects."""
    for row in of_json(path):
        if not isinstance(row, dict):
            raise TypeError("it is not a list of objects")
        yield row


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    """The content of a JSON file that contains an object, which maps ids to objects.

    Raises:
        DataError: the file cannot be read, or its content has another form.
    """
    every = of_json(path)
    if not isinstance(every, dict) or not all(isinstance(entry, dict) for entry in every.values()):
        raise DataError(
            f"{path} is not a JSON object that maps ids to objects. Check that it is the right "
            "file."
        )
    return every


def _own(path: Path, rows: Rows) -> Iterator[dict[str, Any]]:
    try:
        yield from rows(path)
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is JSON, but not in the format that the data set's authors publish: "
            f"{error!r}. Check that it is the right file."
        ) from error


def texts(value: object, *, written: bool = True) -> tuple[str, ...]:
    """Return the texts in a cell that contains a single text or a list of texts.

    If `written` is true, a text that contains a Python list is read as a list, as in VLMEvalKit's
    TSVs. An empty cell has no texts.
    """
    if isinstance(value, str):
        if not (written and value.startswith("[")):
            return (value,) if value else ()
        try:
            value = ast.literal_eval(value)
        # The text starts with a bracket but is not a list, or its brackets are nested too deeply.
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return (str(value),)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def picture(row: Row) -> Image:
    """Return the picture of a row that has exactly one."""
    image = row["image"]
    if isinstance(image, tuple):
        (image,) = image
    if isinstance(image, bytes):
        image = Image(image, f"row {row.position + 1}, image")
    if not isinstance(image, Image):
        raise ValueError("no picture in it")
    return image


def picture_key(image: Image) -> str:
    """Return a key that all rows with the same picture share: the digest of the picture's bytes,
    the picture's offset in a TSV, or the name of its file."""
    if isinstance(image.source, bytes):
        return blake2b(image.source, digest_size=16).hexdigest()
    return str(image.source.offset) if isinstance(image.source, Slice) else image.label
