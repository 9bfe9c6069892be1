"""The folder of one run, with its questions, its replies, and the final reply for each key."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import orjson

from snellen.errors import StoreError
from snellen.store import lines, part_files
from snellen.store._mirror import Mirror
from snellen.store.folder import Folder, LineReader, file_order
from snellen.store.formats import FORMAT, NEWEST, check_format
from snellen.store.kept_index import END, FAILURE, KEPT_FROM, REPLY, IndexEntry, KeptIndex
from snellen.store.key import AnyKey, Key
from snellen.store.lines import LineReading, T
from snellen.store.locks import RunPart
from snellen.store.manifest import MANIFEST, command_on, read_manifest
from snellen.store.media_stamps import MediaStamps
from snellen.store.mirrored import RemoteFolder
from snellen.store.records import (
    EndRecord,
    EventRecord,
    LabelRecord,
    Question,
    ReplyRecord,
    ScoreRow,
    Unknown,
)
from snellen.store.reply_index import QuestionRow, ReplyIndex, question_rows, shortened
from snellen.store.windows import WindowRecord

QUESTIONS, REPLIES, EVENTS, SCORES = "questions", "replies", "events", "scores"
REPORT, LABELS = "report.json", "labels.jsonl"
VERDICTS = "judged/*/*/*"
"""The pattern of the folders of judges' runs, inside the run that they judge."""
MOST_PARTS = 99_999


class Placed(NamedTuple):
    """The position of a line in a run's files."""

    file: str
    """The name of the line's file."""
    offset: int
    """The offset of the line's first byte in the file."""
    size: int
    """The line's length in bytes, including the line break."""

    @property
    def order(self) -> tuple[int, int, int]:
        """The sort key of the line among the lines of its journal."""
        return (*file_order(self.file), self.offset)


class Run:
    """A run folder.

    To write to a run, hold the folder's `lock` and call `load`, which finds the final record of
    every key. `notes` lists damage that was found or repaired, such as incomplete lines and lines
    that are not records.

    Several processes may write the same run at the same time if each process writes a different
    `part`. Each process reads the whole run.
    """

    def __init__(self, path: Path, part: RunPart | None = None) -> None:
        self.path = path
        self.folder = RemoteFolder(path, part) if isinstance(path, Mirror) else Folder(path, part)
        self.notes: list[str] = self.folder.repairs
        self._lines = LineReading(path, self.notes)
        self._index = ReplyIndex()
        self._readers: dict[str, LineReader] = {}
        self._is_marked = False
        """If True, the format number in the manifest is known to be high enough for a run with
        parts. Used only when a part is written."""

    def part(self, number: int, total: int) -> Run:
        """Open the same run for a process that writes one of `total` parts of the run. Each part
        has its own journal and lock. Parts are numbered from 1.

        Raises:
            StoreError: the number is not valid.
        """
        if not 1 <= number <= total <= MOST_PARTS:
            raise StoreError(
                f"{self.path}: there is no part {number} of {total:,}. A run has at most "
                f"{MOST_PARTS:,} parts, numbered from 1."
            )
        return Run(self.path, RunPart(number, total))

    # -- the manifest

    def manifest(self) -> dict[str, Any]:
        """Read the manifest, which has everything that is needed to repeat the run.

        Raises:
            StoreError: there is no manifest, or this version cannot read it.
        """
        return read_manifest(self.folder)

    def command(self, verb: str, *arguments: str) -> str:
        """A `snellen` command for this run, quoted so that it can be pasted into a shell."""
        return command_on(verb, self.path, self.manifest(), *arguments)

    def put_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Store the manifest, replacing an earlier one. A process that writes a part creates the
        manifest if there is none, and otherwise stores only what the part adds to it."""
        if self.folder.part is not None:
            part_files.put_manifest(self.folder, self.folder.part, manifest)
            return
        document = {"format": FORMAT, **manifest}
        if self.folder.has_parts:
            document["format"] = NEWEST
        self.folder.put_atomic(MANIFEST, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")

    # -- the contents, once it is loaded

    def load(self, asks_again: Callable[[ReplyRecord], bool] | None = None) -> None:
        """Find the keys that have a reply, and the keys that have a question but no reply.

        If `asks_again` returns True for a key's final reply, the key counts as having no reply
        until the run is closed, so that its question is asked again.
        """
        index = ReplyIndex()
        unknown = 0
        since = {}
        if asks_again is None:  # the kept index does not have all fields of the replies
            since = self._kept.since(self.folder.segments(REPLIES))
            for name in since:
                for chunk in self._kept.chunks(name):
                    index.add_chunk(name, chunk)
        for name, offset, line in self.folder.records(REPLIES, since):
            record = self._lines.journal_line(line, name, offset)
            if isinstance(record, EndRecord):
                index.add_end(record.key)
            elif isinstance(record, Unknown):
                unknown += 1
            elif isinstance(record, ReplyRecord):
                failed = record.state == "failed"
                again = not failed and asks_again is not None and asks_again(record)
                index.add_reply(record.key, name, offset, failed=failed, reopened=again)
        if unknown:
            self.notes.append(
                f"{unknown} records of the journal have a kind that this version does not know. "
                "They were kept"
            )
        index.set_questions(self._question_rows())
        self._index = index

    def keep_index(self) -> None:
        """Store an index of the run's records, with which the next process opens the run faster.
        The caller holds the folder's lock. An index is stored only for a large run on this
        machine."""
        if isinstance(self.path, Mirror) or self.folder.has_parts:
            return
        stems = (REPLIES, QUESTIONS)
        paths = [self.path / name for stem in stems for name in self.folder.segments(stem)]
        if _size(paths) < KEPT_FROM:
            return
        self.folder.flush()
        for stem, entry_of in ((REPLIES, self._journal_entry), (QUESTIONS, self._question_entry)):
            for name in self.folder.segments(stem):
                self._kept.extend(name, partial(entry_of, name))
        self._kept.put()

    def final(self, key: AnyKey) -> ReplyRecord | None:
        """The final record of a key: the last record that is not `failed`, or the last record if
        all are `failed`."""
        final = self._index.final(Key.of(key))
        if final is None:
            return None
        name, offset = final
        reader = self._readers.get(name)
        if reader is None:
            reader = self._readers[name] = self.folder.reader(name)
        return self._lines.certain_record(lines.REPLY, reader.line(offset), name, offset)

    def has_reply(self, key: AnyKey) -> bool:
        """Whether the key has a final reply that is kept. False if the question is asked again."""
        return self._index.has_reply(Key.of(key))

    def has_ended(self, sample: str, repeat: int, turns: int) -> bool:
        """Whether the journal records that a conversation ended after this number of turns."""
        return self._index.has_end(Key(sample, repeat, turns))

    def finished_at(self, row_index: int) -> int:
        """How many repeats of a row had a reply to their first turn when the run was loaded; 0 if
        any of the row's stored questions had no reply. With this number, finished rows can be
        recognized without creating their samples."""
        return self._index.finished_at(row_index)

    def finished_rows(self, repeats: int) -> set[int]:
        """The rows for which `finished_at` is at least `repeats`."""
        return self._index.finished_rows(repeats)

    def has_row(self, row_index: int) -> bool:
        """Whether the run had a question of this row when the run was loaded."""
        return self._index.has_row(row_index)

    def lacks_question(self, key: AnyKey) -> bool:
        """Whether the key has a reply, but its row in `questions.jsonl` was lost in a power
        failure."""
        return self._index.lacks_question(Key.of(key))

    @property
    def lost_questions(self) -> int:
        """The number of replies that cannot be scored because their rows in `questions.jsonl` are
        lost."""
        return self._index.lost_questions

    def was_rendered(self, key: AnyKey) -> bool:
        """Whether this key has a row in `questions.jsonl` but no reply yet."""
        return self._index.was_rendered(Key.of(key))

    # -- reading

    def replies(self) -> Iterator[ReplyRecord | Unknown]:
        """Yield the record of every attempt, in order. Records of unknown kinds are included
        unchanged."""
        for name, offset, line in self.folder.records(REPLIES):
            record = self._lines.journal_line(line, name, offset)
            if isinstance(record, ReplyRecord | Unknown):
                yield record

    def windows(self) -> Iterator[WindowRecord]:
        """Yield the record of every finished window, in order."""
        for name, offset, line in self.folder.records(REPLIES):
            record = self._lines.journal_line(line, name, offset)
            if isinstance(record, WindowRecord):
                yield record

    def questions(self) -> Iterator[Question]:
        """Yield the first row of every key, sorted by the order of the data set, and then by
        repeat, turn, and step."""
        import numpy as np

        # Numbered as they are read: a process may begin another part's file at any time.
        numbers: dict[str, int] = {}
        columns = tuple(array("q") for _ in range(6))
        for name, offset, key, row_index in self._question_keys():
            number = numbers.setdefault(name, len(numbers))
            where = (row_index, key.repeat, key.turn, key.step, number, offset)
            for column, value in zip(columns, where, strict=True):
                column.append(value)
        rows = np.array([np.frombuffer(column, dtype=np.int64) for column in columns]).T
        files = sorted(numbers, key=file_order)
        if len(rows):
            rows[:, 4] = np.array([files.index(name) for name in numbers])[rows[:, 4]]
        rows = rows[np.lexsort(rows.T[::-1])]
        readers = [self.folder.reader(name) for name in files]
        before: list[int] | None = None
        # In a judge's run, several rows share a position: those with replies to the same question.
        names: set[str] = set()
        # Processes that write different parts do not see each other's rows.
        positions: dict[AnyKey, int] | None = {} if self.folder.has_parts else None
        try:
            for *position, file, offset in map(np.ndarray.tolist, rows):
                if position != before:
                    before = position
                    names.clear()
                line = readers[file].line(offset)
                question = self._lines.certain_record(lines.QUESTION, line, files[file], offset)
                if question.key.sample not in names:
                    names.add(question.key.sample)
                    if positions is not None:
                        self._check_position(question, positions)
                    yield question
        finally:
            for reader in readers:
                reader.close()

    def _check_position(self, question: Question, positions: dict[AnyKey, int]) -> None:
        """Check that no two rows have the same id.

        Raises:
            StoreError: an earlier row has the key of this question.
        """
        before = positions.setdefault(question.key, question.place)
        if before != question.place:
            raise StoreError(
                f"{self.path}: rows {before + 1} and {question.place + 1} of the data have the "
                f"same id {question.key.sample!r}, so their replies cannot be told apart. Ids must "
                "be unique: give each row its own, and start a new run."
            )

    def first_questions(self, n: int) -> list[Question]:
        """The questions of first turns and first repeats among the first `n` rows of the file, in
        file order."""
        rows = islice(self._records(QUESTIONS, lines.QUESTION), n)
        return [row for _, _, row in rows if row.key.is_first and not row.key.repeat]

    def events(self) -> Iterator[EventRecord]:
        """Yield every event of an online run, in order."""
        return (event for _, _, event in self._records(EVENTS, lines.EVENT))

    def scores(self) -> Iterator[ScoreRow]:
        """Yield the results of scorings, in order."""
        return (row for _, _, row in self._records(SCORES, lines.SCORE))

    def labels(self) -> list[LabelRecord]:
        """The scores that people gave to replies (`judge --against`).

        Raises:
            StoreError: the labels cannot be read, or have a later format.
        """
        raw = self.folder.get(LABELS) or b""
        try:
            labels = [lines.LABEL.decode(line) for line in raw.splitlines()]
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{self.path / LABELS} is not a file of labels: {error}. Pass the labels again "
                "with --against, or remove the file."
            ) from error
        for label in labels:
            check_format(label.format, self.path / LABELS)
        return labels

    def input_sizes(self) -> dict[str, int]:
        """The size in bytes of each input of a report: replies, verdicts, and labels by people."""
        journals = [self.path / name for name in self.folder.segments(REPLIES)]
        return {
            "replies": _size(journals),
            "verdicts": _size(self.path.glob(f"{VERDICTS}/{REPLIES}*.jsonl")),
            "labels": _size([self.path / LABELS]),
        }

    @cached_property
    def media_stamps(self) -> MediaStamps:
        """The stamps of the media of the run's questions."""
        return MediaStamps(self.folder, QUESTIONS)

    # -- reading by position

    def appended_questions(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, Question]]:
        """Yield the rows of `questions*.jsonl`, starting at an offset in each file, in file order.
        A key may have several rows."""
        return self._appended(QUESTIONS, since, lines.QUESTION)

    def appended_replies(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, ReplyRecord]]:
        """Yield the replies and failures in the journal, starting at an offset in each file, in
        file order."""
        return self._appended(REPLIES, since, lines.REPLY)

    def appended_scores(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, ScoreRow]]:
        """Yield the results of scorings, starting at an offset. The file is replaced when the run
        is scored again."""
        return self._appended(SCORES, since, lines.SCORE)

    def appended_events(self, since: Mapping[str, int]) -> Iterator[tuple[Placed, EventRecord]]:
        """Yield the events of an online run, starting at an offset in each file."""
        return self._appended(EVENTS, since, lines.EVENT)

    def question_at(self, placed: Placed) -> Question:
        """Read the row at a position.

        Raises:
            StoreError: there is no record at this position, for example after the file was changed.
        """
        return self._at(placed, lines.QUESTION)

    def reply_at(self, placed: Placed) -> ReplyRecord:
        """Read the record at a position.

        Raises:
            StoreError: there is no record at this position, for example after the file was changed.
        """
        return self._at(placed, lines.REPLY)

    # -- writing

    def append_question(self, question: Question) -> None:
        """Append a question, which is stored under its key."""
        self._append(QUESTIONS, question)
        self._index.add_question(Key.of(question.key))

    def append_reply(self, record: ReplyRecord) -> None:
        """Append the outcome of an attempt."""
        name, offset = self._append(REPLIES, record)
        self._index.add_reply(record.key, name, offset, failed=record.state == "failed")

    def append_end(self, sample: str, repeat: int, turns: int, at: str) -> None:
        """Record that a conversation ended after this number of turns, unless this is already
        stored."""
        key = Key(sample, repeat, turns)
        if not self._index.has_end(key):
            self._append(REPLIES, EndRecord(format=FORMAT, key=key, at=at))
            self._index.add_end(key)

    def append_window(self, record: WindowRecord) -> None:
        """Append the record of a finished window of an online run."""
        self._append(REPLIES, record)

    def append_event(self, event: EventRecord) -> None:
        """Append an event of an online run."""
        self._append(EVENTS, event)

    def put_labels(self, labels: Iterable[LabelRecord]) -> None:
        """Store labels, replacing all earlier ones."""
        self.folder.put_atomic(LABELS, (lines.encode(label) + b"\n" for label in labels))

    def close(self) -> None:
        """Flush and close all files."""
        self.folder.close()
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    # -- inside

    def _append(self, stem: str, record: msgspec.Struct) -> tuple[str, int]:
        """Append a line, and return its file and offset."""
        if self.folder.part is not None and not self._is_marked:
            part_files.mark(self.folder)
            self._is_marked = True
        name = self.folder.segment(stem)
        return name, self.folder.append(name, lines.encode(record))

    def _question_rows(self) -> Iterator[QuestionRow]:
        since = self._kept.since(self.folder.segments(QUESTIONS))
        for name in since:
            for chunk in self._kept.chunks(name):
                yield from question_rows(chunk)
        for _, _, question in self._records(QUESTIONS, lines.QUESTION, since):
            yield shortened(question.key), question.place, question.key.is_first

    def _question_keys(self) -> Iterator[tuple[str, int, Key, int]]:
        """Yield the file, the offset, the key, and the row index of each row of
        `questions*.jsonl`."""
        since = self._kept.since(self.folder.segments(QUESTIONS))
        for name in since:
            for chunk in self._kept.chunks(name):
                entries = zip(chunk.offsets, chunk.keys(), chunk.values, strict=True)
                yield from ((name, *entry) for entry in entries)
        for name, offset, question in self._records(QUESTIONS, lines.QUESTION, since):
            yield name, offset, question.key, question.place

    def _journal_entry(self, name: str, line: bytes, offset: int) -> IndexEntry | None:
        record = self._lines.journal_line(line, name, offset)
        if isinstance(record, EndRecord):
            return IndexEntry(record.key, END)
        if isinstance(record, ReplyRecord):
            return IndexEntry(record.key, FAILURE if record.state == "failed" else REPLY)
        return None

    def _question_entry(self, name: str, line: bytes, offset: int) -> IndexEntry | None:
        question = self._lines.record(lines.QUESTION, line, name, offset)
        return None if question is None else IndexEntry(question.key, question.place)

    @cached_property
    def _kept(self) -> KeptIndex:
        return KeptIndex(self.folder)

    def _records(
        self,
        stem: str,
        decoder: msgspec.json.Decoder[T],
        since: Mapping[str, int] = MappingProxyType({}),
    ) -> Iterator[tuple[str, int, T]]:
        """Yield (file, offset, record) for every record of `stem*.jsonl`, from the given offset in
        each file. A key may have several records."""
        for name, offset, line in self.folder.records(stem, since):
            record = self._lines.record(decoder, line, name, offset)
            if record is not None:
                yield name, offset, record

    def _appended(
        self, stem: str, since: Mapping[str, int], decoder: msgspec.json.Decoder[T]
    ) -> Iterator[tuple[Placed, T]]:
        """Yield the records of one kind, starting at an offset in each file. All other lines are
        skipped."""
        for name, offset, line in self.folder.records(stem, since):
            record = self._lines.record_if_any(decoder, line, name)
            if record is not None:
                yield Placed(name, offset, len(line) + 1), record

    def _at(self, placed: Placed, decoder: msgspec.json.Decoder[T]) -> T:
        if Path(placed.file).name != placed.file:
            raise StoreError(f"{placed.file} is not a file of the run {self.path}.")
        reader = self.folder.reader(placed.file)
        try:
            line = reader.line(placed.offset)
        finally:
            reader.close()
        return self._lines.certain_record(decoder, line, placed.file, placed.offset)


def _size(paths: Iterable[Path]) -> int:
    """The total size in bytes of these files. Files that do not exist are ignored."""
    size = 0
    for path in paths:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
