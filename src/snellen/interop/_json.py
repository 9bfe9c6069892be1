"""Reads rows from JSON files: a list, one object per line, or one object with an entry for each
question.

`NaN`, which Python and pandas write, is read as null. A line may end with a comma, as in the files
that SEED-Bench's authors published.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from snellen.data import file_content
from snellen.errors import DataError

KEYS, VALUES = "(keys)", "(values)"
"""The names of two columns. If a file is an object like `{id: reply}` or `{id: {...}}`, its keys
and values become these columns."""
TORN = "If the file is still being written, wait. If a download was cut off, download it again."


class NotRows(DataError):
    """Raised if a file can be read but does not contain predictions."""


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a JSON file, each with a label for messages.

    Raises:
        NotRows: the JSON does not have the structure of rows.
        DataError: the file cannot be read, is not UTF-8 or not JSON, or has no rows.
    """
    raw = file_content(path)  # all of it, because only its end distinguishes lines from one object
    if not raw.strip():
        raise DataError(f"{path} has no rows.")
    first, _, rest = raw.lstrip().partition(b"\n")
    in_lines = _object(first) is not None and (bool(rest.strip()) or ".jsonl" in path.suffixes)
    return _lines(raw, path) if in_lines else _document(raw, path)


def _lines(raw: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    position = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            fields = _object(line)
            if fields is None:
                raise DataError(
                    f"row {position + 1} of {path} (line {number}) is not a complete JSON object, "
                    f"but the lines before it are. {TORN}"
                )
            yield f"row {position + 1}", fields
            position += 1


def _object(line: bytes) -> Mapping[str, Any] | None:
    """The JSON object in a line; None if the line is not exactly one object."""
    line = line.strip().removesuffix(b",")
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            fields = _loads(line)
        except ValueError:
            return None
    return fields if isinstance(fields, dict) else None


def _document(raw: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    def once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(fields)
        if len(document) < len(fields):
            [(twice, _)] = Counter(name for name, _ in fields).most_common(1)
            raise DataError(
                f"{path} has the key {twice!r} twice in one object. Keep one of the two entries."
            )
        return document

    try:
        document = _loads(raw, once)
    except ValueError as error:
        raise DataError(f"{path} is not a complete JSON document: {error}. {TORN}") from error
    if not document:
        raise DataError(f"{path} has no rows.")
    match document:
        case list():
            return _numbered(document, path, "row")
        case dict() if all(isinstance(value, str | None) for value in document.values()):
            return (
                (f"the entry {key!r}", {KEYS: key, VALUES: value})
                for key, value in document.items()
            )
        case dict() if all(isinstance(value, dict) for value in document.values()):
            return ((f"the entry {key!r}", {KEYS: key, **row}) for key, row in document.items())
        case dict() if all(isinstance(value, list) for value in document.values()):
            return (
                row
                for key, rows in document.items()
                for row in _numbered(rows, path, f"{key}, row")
            )
        case dict():
            raise NotRows(
                f"{path} is one object with the keys {', '.join(list(document)[:8])}. The object "
                "contains neither rows, nor a reply or a row for each id."
            )
    raise NotRows(f"{path} contains a {type(document).__name__}, not rows.")


def _numbered(rows: list[Any], path: Path, word: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for position, row in enumerate(rows):
        if not isinstance(row, dict):
            raise NotRows(
                f"{word} {position + 1} of {path} is a {type(row).__name__}, not an object with "
                "named fields."
            )
        yield f"{word} {position + 1}", row


def _loads(raw: bytes, as_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse JSON with Python's parser. NaN and the infinities become None.

    Raises:
        ValueError: the text is not JSON, is nested too deeply, or has a number with thousands of
            digits.
    """
    try:
        return json.loads(raw, parse_constant=lambda _: None, object_pairs_hook=as_object)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
