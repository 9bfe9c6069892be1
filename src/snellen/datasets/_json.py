"""Rows that are JSON objects: one a line, or all in one list."""

import codecs
import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NoReturn

import orjson

from snellen.datasets._find import Found, path_of
from snellen.datasets._lines import (
    BLOCK,
    MAX_ROW_BYTES,
    empty,
    lines,
    not_utf8,
    opened,
    read,
    without_end,
    without_mark,
)
from snellen.datasets._table import Facts, Row, facts_of, row_digest
from snellen.errors import DataError

WHITESPACE = re.compile(r"[ \t\r\n]*")
TORN = "If the file was still being written, or a download broke off, get it whole."


def jsonl(path: Path | Found, where: str | None = None, revision: str | None = None) -> "Jsonl":
    """A table of a JSONL file, gzipped or not: a JSON object a line; blank lines are no rows.

    Iterating raises DataError with the number of the first row that is no whole object in UTF-8.
    """
    return Jsonl(path, where, revision)


def json_list(
    path: Path | Found, where: str | None = None, revision: str | None = None
) -> "JsonList":
    """A table of a JSON file that is one list of objects, read a piece at a time.

    Iterating raises DataError as `jsonl`'s does.
    """
    return JsonList(path, where, revision)


class Jsonl:
    """A JSONL file as a table."""

    def __init__(self, path: Path | Found, where: str | None, revision: str | None) -> None:
        self.where = where or str(path)
        self.revision = revision
        self._path = path

    def __iter__(self) -> Iterator[Row]:
        path = path_of(self._path)
        place = 0
        for line in lines(path):
            raw = without_end(line.raw)
            if not raw.strip():
                continue
            try:
                fields = orjson.loads(raw)
            except orjson.JSONDecodeError as error:
                try:
                    raw.decode()
                except UnicodeDecodeError as bad:
                    raise not_utf8(bad, path, line.offset, f"row {place}") from bad
                raise DataError(
                    f"row {place} of {path} (line {line.number}) is not whole JSON: {error}. {TORN}"
                ) from error
            yield _row(fields, raw, place, path)
            place += 1
        if place == 0:
            raise empty(path)

    def facts(self) -> Facts:
        """Number and digest of the rows, without parsing them."""
        path = path_of(self._path)
        common = blake2b(digest_size=16)
        n = 0
        for line in lines(path):
            raw = without_end(line.raw)
            if raw.strip():
                common.update(blake2b(raw, digest_size=16).digest())
                n += 1
        if n == 0:
            raise empty(path)
        return Facts(rows=n, digest=common.hexdigest())


class JsonList:
    """A JSON file that is one list of objects, as a table."""

    def __init__(self, path: Path | Found, where: str | None, revision: str | None) -> None:
        self.where = where or str(path)
        self.revision = revision
        self._path = path

    def __iter__(self) -> Iterator[Row]:
        path = path_of(self._path)
        place = -1
        for place, (fields, text) in enumerate(_elements(path)):
            yield _row(fields, text.encode(), place, path)
        if place < 0:
            raise empty(path)

    def facts(self) -> Facts:
        return facts_of(iter(self))


def _elements(path: Path) -> Iterator[tuple[object, str]]:
    """The elements of the list in a file, each with its text; one at a time is held."""
    with opened(path) as file:
        text = _Text(_decoded(file, path))
        if text.peek() != "[":
            raise DataError(
                f"{path} is not a list of objects: it begins with {text.rest()!r}. "
                "Save its rows as one list, or one object a line (.jsonl)."
            )
        text.at += 1
        place = 0
        following = text.peek()
        while following != "]":
            try:
                yield text.element()
            except json.JSONDecodeError as error:
                raise DataError(
                    f"row {place} of {path} is not whole JSON: {error.msg}. {TORN}"
                ) from error
            following = text.peek()
            text.at += 1
            if following not in (",", "]"):
                raise DataError(
                    f"{path} breaks off or goes wrong after row {place}: a comma or the list's end "
                    f"is expected before {text.rest()!r}. {TORN}"
                )
            place += 1
        if place == 0:
            text.at += 1
        if text.peek():
            raise DataError(f"{path} goes on after its list: {text.rest()!r}. Save it as one list.")


class _Text:
    """A text, read as far as needed; `at` is where reading stands in the part that is held."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self.at = 0
        self._held = ""
        self._chunks = chunks
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)

    def peek(self) -> str:
        """The next character that is not white; "" at the end."""
        while True:
            white = WHITESPACE.match(self._held, self.at)
            assert white is not None
            self.at = white.end()
            if self.at < len(self._held):
                return self._held[self.at]
            if not self._more():
                return ""

    def rest(self) -> str:
        """A little of what comes, to show it."""
        return self._held[self.at : self.at + 20]

    def element(self) -> tuple[object, str]:
        """The JSON value that stands here, and its text.

        Raises:
            json.JSONDecodeError: it is no JSON, is not whole, or is longer than a row may be.
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
            else:
                text = self._held[self.at : end]
                self.at = end
                return value, text

    def _more(self) -> bool:
        """Hold twice as much, so that a long element is not tried again after every block."""
        parts = [self._held[self.at :]]
        wanted = len(parts[0])
        self.at = 0
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
            raise not_utf8(error, path, start, "a row") from error
        if not block:
            return
        offset += len(block)
        yield text


def _row(fields: object, raw: bytes, place: int, path: Path) -> Row:
    if not isinstance(fields, dict):
        raise DataError(
            f"row {place} of {path} is a {type(fields).__name__}, not an object with named fields."
        )
    return Row(fields, place, row_digest(raw))


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON; null is", name, 0)
