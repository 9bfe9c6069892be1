"""Reads rows that are JSON objects: one per line, or all in one list.

This module has its own list parser because orjson can only read a complete list, and ijson does not
return the text of an element. The digest of a row is computed from this text.
"""

import codecs
import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import orjson

from snellen.data._file import FileTable
from snellen.data.lines import (
    BLOCK,
    MAX_ROW_BYTES,
    empty,
    lines,
    not_utf8,
    opened,
    read,
    without_mark,
)
from snellen.data.locations import DataFile
from snellen.data.row_index import Fields, Learnt, RowEntry, RowIndex
from snellen.data.table import Row, row_digest
from snellen.errors import DataError

WHITESPACE = re.compile(r"[ \t\r\n]*")
TORN = (
    "If the file is still being written, wait until it is complete. "
    "If its download was interrupted, download it again."
)


def jsonl(path: Path | DataFile, where: str | None = None, revision: str | None = None) -> "Jsonl":
    """Read a JSONL file, gzipped or not, as a table. Each line is one JSON object. Blank lines are
    skipped.

    Iterating raises DataError at the first row that is not a complete JSON object in UTF-8.
    """
    return Jsonl(path, where, revision)


def json_list(
    path: Path | DataFile, where: str | None = None, revision: str | None = None
) -> "JsonList":
    """Read a JSON file, which contains one list of objects, as a table. The file is read in chunks.

    Iterating raises DataError in the same cases as for `jsonl`.
    """
    return JsonList(path, where, revision)


class Jsonl(FileTable):
    """A JSONL file as a table."""

    KIND = "jsonl"

    def __iter__(self) -> Iterator[Row]:
        path = self._path
        known = self._digests(path)
        for position, (raw, offset, number) in enumerate(_lines(path)):
            fields = _fields(
                raw, offset, f"row {position + 1} of {path} (line {number})", position, path
            )
            digest = next(known, None)
            yield Row(fields, position, digest.hex() if digest else row_digest(raw))

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        for raw, offset, _ in _lines(path):
            yield offset, len(raw), 0, 0, blake2b(raw, digest_size=16).digest()

    def _row(self, raw: bytes, entry: RowEntry, position: int, path: Path, index: RowIndex) -> Row:
        fields = _fields(raw, entry.offset, f"row {position + 1} of {path}", position, path)
        return Row(fields, position, entry.digest.hex())


def _lines(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Yield each line that is not blank, without its line end, along with its byte offset and its
    line number."""
    empty_so_far = True
    for raw, number, offset in lines(path):
        raw = raw.removesuffix(b"\r")
        if raw and not raw.isspace():
            empty_so_far = False
            yield raw, offset, number
    if empty_so_far:
        raise empty(path)


def _fields(raw: bytes, offset: int, where: str, position: int, path: Path) -> dict[str, Any]:
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        try:
            raw.decode()
        except UnicodeDecodeError as bad:
            raise not_utf8(bad, offset, where) from bad
        if position == 0 and raw.lstrip().startswith(b"["):
            raise _is_list(where, path) from error
        raise DataError(
            f"{where} is not valid JSON: {error}. Each line must be a complete object. {TORN}"
        ) from error
    if position == 0 and isinstance(fields, list):
        raise _is_list(where, path)
    return _object(fields, where)


def _is_list(where: str, path: Path) -> DataError:
    name = path.name.replace(".jsonl", ".json")
    return DataError(
        f"{where} is a JSON list, not an object with named fields. "
        f"If the whole file is one JSON list of rows, rename it to {name}."
    )


class JsonList(FileTable):
    """A JSON file that contains one list of objects, as a table."""

    KIND = "json"
    # The file is read as text, and characters have different numbers of bytes.
    seeks = False

    def __iter__(self) -> Iterator[Row]:
        path = self._path
        known = self._digests(path)
        for position, (value, text, line) in enumerate(_elements(path)):
            fields = _object(value, f"row {position + 1} of {path} (line {line})")
            digest = next(known, None)
            yield Row(fields, position, digest.hex() if digest else row_digest(text.encode()))

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        for _, text, _ in _elements(path):
            yield 0, 0, 0, 0, blake2b(text.encode(), digest_size=16).digest()


def _elements(path: Path) -> Iterator[tuple[object, str, int]]:
    """Yield each element of the list in a file, with its JSON text and the number of its first
    line. Only one element is in memory at a time."""
    with opened(path) as file:
        text = _Text(_decoded(file, path))
        start = text.peek()
        if not start:
            raise empty(path)
        if start != "[":
            raise _no_list(text, path)
        text.at += 1
        position = 0
        following = text.peek()
        while following != "]":
            text.peek()
            line = text.line()
            try:
                value, element = text.element()
            except json.JSONDecodeError as error:
                raise DataError(
                    f"row {position + 1} of {path} (line {line}) is not valid JSON: {error.msg}. "
                    f"{TORN}"
                ) from error
            yield value, element, line
            following = text.peek()
            if following not in (",", "]"):
                raise DataError(
                    f"{path} is cut off or invalid after row {position + 1}, in line "
                    f"{text.line()}: expected a comma or the end of the list before "
                    f"{text.rest()!r}. {TORN}"
                )
            text.at += 1
            position += 1
        if position == 0:
            raise empty(path)
        if text.peek():
            raise DataError(
                f"{path} has more text after its list, in line {text.line()}: {text.rest()!r}. "
                "Save all rows as one list."
            )


def _no_list(text: "_Text", path: Path) -> DataError:
    """The error for a file that does not begin with a list."""
    begins = f"{path} is not a list of objects: it begins with {text.rest()!r}. "
    otherwise = DataError(f"{begins}Save its rows as one list, or one object per line (.jsonl).")
    try:
        first, _ = text.element()
    except json.JSONDecodeError:
        return otherwise
    if not isinstance(first, dict):
        return otherwise
    if text.peek() == "{":
        name = path.name.replace(".json", ".jsonl")
        return DataError(
            f"{path} is not a list of objects. It contains several separate objects; the second "
            f"begins in line {text.line()}. If each line has one object, rename it to {name}."
        )
    lists = [repr(name) for name, value in first.items() if isinstance(value, list)]
    if not lists:
        return otherwise
    return DataError(
        f"{path} is not a list of objects. It is one object with the fields {', '.join(first)}. "
        f"Save the list in its field {' or '.join(lists)} as a separate file."
    )


class _Text:
    """The text of a file, which is read only as far as needed. `at` is the current position in the
    part of the text that is in memory."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self.at = 0
        self._held = ""
        self._lines = 1
        self._counted = 0
        self._chunks = chunks
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)

    def peek(self) -> str:
        """Skip white space and return the next character, or "" at the end of the text."""
        while True:
            white = WHITESPACE.match(self._held, self.at)
            assert white is not None
            self.at = white.end()
            if self.at < len(self._held):
                return self._held[self.at]
            if not self._more():
                return ""

    def rest(self) -> str:
        """The next 20 characters, for use in messages."""
        return self._held[self.at : self.at + 20]

    def line(self) -> int:
        """The number of the current line, counted from 1."""
        self._lines += self._held.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._lines

    def element(self) -> tuple[object, str]:
        """Parse the JSON value at the current position, and return it with its text.

        Raises:
            json.JSONDecodeError: The value is not valid JSON, is cut off, or is longer than the
                limit for a row. Python's extensions of JSON, such as NaN, are not valid.
        """
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self.at)
            except json.JSONDecodeError:
                if len(self._held) - self.at > MAX_ROW_BYTES:
                    reason = f"the element is longer than {MAX_ROW_BYTES // 10**6} MB"
                    raise json.JSONDecodeError(reason, "", 0) from None
                if not self._more():
                    raise
            except RecursionError:
                raise json.JSONDecodeError("the element is nested too deeply", "", 0) from None
            except ValueError:
                reason = "the element contains a number with thousands of digits"
                raise json.JSONDecodeError(reason, "", 0) from None
            else:
                text = self._held[self.at : end]
                self.at = end
                orjson.loads(text)  # rejects lone surrogates, which no UTF-8 file can contain
                return value, text

    def _more(self) -> bool:
        """Read more text, at least as much as is still unparsed; with smaller steps, a long element
        would be parsed again after every block. Return whether there was more text."""
        self.line()
        parts = [self._held[self.at :]]
        wanted = len(parts[0])
        self.at = self._counted = 0
        for chunk in self._chunks:
            parts.append(chunk)
            wanted -= len(chunk)
            if wanted <= 0:
                break
        self._held = "".join(parts)
        return len(parts) > 1


def _decoded(file: BinaryIO, path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    while True:
        block = read(file, path, BLOCK)
        start = offset - len(decoder.getstate()[0])
        if offset == 0:
            block = without_mark(block, path)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise not_utf8(error, start, f"a row of {path}") from error
        if not block:
            return
        offset += len(block)
        yield text


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where} is a {type(value).__name__}, not an object with named fields.")
    return value


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not a JSON value (write null instead)", name, 0)
