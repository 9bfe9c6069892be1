"""Finds the final record of each key, and the questions that still have to be asked."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from snellen.store.folder import file_order
from snellen.store.kept_index import END, FAILURE, Chunk
from snellen.store.key import Key

OFFSET_BITS = 47
"""The number of bits for the offset of a record in its file. In a position, the lowest bit marks a
failure, the next bits are this offset, and the highest bits are the number of the file."""


QuestionRow = tuple[str | Key, int, bool]
"""A question: its shortened key, its row index, and whether it is the first of its conversation."""


class ReplyIndex:
    """Maps every key to the position of its final record. Keeping only positions needs little
    memory, even for 100,000 keys.

    A reply takes precedence over a failure, regardless of their order. Between two replies or two
    failures, the one that is later in the journal takes precedence, whatever the order in which the
    journal's files are read.
    """

    def __init__(self) -> None:
        self._files: list[str] = []
        self._numbers: dict[str, int] = {}
        self._orders: list[tuple[int, int]] = []
        self._finals: dict[str | Key, int] = {}
        self._ends: set[Key] = set()
        self._rendered: set[str | Key] = set()
        self._lost: set[str | Key] = set()
        self._reopened: set[str | Key] = set()
        self._finished = array("H")
        self._unfinished: set[int] = set()

    # -- adding

    def add_reply(
        self, key: Key, name: str, offset: int, *, failed: bool, reopened: bool = False
    ) -> None:
        """Add a reply or a failure, given its file and its offset in the file. With `reopened`, the
        question of the reply is asked again. The reply remains the final record until a new reply
        is added."""
        number = self._number(name)
        short = shortened(key)
        final = self._finals.get(short)
        if final is not None:
            final_failed = final & 1
            if failed and not final_failed:
                return
            final_number = final >> OFFSET_BITS + 1
            if failed == final_failed and self._orders[final_number] > self._orders[number]:
                return
        self._finals[short] = number << OFFSET_BITS + 1 | offset << 1 | failed
        if not failed:
            self._rendered.discard(short)
            self._reopened.discard(short)
            if reopened:
                self._reopened.add(short)

    def add_end(self, key: Key) -> None:
        """Add the end of a conversation."""
        self._ends.add(key)

    def add_question(self, key: Key) -> None:
        """Add a question that is about to be asked."""
        self._rendered.add(shortened(key))
        self._lost.discard(shortened(key))

    def add_chunk(self, name: str, chunk: Chunk) -> None:
        """Add a chunk of a journal's file, which is faster than adding each of its entries."""
        values = chunk.values
        if not chunk.others and not any(values):  # each entry is a reply to a first turn
            start = self._number(name) << OFFSET_BITS + 1
            positions = [start | offset << 1 for offset in chunk.offsets]
            finals = dict(zip(chunk.samples, positions, strict=True))
            if len(finals) == len(positions) and self._finals.keys().isdisjoint(finals):
                self._finals.update(finals)
                return
        for key, offset, value in zip(chunk.keys(), chunk.offsets, values, strict=True):
            if value == END:
                self.add_end(key)
            else:
                self.add_reply(key, name, offset, failed=value == FAILURE)

    def set_questions(self, questions: Iterable[QuestionRow]) -> None:
        """Set all questions of a run, after all replies of the run have been added."""
        self._rendered.clear()
        self._finished = finished = array("H")
        self._unfinished = set()
        # The keys of replies whose question has not been found so far.
        lost = {short for short, final in self._finals.items() if not final & 1}
        for short, row_index, is_first in questions:
            if self._finals.get(short, 1) & 1 or short in self._reopened:
                self._rendered.add(short)
                self._unfinished.add(row_index)
            elif is_first and short in lost:
                if row_index >= len(finished):
                    missing = row_index + 1 - len(finished)
                    finished.frombytes(bytes(missing * finished.itemsize))
                finished[row_index] += 1
            lost.discard(short)
        self._lost = lost

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._files)
            self._files.append(name)
            self._orders.append(file_order(name))
        return number

    # -- answers

    def final(self, key: Key) -> tuple[str, int] | None:
        """The file and the offset of a key's final record; None if the key has no record."""
        final = self._finals.get(shortened(key))
        if final is None:
            return None
        return self._files[final >> OFFSET_BITS + 1], (final >> 1) & ((1 << OFFSET_BITS) - 1)

    def has_reply(self, key: Key) -> bool:
        """Whether the key has a final reply that is kept. False if the question is asked again."""
        short = shortened(key)
        return not self._finals.get(short, 1) & 1 and short not in self._reopened

    def has_end(self, key: Key) -> bool:
        """Whether a conversation has ended at this key."""
        return key in self._ends

    def finished_at(self, row: int) -> int:
        """How many repeats of a row have a reply to their first turn; 0 if any of the row's stored
        questions has no reply."""
        if row >= len(self._finished) or row in self._unfinished:
            return 0
        return self._finished[row]

    def finished_rows(self, repeats: int) -> set[int]:
        """The rows of whose first turn at least this many repeats have a reply. Rows with a
        question that has no reply are left out."""
        rows = {row for row, finished in enumerate(self._finished) if finished >= repeats}
        return rows - self._unfinished

    def has_row(self, row: int) -> bool:
        """Whether the run has a question of this row."""
        return row in self._unfinished or (row < len(self._finished) and self._finished[row] > 0)

    def lacks_question(self, key: Key) -> bool:
        """Whether the key has a reply but no question."""
        return shortened(key) in self._lost

    @property
    def lost_questions(self) -> int:
        """The number of replies that have no question."""
        return len(self._lost)

    def was_rendered(self, key: Key) -> bool:
        """Whether the key has a question but no reply yet."""
        return shortened(key) in self._rendered


def question_rows(chunk: Chunk) -> Iterator[QuestionRow]:
    """The questions in a chunk."""
    if not chunk.others:
        return zip(chunk.samples, chunk.values, repeat(True))
    pairs = zip(chunk.keys(), chunk.values, strict=True)
    return ((shortened(key), row_index, key.is_first) for key, row_index in pairs)


def shortened(key: Sequence[object]) -> str | Key:
    """Shorten the key of a first turn of a first repeat to the id of its sample, which saves
    memory."""
    return key[0] if not any(key[1:]) else key  # type: ignore[return-value]
