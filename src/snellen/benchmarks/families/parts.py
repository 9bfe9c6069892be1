"""Data sets that have a file for each part: their rows, and result files with the same names.

The rows of a part are in parquet files (`data/vwtq-00000-of-00001.parquet`), as on the Hugging Face
hub, or in a JSON file (`vwtq.json`), which is a list of rows or an object with such a list. The
authors' result files are JSON files with the questions, so they can also be read as rows. Their
pictures are then missing, and only replies can be scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import authors_files, results
from snellen.benchmarks.families.mmmu import looked_for, parquet_files
from snellen.core import Published
from snellen.data import DataFile, Facts, Row, facts_of, parquet
from snellen.data.published import File
from snellen.errors import DataError

PART, INDEX = "part", "index_in_part"
"""The fields that are added to each row: its part, and its position in the part, from 0."""
LISTS = ("record", "instances")
"""The fields in which authors' result files have the list of rows."""


def find_parts(
    data: Path | None, benchmark: str, parts: Sequence[str], files: Sequence[File], spec: str
) -> DataFile:
    """Find the files of the parts. The names of parquet files may end with any digest."""
    names = [f"{part}.json{ending}" for part in parts for ending in ("", ".gz")]
    patterns = [f"data/{part}-*.parquet" for part in parts]
    return looked_for(
        data, benchmark, patterns, (*names, *(file.name for file in files)), files, spec
    )


class PartsTable:
    """The rows of the parts, one part after another. If the user passed a single file, the table
    has only the rows of this file."""

    def __init__(self, data_file: DataFile, parts: Sequence[str]) -> None:
        self.where = str(data_file)
        self.revision: str | None = None
        self._file = data_file
        self._parts = parts

    def __iter__(self) -> Iterator[Row]:
        position = 0
        for part, paths in self._paths().items():
            index = 0
            for path in paths:
                rows = parquet(path) if path.suffix == ".parquet" else _rows(path)
                for row in rows:
                    digest = row.digest if isinstance(row, Row) else None
                    yield Row({**row, PART: part, INDEX: index}, position, digest)
                    position, index = position + 1, index + 1

    def facts(self) -> Facts:
        return facts_of(iter(self))

    def _paths(self) -> dict[str, list[Path]]:
        """The files of each part.

        Raises:
            DataError: the file that the user passed is not a part's, or a part has no file.
        """
        path = self._file.path
        if path.suffix == ".parquet":
            paths = parquet_files(self._file)
        elif self._file.data == path:
            paths = [path]
        else:
            paths = [*json_files(path.parent, self._parts).values()]
        by_part = {part: [path for path in paths if part_of(path) == part] for part in self._parts}
        there = {part: files for part, files in by_part.items() if files}
        if not there:
            raise DataError(
                f"{path} is not a file of {self._file.benchmark}: its name must begin with "
                f"{' or '.join(self._parts)}."
            )
        if self._file.data != path and (missing := [part for part in by_part if part not in there]):
            raise DataError(
                f"{path.parent} has no file of {', '.join(missing)}. Download the missing files, "
                "or choose the parts that are there with the benchmark's options."
            )
        return there


def part_of(path: Path) -> str:
    """The part that a file belongs to, by the beginning of its name."""
    return path.name.split(".")[0].split("-")[0]


def json_files(folder: Path, parts: Sequence[str]) -> dict[str, Path]:
    """The JSON files of the parts in a folder. Parts without a file are left out."""
    paths = (folder / f"{part}.json{ending}" for part in parts for ending in ("", ".gz"))
    return {part_of(path): path for path in paths if path.is_file()}


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = _listed(authors_files.of_json(path))
    if not rows:
        raise DataError(
            f"{path} is not a list of rows, nor an object with such a list in "
            f"{' or '.join(LISTS)}. Check that it is the authors' file."
        )
    return rows


def _listed(content: Any) -> list[dict[str, Any]] | None:
    if isinstance(content, dict):
        content = next((content[name] for name in LISTS if name in content), None)
    is_list = isinstance(content, list) and all(isinstance(row, dict) for row in content)
    return content if is_list else None


def published_replies(
    path: Path,
    parts: Sequence[str],
    id_of: Callable[[Mapping[str, Any]], str],
    reply_of: Callable[[Mapping[str, Any]], str | None],
) -> Published | None:
    """Read the authors' result file of a part, or a folder of such files. The authors score only
    the rows in their files. A question with several rows is scored once for each row.

    Returns None for any other path.
    """
    paths = json_files(path, parts) if path.is_dir() else {part_of(path): path}
    replies: dict[str, str | None] = {}
    again: dict[str, list[str | None]] = {}
    for part, file in paths.items():
        rows = _listed(results.of_json(file)) if part in parts else None
        for index, row in enumerate(rows or ()):
            try:
                name, reply = id_of({**row, PART: part, INDEX: index}), reply_of(row)
            except KeyError:
                return None
            if not isinstance(reply, str | None):
                return None
            if name in replies:
                again.setdefault(name, []).append(reply)
            else:
                replies[name] = reply
        if not rows:
            return None
    return Published(replies=replies, again=again, only_these=True) if replies else None
