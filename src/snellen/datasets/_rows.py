"""The table that a file's name asks for."""

from collections.abc import Callable
from pathlib import Path

from snellen.datasets._find import Found, path_of
from snellen.datasets._json import json_list, jsonl
from snellen.datasets._sheets import csv, tsv
from snellen.datasets._table import Table
from snellen.errors import DataError

READERS: dict[str, Callable[[Path | Found, str | None, str | None], Table]] = {
    ".jsonl": jsonl,
    ".json": json_list,
    ".tsv": tsv,
    ".csv": csv,
}


def rows_of(source: Path | Found, where: str | None = None, revision: str | None = None) -> Table:
    """A table of a JSONL, JSON, TSV or CSV file by the end of its name, `.gz` behind it or not.

    Raises:
        DataError: the name ends otherwise.
    """
    path = path_of(source)
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in READERS:
        raise DataError(
            f"{path} is no file of rows by its name: rows are read from {', '.join(READERS)}, "
            "each with or without .gz behind it."
        )
    return READERS[suffix](source, where, revision)
