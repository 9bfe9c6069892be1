"""Decodes the lines of a run's files into records and encodes them, and notes damaged lines."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import TypeVar

import msgspec

from snellen.errors import StoreError
from snellen.store.formats import check_format
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

T = TypeVar("T", Question, ReplyRecord, ScoreRow, EventRecord, EndRecord)
DAMAGED = (msgspec.DecodeError, RecursionError)
"""The errors that decoding raises for a line that is not a record."""
LISTED = 10
"""The number of damaged lines per file whose positions are listed."""


class _Format(msgspec.Struct, frozen=True):
    format: int


class _Head(msgspec.Struct, frozen=True):
    """The fields that decide what a line of the journal is."""

    format: int
    kind: str = "reply"


_FORMAT = msgspec.json.Decoder(_Format)
_HEAD = msgspec.json.Decoder(_Head)
REPLY = msgspec.json.Decoder(ReplyRecord, dec_hook=key_hook)
END = msgspec.json.Decoder(EndRecord, dec_hook=key_hook)
QUESTION = msgspec.json.Decoder(Question, dec_hook=key_hook)
EVENT = msgspec.json.Decoder(EventRecord)
LABEL = msgspec.json.Decoder(LabelRecord)
SCORE = msgspec.json.Decoder(ScoreRow)


def _plain(value: object) -> object:
    """The plain form of a value that JSON cannot encode, such as NumPy's text and numbers."""
    match value:
        case str():
            return str.__str__(value)
        case Integral():
            return int(value)
        case Real():
            return float(value)
    raise TypeError(f"a {type(value).__name__} cannot be stored")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def encode(record: msgspec.Struct) -> bytes:
    """The line of a record, with the lowest format number that a reader must know."""
    if isinstance(record, ReplyRecord | EndRecord | Question | ScoreRow):
        least = record.least_format
        if record.format < least:
            record = msgspec.structs.replace(record, format=least)
    return _ENCODER.encode(record)


@dataclass
class _Damage:
    """The lines of a file that are not records: the first error, the number of the note about them,
    and the byte at which each line begins."""

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
    """Decodes the lines of one run's files. Those that are not records are noted in `notes`, once
    for each file."""

    def __init__(self, path: Path, notes: list[str]) -> None:
        self._path = path
        self._notes = notes
        self._damage: dict[str, _Damage] = {}

    def journal_line(
        self, line: bytes, name: str, offset: int
    ) -> ReplyRecord | EndRecord | Unknown | None:
        """The record on a line of the journal; None for any other line, which is noted."""
        try:
            return self._checked(REPLY, line, name)
        except DAMAGED as error:
            with suppress(*DAMAGED):
                head = _HEAD.decode(line)
                check_format(head.format, self._path / name)
                if head.kind == "end":
                    return self._checked(END, line, name)
                if head.kind not in ("reply", "rank"):
                    return Unknown(head.kind, line)
            self._set_aside(name, offset, error)
            return None

    def record(
        self, decoder: msgspec.json.Decoder[T], line: bytes, name: str, offset: int
    ) -> T | None:
        """The record on a line; None for a line that is not a record, which is noted.

        Raises:
            StoreError: it is of a later format.
        """
        try:
            return self._checked(decoder, line, name)
        except DAMAGED as error:
            self._refuse_later(line, name)
            self._set_aside(name, offset, error)
            return None

    def record_if_any(self, decoder: msgspec.json.Decoder[T], line: bytes, name: str) -> T | None:
        """The record on a line if it is of this kind, else None; nothing is noted.

        Raises:
            StoreError: it is of a later format.
        """
        try:
            record = decoder.decode(line)
        except DAMAGED:
            self._refuse_later(line, name)
            return None
        check_format(record.format, self._path / name)
        return record

    def certain_record(
        self, decoder: msgspec.json.Decoder[T], line: bytes, name: str, offset: int
    ) -> T:
        """The record on a line that must be one.

        Raises:
            StoreError: it is not a record.
        """
        try:
            return decoder.decode(line)
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{self._path / name}: the line at byte {offset} is not a record: {error}. The "
                "file was changed by hand, or by another program: put it back as it was."
            ) from error

    def _checked(self, decoder: msgspec.json.Decoder[T], line: bytes, name: str) -> T:
        record = decoder.decode(line)
        check_format(record.format, self._path / name)
        return record

    def _refuse_later(self, line: bytes, name: str) -> None:
        with suppress(*DAMAGED):
            check_format(_FORMAT.decode(line).format, self._path / name)

    def _set_aside(self, name: str, offset: int, error: Exception) -> None:
        """Note a line that is not a record. A file gets a single note for all such lines."""
        damage = self._damage.get(name)
        if damage is None:
            damage = self._damage[name] = _Damage(str(error), len(self._notes))
            self._notes.append("")
        damage.offsets.add(offset)
        self._notes[damage.note] = damage.words(name)
