"""Encodes and decodes the records in a run's files, and notes damaged lines."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import TypeVar

import msgspec

from snellen.errors import StoreError
from snellen.store.formats import NEWEST, check_format
from snellen.store.records import (
    EndRecord,
    EventRecord,
    LabelRecord,
    Question,
    ReplyRecord,
    ScoreRow,
    Unknown,
    key_hook,
)
from snellen.store.windows import WindowRecord

T = TypeVar("T", Question, ReplyRecord, ScoreRow, EventRecord, EndRecord, WindowRecord)
DAMAGED = (msgspec.DecodeError, RecursionError)
"""The errors that decoders raise for a line that is not a record."""
LISTED = 10
"""The maximum number of damaged lines per file whose positions are listed."""


class _Format(msgspec.Struct, frozen=True):
    format: int


class _Head(msgspec.Struct, frozen=True):
    """The fields that determine the kind of a line of the journal."""

    format: int
    kind: str = "reply"


_FORMAT = msgspec.json.Decoder(_Format)
_HEAD = msgspec.json.Decoder(_Head)
REPLY = msgspec.json.Decoder(ReplyRecord, dec_hook=key_hook)
END = msgspec.json.Decoder(EndRecord, dec_hook=key_hook)
WINDOW = msgspec.json.Decoder(WindowRecord, dec_hook=key_hook)
QUESTION = msgspec.json.Decoder(Question, dec_hook=key_hook)
EVENT = msgspec.json.Decoder(EventRecord)
LABEL = msgspec.json.Decoder(LabelRecord)
SCORE = msgspec.json.Decoder(ScoreRow)


def _plain(value: object) -> object:
    """Convert a value that the encoder does not know, such as a NumPy string or number, to a plain
    Python value."""
    match value:
        case str():
            return str.__str__(value)
        case Integral():
            return int(value)
        case Real():
            return float(value)
    raise TypeError(f"a {type(value).__name__} cannot be stored")


WITH_LEAST_FORMAT = (ReplyRecord, EndRecord, WindowRecord, Question, ScoreRow)
_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def encode(record: msgspec.Struct) -> bytes:
    """Encode a record as a line. The line gets the lowest format number that covers all features
    that the record uses."""
    if isinstance(record, WITH_LEAST_FORMAT):
        least = record.least_format
        if record.format < least:
            record = msgspec.structs.replace(record, format=least)
    return _ENCODER.encode(record)


@dataclass
class _Damage:
    """The lines of a file that are not records: the first error, the index of the note about these
    lines, and the byte offset of each line."""

    error: str
    note: int
    offsets: set[int] = field(default_factory=set)

    def words(self, name: str) -> str:
        first, *others = sorted(self.offsets)
        if not others:
            return f"{name}: the line at byte {first} is not a record and was skipped: {self.error}"
        listed = ", ".join(map(str, sorted(self.offsets)[:LISTED]))
        more = f" and {len(others) + 1 - LISTED:,} more" if len(others) >= LISTED else ""
        return (
            f"{name}: {len(others) + 1:,} lines are not records and were skipped: those at bytes "
            f"{listed}{more}"
        )


class LineReading:
    """Decodes the lines of one run's files. Lines that are not records are noted in `notes`, with
    one note for each file."""

    def __init__(self, path: Path, notes: list[str]) -> None:
        self._path = path
        self._notes = notes
        self._damage: dict[str, _Damage] = {}

    def journal_line(
        self, line: bytes, name: str, offset: int
    ) -> ReplyRecord | EndRecord | WindowRecord | Unknown | None:
        """Decode a line of the journal. If the line is not a record, add a note and return None."""
        try:
            return self._checked(REPLY, line, name)
        except DAMAGED as error:
            with suppress(*DAMAGED):
                head = _HEAD.decode(line)
                check_format(head.format, self._path / name)
                if head.kind == "end":
                    return self._checked(END, line, name)
                if head.kind == "window":
                    return self._checked(WINDOW, line, name)
                if head.kind not in ("reply", "rank"):
                    return Unknown(head.kind, line)
            self._set_aside(name, offset, error)
            return None

    def record(
        self, decoder: msgspec.json.Decoder[T], line: bytes, name: str, offset: int
    ) -> T | None:
        """Decode a line. If the line is not a record, add a note and return None.

        Raises:
            StoreError: the line has a later format.
        """
        try:
            return self._checked(decoder, line, name)
        except DAMAGED as error:
            self._refuse_later(line, name)
            self._set_aside(name, offset, error)
            return None

    def record_if_any(self, decoder: msgspec.json.Decoder[T], line: bytes, name: str) -> T | None:
        """Decode a line if it is a record of this kind. Return None for any other line, and add no
        note.

        Raises:
            StoreError: the line has a later format.
        """
        try:
            record = decoder.decode(line)
        except DAMAGED:
            self._refuse_later(line, name)
            return None
        if record.format > NEWEST:
            check_format(record.format, self._path / name)
        return record

    def certain_record(
        self, decoder: msgspec.json.Decoder[T], line: bytes, name: str, offset: int
    ) -> T:
        """Decode a line that must be a record.

        Raises:
            StoreError: the line is not a record.
        """
        try:
            return decoder.decode(line)
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{self._path / name}: the line at byte {offset} is not a record: {error}. The "
                "file was changed by hand or by another program. Restore it."
            ) from error

    def _checked(self, decoder: msgspec.json.Decoder[T], line: bytes, name: str) -> T:
        record = decoder.decode(line)
        if record.format > NEWEST:  # the path takes long to build, and there are many lines
            check_format(record.format, self._path / name)
        return record

    def _refuse_later(self, line: bytes, name: str) -> None:
        with suppress(*DAMAGED):
            check_format(_FORMAT.decode(line).format, self._path / name)

    def _set_aside(self, name: str, offset: int, error: Exception) -> None:
        """Note a line that is not a record. All lines of a file that are not records share one
        note."""
        damage = self._damage.get(name)
        if damage is None:
            damage = self._damage[name] = _Damage(str(error), len(self._notes))
            self._notes.append("")
        damage.offsets.add(offset)
        self._notes[damage.note] = damage.words(name)
