"""Rows of other people's JSON: a list, an object a line, or one object with an entry a question.

Python's writer and pandas leave `NaN` in what they call JSON: it is read as null. A comma may end a
line, as in SEED-Bench's published files.
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
"""What the keys and the values of `{id: reply}` and `{id: {...}}` are called as columns."""
TORN = "If the file was still being written, or a download broke off, get it whole."


class NotRows(DataError):
    """A file is whole, and has other things in it than predictions."""


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows, each with its place.

    Raises:
        NotRows: it is JSON of another shape.
        DataError: the file cannot be read, is no UTF-8 or no JSON, or has no rows.
    """
    raw = file_content(path)  # whole, since only its end tells lines from one object
    if not raw.strip():
        raise DataError(f"{path} has no rows.")
    first, _, rest = raw.lstrip().partition(b"\n")
    in_lines = _object(first) is not None and (bool(rest.strip()) or ".jsonl" in path.suffixes)
    return _lines(raw, path) if in_lines else _whole(raw, path)


def _lines(raw: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    place = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            fields = _object(line)
            if fields is None:
                raise DataError(
                    f"row {place + 1} of {path} (line {number}) is not one whole JSON object, as "
                    f"the line before it is. {TORN}"
                )
            yield f"row {place + 1}", fields
            place += 1


def _object(line: bytes) -> Mapping[str, Any] | None:
    """The object in a line; None where there is none, or not that alone."""
    line = line.strip().removesuffix(b",")
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            fields = _loads(line)
        except ValueError:
            return None
    return fields if isinstance(fields, dict) else None


def _whole(raw: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    def once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(fields)
        if len(found) < len(fields):
            [(twice, _)] = Counter(name for name, _ in fields).most_common(1)
            raise DataError(f"{path} has {twice!r} twice in one object. Keep one of them.")
        return found

    try:
        found = _loads(raw, once)
    except ValueError as error:
        raise DataError(f"{path} is not whole JSON: {error}. {TORN}") from error
    if not found:
        raise DataError(f"{path} has no rows.")
    match found:
        case list():
            return _numbered(found, path, "row")
        case dict() if all(isinstance(value, str | None) for value in found.values()):
            return (
                (f"the entry {key!r}", {KEYS: key, VALUES: value}) for key, value in found.items()
            )
        case dict() if all(isinstance(value, dict) for value in found.values()):
            return ((f"the entry {key!r}", {KEYS: key, **row}) for key, row in found.items())
        case dict() if all(isinstance(value, list) for value in found.values()):
            return (
                row for key, rows in found.items() for row in _numbered(rows, path, f"{key}, row")
            )
        case dict():
            raise NotRows(
                f"{path} is one object with {', '.join(list(found)[:8])}: neither rows, nor a "
                "reply or a row under each id."
            )
    raise NotRows(f"{path} is a {type(found).__name__}, not rows.")


def _numbered(rows: list[Any], path: Path, word: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise NotRows(
                f"{word} {place + 1} of {path} is a {type(row).__name__}, not an object with named "
                "fields."
            )
        yield f"{word} {place + 1}", row


def _loads(raw: bytes, as_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """As Python reads JSON, NaN and the infinities as None.

    Raises:
        ValueError: it is no JSON, is nested too deep, or has a number of thousands of digits.
    """
    try:
        return json.loads(raw, parse_constant=lambda _: None, object_pairs_hook=as_object)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
