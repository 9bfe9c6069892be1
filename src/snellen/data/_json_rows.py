"""Rows that are JSON objects: one per line, or all in one list.

Lists are parsed here because orjson reads only the whole list, and ijson does not give the text of
an element, from which its digest is computed.
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
TORN = "If the file was still being written, or a download broke off, get it whole."


def jsonl(path: Path | DataFile, where: str | None = None, revision: str | None = None) -> "Jsonl":
    """A table of a JSONL file, gzipped or not: a JSON object per line, without blank lines.

    Iterating raises DataError with the number of the first row that is not a complete object in
    UTF-8.
    """
    return Jsonl(path, where, revision)


def json_list(
    path: Path | DataFile, where: str | None = None, revision: str | None = None
) -> "JsonList":
    """A table of a JSON file that is one list of objects. It is read in pieces.

    Iterating raises DataError like `jsonl`.
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
    """The lines with rows, without their ends, each with its first byte and its number."""
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
            f"{where} is not whole JSON: {error}. Each line must be one whole object. {TORN}"
        ) from error
    if position == 0 and isinstance(fields, list):
        raise _is_list(where, path)
    return _object(fields, where)


def _is_list(where: str, path: Path) -> DataError:
    name = path.name.replace(".jsonl", ".json")
    return DataError(
        f"{where} is a list, not an object with named fields. "
        f"If the file is one JSON list of rows, name it {name}."
    )


class JsonList(FileTable):
    """A JSON file with one list of objects, as a table."""

    KIND = "json"
    seeks = False  # it is read as text, in which a character is one byte or several

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
    """The elements of the list in a file, each with its text and the line in which it begins. One
    element is in memory at a time."""
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
                    f"row {position + 1} of {path} (line {line}) is not whole JSON: {error.msg}. "
                    f"{TORN}"
                ) from error
            yield value, element, line
            following = text.peek()
            if following not in (",", "]"):
                raise DataError(
                    f"{path} breaks off or goes wrong after row {position + 1}, in line "
                    f"{text.line()}: a comma or the list's end is expected before "
                    f"{text.rest()!r}. {TORN}"
                )
            text.at += 1
            position += 1
        if position == 0:
            raise empty(path)
        if text.peek():
            raise DataError(
                f"{path} goes on after its list, in line {text.line()}: {text.rest()!r}. "
                "Save it as one list."
            )


def _no_list(text: "_Text", path: Path) -> DataError:
    """The error for a file that does not begin with a list."""
    begins = f"{path} is not a list of objects: it begins with {text.rest()!r}. "
    otherwise = DataError(f"{begins}Save its rows as one list, or one object a line (.jsonl).")
    try:
        first, _ = text.element()
    except json.JSONDecodeError:
        return otherwise
    if not isinstance(first, dict):
        return otherwise
    if text.peek() == "{":
        name = path.name.replace(".json", ".jsonl")
        return DataError(
            f"{path} is not a list of objects but has one object after the other, the second in "
            f"line {text.line()}. If it has one a line, name it {name}."
        )
    lists = [repr(name) for name, value in first.items() if isinstance(value, list)]
    if not lists:
        return otherwise
    return DataError(
        f"{path} is not a list of objects but one object with the fields {', '.join(first)}. "
        f"Save the list in its field {' or '.join(lists)} as a file of its own."
    )


class _Text:
    """A text that is read as far as needed. `at` is the position in the part that is in memory."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self.at = 0
        self._held = ""
        self._lines = 1
        self._counted = 0
        self._chunks = chunks
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)

    def peek(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            white = WHITESPACE.match(self._held, self.at)
            assert white is not None
            self.at = white.end()
            if self.at < len(self._held):
                return self._held[self.at]
            if not self._more():
                return ""

    def rest(self) -> str:
        """The beginning of the remaining text, for messages."""
        return self._held[self.at : self.at + 20]

    def line(self) -> int:
        """The number of the current line, from 1."""
        self._lines += self._held.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._lines

    def element(self) -> tuple[object, str]:
        """The JSON value at this position, and its text.

        Raises:
            json.JSONDecodeError: it is not JSON, is not whole, is longer than a row may be, or is
            what Python alone reads.
        """
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self.at)
            except json.JSONDecodeError:
                if len(self._held) - self.at > MAX_ROW_BYTES:
                    reason = f"it goes on for more than {MAX_ROW_BYTES // 10**6} MB"
                    raise json.JSONDecodeError(reason, "", 0) from None
                if not self._more():
                    raise
            except RecursionError:
                raise json.JSONDecodeError("it is nested too deep", "", 0) from None
            except ValueError:
                reason = "it has a number of thousands of digits"
                raise json.JSONDecodeError(reason, "", 0) from None
            else:
                text = self._held[self.at : end]
                self.at = end
                orjson.loads(text)  # refuses half a character, which nobody can write
                return value, text

    def _more(self) -> bool:
        """Keep twice as much in memory, so that a long element is not tried again after every
        block."""
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
    raise json.JSONDecodeError(f"{name} is not JSON; null is", name, 0)
