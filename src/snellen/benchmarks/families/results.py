"""Read result files in the formats that benchmark authors publish."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.core import Published
from snellen.data import file_content, jsonl
from snellen.errors import DataError

Rows = Sequence[Mapping[str, Any]]
Verdicts = Mapping[str, Sequence[str]]

MOST_BYTES = 500_000_000
"""The maximum size of an unpacked file, in bytes. The whole file is read into memory."""


def of_json(path: Path) -> Any:
    """Return the content of a JSON file, gzipped or not.

    The result is None for a folder, for a file of another kind, and for a file that cannot be read
    or parsed. NaN and Infinity, which Python's json module writes but JSON does not allow, are read
    as None.
    """
    if not path.is_file() or path.name.removesuffix(".gz")[-5:].lower() != ".json":
        return None
    return _loaded(path)


def json_object(path: Path) -> dict[str, Any] | None:
    """Return the content of a .json or .jsonl file that is a single JSON object, or None for a
    folder or any other file."""
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file() or not name.endswith((".json", ".jsonl")):
        return None
    held = _loaded(path)
    return held if isinstance(held, dict) else None


def _loaded(path: Path) -> Any:
    try:
        return json.loads(file_content(path, MOST_BYTES), parse_constant=lambda _: None)
    except (DataError, ValueError, RecursionError):
        # The general reader of prediction files then reads this file and reports the error.
        return None


def by_row(
    key: str, reply: str, verdicts: Callable[[Rows], Mapping[str, Verdicts]] | None = None
) -> Callable[[Path], Published | None]:
    """Create `Interop.layout` for results in a JSON list or a JSONL file, gzipped or not. Each row
    has the sample's id in the field `key` and the model's reply in the field `reply`.

    The layout returns None for any other file. It raises DataError if two rows have the same id, or
    if a reply is neither text nor null. `verdicts` returns the judge's verdicts in the rows, keyed
    by scoring and then by sample id.
    """

    def layout(path: Path) -> Published | None:
        rows = rows_with(path, key, reply)
        if rows is None:
            return None
        replies = replies_of(path, rows, key, reply)
        return Published(replies=replies, verdicts=verdicts(rows) if verdicts else {})

    return layout


def rows_with(path: Path, *fields: str) -> Rows | None:
    """Return the rows of a JSON list or a JSONL file, gzipped or not. None unless each row has the
    fields."""
    rows: Any = None
    try:
        rows = [*jsonl(path)] if ".jsonl" in path.suffixes else of_json(path)
    except DataError:
        # The general reader of prediction files then reads this file and reports the error.
        return None
    if not isinstance(rows, list) or not rows:
        return None
    has_fields = all(isinstance(row, dict) and {*fields} <= row.keys() for row in rows)
    return rows if has_fields else None


def replies_of(path: Path, rows: Rows, key: str, reply: str) -> dict[str, str | None]:
    """Map the ids in the field `key` of result rows to the replies in the field `reply`.

    Raises:
        DataError: two rows have the same id, or a reply is neither text nor null.
    """
    replies: dict[str, str | None] = {}
    for number, row in enumerate(rows, 1):
        name, text = str(row[key]), row[reply]
        if name in replies:
            raise DataError(
                f"{path.name}: row {number} is a second row of {name}. Remove one of them."
            )
        if not isinstance(text, str | None):
            raise DataError(
                f"{path.name}: row {number} has a value of type {type(text).__name__} as {reply}. "
                "It must be text."
            )
        replies[name] = text
    return replies
