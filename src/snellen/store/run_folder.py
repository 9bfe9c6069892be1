"""One run's folder: what was asked, what came, and which reply of a key is the final one."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import orjson

from snellen.errors import StoreError, UsageError
from snellen.store._mirror import Mirror
from snellen.store.folder import Folder, LineReader
from snellen.store.mirrored import RemoteFolder, pull
from snellen.store.records import (
    FORMAT,
    EndRecord,
    EventRecord,
    Key,
    LabelRecord,
    Question,
    ReplyRecord,
    ScoreRow,
    Unknown,
)

QUESTIONS, REPLIES, EVENTS, SCORES = "questions", "replies", "events", "scores"
T = TypeVar("T", Question, ReplyRecord, ScoreRow, EventRecord, EndRecord)
MANIFEST, REPORT, LABELS = "manifest.json", "report.json", "labels.jsonl"
VERDICTS = "judged/*/*/*"
"""The folder of judges' runs inside the run that they judge."""
UNSAFE = re.compile(r"[^A-Za-z0-9._+=-]+")
LONGEST_NAME = 255
"""Bytes that file systems take for the name of a file or folder."""
STEM = 240
"""Of these, for a file's name before its ending, and what is behind that while it is written."""


class Placed(NamedTuple):
    """Where a line lies: its file, the byte at which it begins, and its bytes with the line end."""

    file: str
    offset: int
    size: int


class Format(msgspec.Struct, frozen=True):
    format: int


class Head(msgspec.Struct, frozen=True):
    """The fields that decide what a line of the journal is."""

    format: int
    kind: str = "reply"


class QuestionHead(NamedTuple):
    """What the order of questions is read from."""

    key: Key
    place: int


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
        listed = ", ".join(map(str, sorted(self.offsets)[:NAMED]))
        more = f" and {len(others) + 1 - NAMED:,} more" if len(others) >= NAMED else ""
        return (
            f"{name}: {len(others) + 1:,} lines are not records and were skipped: those at bytes "
            f"{listed}{more}"
        )


class _Identity(msgspec.Struct, frozen=True):
    options: dict[str, Any] = {}


class _Session(msgspec.Struct, frozen=True):
    started: str = ""
    command: list[str] = []
    profile: dict[str, Any] = {}
    packages: dict[str, Any] = {}


class _Manifest(msgspec.Struct, frozen=True):
    """What kind of thing each field is that others rely on."""

    benchmark: str = ""
    benchmark_object: bool = False
    model: str = ""
    identity: _Identity = _Identity()
    data: str = ""
    rows: int = 0
    repeats: int = 1
    missing: str | None = None
    notes: list[str] = []
    sessions: list[_Session] = []


DAMAGED = (msgspec.DecodeError, RecursionError)
"""What decoding raises for a line that is not a record."""

_HEAD = msgspec.json.Decoder(Head)
_FORMAT = msgspec.json.Decoder(Format)
_REPLY = msgspec.json.Decoder(ReplyRecord)
_END = msgspec.json.Decoder(EndRecord)
_QUESTION = msgspec.json.Decoder(Question)
_EVENT = msgspec.json.Decoder(EventRecord)
_LABEL = msgspec.json.Decoder(LabelRecord)
_SCORE = msgspec.json.Decoder(ScoreRow)


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


_ENCODE = msgspec.json.Encoder(enc_hook=_plain).encode


def safe_name(name: str, *, room: int = LONGEST_NAME) -> str:
    """A name as a folder's name: unsafe characters become `__`, and one of more than `room` bytes
    is cut and ends in a digest of the whole.

    >>> safe_name("openai/Qwen/Qwen2-VL")
    'openai__Qwen__Qwen2-VL'
    >>> safe_name("openai/Qwen/Qwen2-VL", room=20)
    'openai_-feb969421371'
    """
    safe = UNSAFE.sub("__", name).strip(".") or "__"
    if len(safe) <= room:
        return safe
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return f"{safe[: room - len(digest) - 1]}-{digest}"


def identity_digest(identity: Mapping[str, Any]) -> str:
    """12 hex digits that name a run: BLAKE2b of its identity as sorted JSON.

    What is None or empty does not count, so that a field which is added later, and is not used in
    a run, leaves its name as it was.

    >>> identity_digest({"a": 1}) == identity_digest({"a": 1, "b": {"c": None}})
    True

    Raises:
        UsageError: it holds what JSON as it is stored here cannot, such as a number beyond 64 bits.
    """
    try:
        raw = orjson.dumps(_said(identity), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise UsageError(
            f"what was given, by options or a profile, cannot be stored: {error}. Numbers are of "
            "64 bits at most."
        ) from error
    return blake2b(raw, digest_size=6).hexdigest()


def _said(value: Any) -> Any:
    """A value without what is None or empty in it."""
    if not isinstance(value, Mapping):
        return value
    parts = {name: _said(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if part not in (None, {}, [], "")}


def is_object_run(manifest: Mapping[str, Any]) -> bool:
    """Whether a run's benchmark was a caller's Python object, which no manifest makes again.

    Manifests of earlier versions do not say so; for them it is False.
    """
    return manifest.get("benchmark_object") is True


def differing(
    one: Mapping[str, Any], other: Mapping[str, Any], at: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two identities differ, with what each has: `generation.max_tokens`, 64,
    512."""
    for name in sorted({*one, *other}):
        mine, theirs = one.get(name), other.get(name)
        if isinstance(mine, dict | None) and isinstance(theirs, dict | None):
            # Where there are no such fields, none of them is set.
            yield from differing(mine or {}, theirs or {}, f"{at}{name}.")
        elif mine != theirs:
            yield f"{at}{name}", mine, theirs


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two identities differ, as `generation.max_tokens (64, was 512)`."""
    return [f"{name} ({mine}, was {theirs})" for name, mine, theirs in differing(one, other)]


DEPTH = 6
"""Folders down to which runs are looked for: benchmark, model and identity, and three above."""
NAMED = 10
"""Runs that are named where they lie elsewhere."""


def runs_below(folder: Path, *, links: bool = True) -> list[Path]:
    """The runs in a folder, at most `DEPTH` folders down, but not those that lie in a run (a
    judge's). What begins with a dot is passed over; links too unless `links`, and those that lead
    to what is looked through anyway."""
    root = folder.resolve()
    followed = {root}
    found: list[Path] = []
    level = [folder]
    for _ in range(DEPTH):
        below: list[Path] = []
        for path in (path for one in level for path in _folders(one)):
            if path.is_symlink():
                to = path.resolve()
                if not links or to in followed or root in to.parents or to in root.parents:
                    continue
                followed.add(to)
            (found if (path / MANIFEST).exists() else below).append(path)
        level = below
    return sorted(found)


def found_elsewhere(folder: Path, runs: Sequence[Path]) -> str | None:
    """Which runs were found in a folder, in words; None where benchmark, model and identity lead
    to each, as a runs folder has them."""
    names = [run.relative_to(folder).as_posix() for run in runs if run != folder]
    if all(name.count("/") == 2 for name in names):
        return None
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"found in {folder}: {', '.join(names[:NAMED])}{rest}"


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [folder / one.name for one in entries if one.name[0] != "." and one.is_dir()]
    except OSError:
        return []  # it may not be looked into, or is gone


class Run:
    """A run folder.

    For writing, `load` it under its `lock`: it then knows the final record of every key. `notes`
    collects what was found and
    mended on the way (torn lines, foreign lines).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = RemoteFolder(path) if isinstance(path, Mirror) else Folder(path)
        self.notes: list[str] = self.folder.repairs
        self._files: list[str] = []
        self._finals: dict[str | Key, int] = {}
        self._asked: set[str | Key] = set()
        self._finished = array("H")
        self._unfinished: set[int] = set()
        self._lost: set[str | Key] = set()
        self._ends: set[Key] = set()
        self._readers: dict[str, LineReader] = {}
        self._damaged: dict[str, _Damage] = {}

    # -- the manifest

    def manifest(self) -> dict[str, Any]:
        """What the run is, and everything needed to repeat it.

        Raises:
            StoreError: there is none, or it is not one that this version reads.
        """
        if self.path.is_file():
            raise StoreError(
                f"{self.path} is a file, not a run folder. If predictions are in it, "
                f"`snellen score {self.path}` scores them."
            )
        raw = self.folder.get(MANIFEST)
        if raw is None:
            raise StoreError(f"{self.path} is no run folder: it has no {MANIFEST}.")
        try:
            manifest = orjson.loads(raw)
            self._check_format(manifest["format"], MANIFEST)
            msgspec.convert(manifest, _Manifest)
        except (orjson.JSONDecodeError, KeyError, TypeError, msgspec.ValidationError) as error:
            raise StoreError(f"{self.path / MANIFEST} is not a manifest: {error}") from error
        return dict(manifest)

    def put_manifest(self, manifest: Mapping[str, Any]) -> None:
        self.folder.put_atomic(
            MANIFEST,
            orjson.dumps({"format": FORMAT, **manifest}, option=orjson.OPT_INDENT_2) + b"\n",
        )

    # -- reading

    def load(self) -> None:
        """Read which keys have a reply, and which were rendered without one."""
        self._finals.clear()
        self._ends.clear()
        self._files = self.folder.segments(REPLIES)
        numbers = {name: number for number, name in enumerate(self._files)}
        unknown = 0
        for name, offset, line in self.folder.records(REPLIES):
            record = self._reply(line, name, offset)
            if isinstance(record, EndRecord):
                self._ends.add(record.key)
            elif isinstance(record, Unknown):
                unknown += 1
            elif record is not None:
                failed = record.state == "failed"
                self._note_final(record.key, numbers[name], offset, failed=failed)
        if unknown:
            self.notes.append(f"{unknown} journal records of a kind unknown to this version kept")
        self._asked.clear()
        self._finished = array("H")
        self._unfinished = set()
        # Replies whose question is not (yet) found.
        lost = {short for short, packed in self._finals.items() if not packed & 1}
        for question, _, _ in self._question_heads():
            short = _short(question.key)
            if self._finals.get(short, 1) & 1:
                self._asked.add(short)
                self._unfinished.add(question.place)
            elif question.key[2] == 0 and short in lost:
                missing = question.place + 1 - len(self._finished)
                self._finished.frombytes(bytes(max(0, missing) * self._finished.itemsize))
                self._finished[question.place] += 1
            lost.discard(short)
        self._lost = lost

    def final(self, key: Key) -> ReplyRecord | None:
        """The final record of a key: the last that is not `failed`, else the last."""
        packed = self._finals.get(_short(key))
        if packed is None:
            return None
        name = self._files[packed >> 48]
        reader = self._readers.get(name)
        if reader is None:
            reader = self._readers[name] = self.folder.reader(name)
        offset = (packed >> 1) & ((1 << 47) - 1)
        return self._decoded(_REPLY, reader.line(offset), name, offset)

    def has_reply(self, key: Key) -> bool:
        """Whether the key's final record is a reply and not a failure."""
        return not self._finals.get(_short(key), 1) & 1

    def has_ended(self, sample: str, repeat: int, turns: int) -> bool:
        """Whether it is stored that a conversation is over after so many turns."""
        return (sample, repeat, turns) in self._ends

    def finished_at(self, place: int) -> int:
        """How many repeats of a row's first turn had a reply when the run was loaded, 0 where one
        had none; saves making samples of finished rows."""
        if place >= len(self._finished) or place in self._unfinished:
            return 0
        return self._finished[place]

    def has_place(self, place: int) -> bool:
        """Whether the run, when it was loaded, had a question of this row."""
        return place in self._unfinished or (
            place < len(self._finished) and self._finished[place] > 0
        )

    def lacks_question(self, key: Key) -> bool:
        """Whether the key has a reply, but its row in `questions.jsonl` was lost (a power cut)."""
        return _short(key) in self._lost

    @property
    def lost_questions(self) -> int:
        """How many replies cannot be scored, since their rows in `questions.jsonl` are lost."""
        return len(self._lost)

    def was_rendered(self, key: Key) -> bool:
        """Whether `questions.jsonl` has a row for this key, of those that have no reply yet."""
        return _short(key) in self._asked

    def replies(self) -> Iterator[ReplyRecord | Unknown]:
        """Every record of an attempt, in order, and those of unknown kinds as they are."""
        for name, offset, line in self.folder.records(REPLIES):
            record = self._reply(line, name, offset)
            if record is not None and not isinstance(record, EndRecord):
                yield record

    def questions(self) -> Iterator[Question]:
        """The first row of every key, in the order of the data set, then of repeats and turns."""
        import numpy as np

        files = self.folder.segments(QUESTIONS)
        numbers = {name: number for number, name in enumerate(files)}
        columns = tuple(array("q") for _ in range(5))
        for head, name, offset in self._question_heads():
            where = (head.place, head.key[1], head.key[2], numbers[name], offset)
            for column, value in zip(columns, where, strict=True):
                column.append(value)
        rows = np.array([np.frombuffer(column, dtype=np.int64) for column in columns]).T
        rows = rows[np.lexsort(rows.T[::-1])]
        readers = [self.folder.reader(name) for name in files]
        before: list[int] | None = None
        # A judge's rows share places: several replies to one question.
        names: set[str] = set()
        try:
            for *key, file, offset in map(np.ndarray.tolist, rows):
                if key != before:
                    before = key
                    names.clear()
                line = readers[file].line(offset)
                question = self._decoded(_QUESTION, line, files[file], offset)
                if question.key[0] not in names:
                    names.add(question.key[0])
                    yield question
        finally:
            for reader in readers:
                reader.close()

    def first_questions(self, n: int) -> list[Question]:
        """The first turns among the first `n` rows that were asked, as they lie in the file."""
        heads = islice(self._question_heads(), n)
        found = []
        for head, name, offset in heads:
            reader = self.folder.reader(name)
            try:
                if head.key[1] == head.key[2] == 0:
                    line = reader.line(offset)
                    found.append(self._decoded(_QUESTION, line, name, offset))
            finally:
                reader.close()
        return found

    def appended_questions(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, Question]]:
        """The rows of `questions*.jsonl` from an offset in each file on, as they lie; a key may
        have more than one."""
        return self._appended(QUESTIONS, since, _QUESTION)

    def appended_replies(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, ReplyRecord]]:
        """The replies and failures of the journal from an offset in each file on, as they lie."""
        return self._appended(REPLIES, since, _REPLY)

    def appended_scores(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, ScoreRow]]:
        """What scorings made of replies, from an offset on; the file is replaced when the run is
        scored again."""
        return self._appended(SCORES, since, _SCORE)

    def appended_events(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, EventRecord]]:
        """The events of an online run from an offset in each file on."""
        return self._appended(EVENTS, since, _EVENT)

    def question_at(self, placed: Placed) -> Question:
        """The row that lies there.

        Raises:
            StoreError: none does, as after the file was changed.
        """
        return self._at(placed, _QUESTION)

    def reply_at(self, placed: Placed) -> ReplyRecord:
        """The record that lies there.

        Raises:
            StoreError: none does, as after the file was changed.
        """
        return self._at(placed, _REPLY)

    def events(self) -> Iterator[EventRecord]:
        """Every event of an online run, in order."""
        for name, offset, line in self.folder.records(EVENTS):
            event = self._record(_EVENT, line, name, offset)
            if event is not None:
                yield event

    def scores(self) -> Iterator[ScoreRow]:
        """What scorings made of replies, in order."""
        for name, offset, line in self.folder.records(SCORES):
            row = self._record(_SCORE, line, name, offset)
            if row is not None:
                yield row

    def labels(self) -> list[LabelRecord]:
        """What people say that replies are worth (`judge --against`).

        Raises:
            StoreError: they cannot be read, or are of a later version.
        """
        try:
            labels = [_LABEL.decode(line) for line in (self.folder.get(LABELS) or b"").splitlines()]
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{self.path / LABELS} holds no labels: {error}. Give them again with --against, "
                "or take the file away."
            ) from error
        for one in labels:
            self._check_format(one.format, LABELS)
        return labels

    def input_sizes(self) -> dict[str, int]:
        """Bytes of what a report is made of: replies, verdicts of judges, and people's labels."""
        journals = [self.path / name for name in self.folder.segments(REPLIES)]
        return {
            "replies": _size(journals),
            "verdicts": _size(self.path.glob(f"{VERDICTS}/{REPLIES}*.jsonl")),
            "labels": _size([self.path / LABELS]),
        }

    # -- writing

    def append_question(self, question: Question) -> None:
        self.folder.append(self.folder.segment(QUESTIONS), _ENCODE(question))
        self._asked.add(_short(question.key))
        self._lost.discard(_short(question.key))

    def append_reply(self, record: ReplyRecord) -> None:
        name = self.folder.segment(REPLIES)
        if not self._files or self._files[-1] != name:
            self._files.append(name)
        offset = self.folder.append(name, _ENCODE(record))
        failed = record.state == "failed"
        self._note_final(record.key, len(self._files) - 1, offset, failed=failed)
        if not failed:
            self._asked.discard(_short(record.key))

    def append_end(self, sample: str, repeat: int, turns: int, at: str) -> None:
        """Store that a conversation is over after so many turns, unless it is stored already."""
        key = (sample, repeat, turns)
        if key not in self._ends:
            name = self.folder.segment(REPLIES)
            if not self._files or self._files[-1] != name:
                self._files.append(name)
            self.folder.append(name, _ENCODE(EndRecord(format=FORMAT, key=key, at=at)))
            self._ends.add(key)

    def put_labels(self, labels: Iterable[LabelRecord]) -> None:
        """Keep labels in the place of earlier ones."""
        self.folder.put_atomic(LABELS, (_ENCODE(one) + b"\n" for one in labels))

    def append_event(self, event: EventRecord) -> None:
        self.folder.append(self.folder.segment(EVENTS), _ENCODE(event))

    def close(self) -> None:
        self.folder.close()
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    # -- inside

    def _note_final(self, key: Key, file: int, offset: int, *, failed: bool) -> None:
        short = _short(key)
        if failed and not self._finals.get(short, 1) & 1:
            return
        self._finals[short] = file << 48 | offset << 1 | failed

    def _question_heads(self) -> Iterator[tuple[QuestionHead, str, int]]:
        """(head, file, offset) of every row of `questions*.jsonl`; a key may have more than one."""
        for name, offset, line in self.folder.records(QUESTIONS):
            question = self._record(_QUESTION, line, name, offset)
            if question is not None:
                yield QuestionHead(question.key, question.place), name, offset

    def _appended(
        self, stem: str, since: Mapping[str, int], kind: msgspec.json.Decoder[T]
    ) -> Iterator[tuple[Placed, T]]:
        """What is no record of that kind is passed over."""
        for name, offset, line in self.folder.records(stem, since):
            placed = Placed(name, offset, len(line) + 1)
            try:
                record = kind.decode(line)
            except DAMAGED:
                # A line of a later format ends the reading.
                with suppress(*DAMAGED):
                    self._check_format(_FORMAT.decode(line).format, name)
                continue
            self._check_format(record.format, name)
            yield placed, record

    def _at(self, placed: Placed, kind: msgspec.json.Decoder[T]) -> T:
        if Path(placed.file).name != placed.file:
            raise StoreError(f"{placed.file} is no file of the run {self.path}.")
        reader = self.folder.reader(placed.file)
        try:
            line = reader.line(placed.offset)
        finally:
            reader.close()
        return self._decoded(kind, line, placed.file, placed.offset)

    def _decoded(self, kind: msgspec.json.Decoder[T], line: bytes, name: str, offset: int) -> T:
        """The record of a line that must be one."""
        try:
            return kind.decode(line)
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{self.path / name}: the line at byte {offset} is no record: {error}. The file "
                "was changed by hand, or by another program: put it back as it was."
            ) from error

    def _reply(
        self, line: bytes, name: str, offset: int
    ) -> ReplyRecord | EndRecord | Unknown | None:
        """The record on a line of the journal. Any other line is noted and gives None."""
        try:
            return self._checked(_REPLY, line, name)
        except DAMAGED as error:
            with suppress(*DAMAGED):
                head = _HEAD.decode(line)
                self._check_format(head.format, name)
                if head.kind == "end":
                    return self._checked(_END, line, name)
                if head.kind not in ("reply", "rank"):
                    return Unknown(head.kind, line)
            self._set_aside(name, offset, error)
            return None

    def _record(
        self, kind: msgspec.json.Decoder[T], line: bytes, name: str, offset: int
    ) -> T | None:
        """The record on a line. A line that is not a record is noted, and gives None.

        Raises:
            StoreError: it is of a later format.
        """
        try:
            return self._checked(kind, line, name)
        except DAMAGED as error:
            with suppress(*DAMAGED):
                self._check_format(_FORMAT.decode(line).format, name)
            self._set_aside(name, offset, error)
            return None

    def _checked(self, kind: msgspec.json.Decoder[T], line: bytes, name: str) -> T:
        record = kind.decode(line)
        self._check_format(record.format, name)
        return record

    def _set_aside(self, name: str, offset: int, error: Exception) -> None:
        """Note a line that is not a record. A file gets a single note for all such lines."""
        damage = self._damaged.get(name)
        if damage is None:
            damage = self._damaged[name] = _Damage(str(error), len(self.notes))
            self.notes.append("")
        damage.offsets.add(offset)
        self.notes[damage.note] = damage.words(name)

    def _check_format(self, number: int, name: str) -> None:
        if number > FORMAT:
            raise StoreError(
                f"{self.path / name} is of format {number}; this version reads up to {FORMAT}. "
                "Install the version of Snellen that wrote it, or a later one."
            )


def _size(paths: Iterable[Path]) -> int:
    """The bytes of all files that are there."""
    size = 0
    for path in paths:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def _short(key: Key) -> str | Key:
    """A first turn of a first repeat is kept by its sample's id alone: 100,000 keys stay small."""
    return key[0] if key[1] == key[2] == 0 else key


def open_run(
    root: Path, benchmark: str, model: str, identity: Mapping[str, Any]
) -> tuple[Run, Literal["new", "continued"], list[str]]:
    """The run folder of an identity under `root`, whether it was there, and how it differs from its
    nearest sibling."""
    siblings = root / safe_name(benchmark) / safe_name(model)
    path = siblings / identity_digest(identity)
    pull(siblings, only=MANIFEST)
    run = Run(path)
    if (path / MANIFEST).exists():
        return run, "continued", []
    nearest: list[str] | None = None
    for manifest in sorted(siblings.glob(f"*/{MANIFEST}")):
        try:
            other = Run(manifest.parent).manifest()["identity"]
        except (StoreError, KeyError):
            continue
        found = differences(identity, other)
        if nearest is None or len(found) < len(nearest) - 1:
            nearest = [manifest.parent.name, *found]
    Folder.create(path)
    return run, "new", nearest or []
