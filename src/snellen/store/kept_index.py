"""Keeps an index of a run's journal and questions, so that a run with many replies opens quickly.

The index is the hidden file `.index` in the run's folder. It is a cache: if the file is missing,
damaged, or from another version, the run's files are read instead, and the index is written again.

An index never hides a change. It stores the digest of each chunk of each file, and only those
chunks are used that precede the first change. The digests of a file are not computed if the file's
inode, size, and time of change are those that the index stores.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from snellen.store._faults import store_error
from snellen.store.folder import Folder
from snellen.store.formats import NEWEST
from snellen.store.key import Key

INDEX = ".index"
INDEX_FORMAT = 1
KEPT_FROM = 4_000_000
"""The minimum size, in bytes, of the files that are indexed. Smaller files are read in
milliseconds."""
CHUNK = 4 << 20
"""The size of a chunk in bytes, except for the last chunk of a file."""
SETTLED = 1_000_000_000
"""A file's time of change is trusted only if it was this many nanoseconds ago when the file was
read. The clock of a file system does not distinguish changes within a few milliseconds."""
DIGEST = 32
"""The size of a digest in bytes."""

REPLY, FAILURE, END = range(3)
"""The values of the entries of a journal."""


class FileStamp(msgspec.Struct, frozen=True, array_like=True):
    """Identifies the state of a file without reading the file."""

    inode: int
    """The inode number of the file."""
    size: int
    """The size in bytes."""
    changed: int
    """When the file's content or attributes changed last, in nanoseconds. Programs cannot set this
    time."""
    is_settled: bool
    """Whether any later change gives the file another time of change."""

    @classmethod
    def of(cls, file: Path | int) -> FileStamp:
        """The stamp of a file, or of the file with this descriptor."""
        now = time.time_ns()
        status = os.stat(file)
        changed = status.st_ctime_ns
        return cls(status.st_ino, status.st_size, changed, now - changed > SETTLED)

    def is_same(self, other: FileStamp) -> bool:
        """Whether the file has certainly not changed between the two stamps."""
        state = (self.inode, self.size, self.changed)
        return self.is_settled and state == (other.inode, other.size, other.changed)


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """The entries of the lines in one part of a file."""

    end: int
    """The offset of the first byte after the chunk. A chunk starts where the one before it ends."""
    digest: bytes
    """The SHA-256 of the chunk."""
    samples: list[str]
    """The sample of each entry."""
    offset_bytes: bytes
    """The offset of each entry's line in the file, as 64-bit integers."""
    value_bytes: bytes
    """The value of each entry, as 32-bit integers: the kind of an entry of a journal, or the row
    index of a question."""
    others: dict[int, list[int]]
    """Maps the numbers of entries to the repeat, the turn, and the step of their keys. All of them
    are 0 for other entries."""

    @property
    def offsets(self) -> array[int]:
        return array("q", self.offset_bytes)

    @property
    def values(self) -> array[int]:
        return array("i", self.value_bytes)

    def keys(self) -> Iterator[Key]:
        """The key of each entry."""
        for number, sample in enumerate(self.samples):
            yield Key(sample, *self.others.get(number, ()))


class _FileIndex(msgspec.Struct, array_like=True):
    stamp: FileStamp
    chunks: list[Chunk]


class _Index(msgspec.Struct, array_like=True):
    format: int
    lines: int
    """The highest format number of lines that the writer of the index could read. Another version
    must check the format numbers of the lines itself."""
    files: dict[str, _FileIndex]


class IndexEntry(NamedTuple):
    """A line of an indexed file."""

    key: Key
    """The key of the line."""
    value: int
    """The value of the line, as in a chunk."""


EntryOf = Callable[[bytes, int], IndexEntry | None]
"""Decodes a line, given its offset in the file. Returns None for a line that cannot be indexed,
such as a damaged one."""


class KeptIndex:
    """The index of one run."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._stored = _read(folder)
        self._valid: dict[str, _FileIndex] = {}
        """The part of each file's index that was valid when it was checked last."""

    def chunks(self, name: str) -> list[Chunk]:
        """The indexed chunks at the beginning of a file, up to the first one that has changed.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            with (self._folder.root / name).open("rb") as file:
                self._check(name, file)
        except OSError as error:
            raise store_error(self._folder.root / name, "be read", error) from error
        return self._valid[name].chunks

    def since(self, names: Iterable[str]) -> dict[str, int]:
        """For each file, the offset of the first byte that is not indexed."""
        return {name: _end(self.chunks(name)) for name in names}

    def extend(self, name: str, entry_of: EntryOf) -> None:
        """Index the lines at the end of a file that are not indexed yet, up to the first line that
        cannot be indexed.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            with (self._folder.root / name).open("rb") as file:
                self._check(name, file)
                chunks = self._valid[name].chunks
                if chunks and _end(chunks) == self._valid[name].stamp.size:
                    return
                if chunks and _end(chunks) - _end(chunks[:-1]) < CHUNK // 2:
                    chunks = chunks[:-1]  # so that small chunks do not add up
                file.seek(_end(chunks))
                added = _chunks(file, _end(chunks), entry_of)
                self._valid[name].chunks = [*chunks, *added]
        except OSError as error:
            raise store_error(self._folder.root / name, "be read", error) from error

    def put(self) -> None:
        """Store the index of all files that were checked, unless it is stored already. The caller
        holds the run's lock."""
        stored, valid = self._stored, self._valid
        is_stored = stored.keys() == valid.keys() and all(
            stored[name].stamp.is_same(index.stamp) and stored[name].chunks == index.chunks
            for name, index in valid.items()
        )
        if is_stored:
            return
        payload = msgspec.msgpack.encode(_Index(INDEX_FORMAT, NEWEST, valid))
        self._folder.put_atomic(INDEX, sha256(payload).digest() + payload)
        self._stored = dict(valid)

    def _check(self, name: str, file: BinaryIO) -> None:
        """Find the valid part of a file's index."""
        stamp = FileStamp.of(file.fileno())
        stored = self._stored.get(name)
        for known in (self._valid.get(name), stored):
            if known is not None and known.stamp.is_same(stamp):
                self._valid[name] = known
                return
        chunks = [] if stored is None else [*_intact(file, stored.chunks)]
        self._valid[name] = _FileIndex(stamp, chunks)


def _read(folder: Folder) -> dict[str, _FileIndex]:
    """The stored index; empty if there is none that can be used."""
    content = folder.get(INDEX) or b""
    digest, payload = content[:DIGEST], content[DIGEST:]
    if sha256(payload).digest() != digest:
        return {}
    try:
        index = msgspec.msgpack.decode(payload, type=_Index)
    except msgspec.DecodeError:
        return {}
    return index.files if (index.format, index.lines) == (INDEX_FORMAT, NEWEST) else {}


def _intact(file: BinaryIO, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks up to the first one whose bytes have changed."""
    start = 0
    for chunk in chunks:
        if sha256(file.read(chunk.end - start)).digest() != chunk.digest:
            return
        yield chunk
        start = chunk.end


def _chunks(file: BinaryIO, start: int, entry_of: EntryOf) -> Iterator[Chunk]:
    """Yield chunks of the complete lines of a file from its current position `start`, up to the
    first line that cannot be indexed."""
    rest = b""
    while block := file.read(CHUNK):
        lines, newline, rest_of_block = block.rpartition(b"\n")
        if not newline:
            rest += block
            continue
        content = rest + lines + newline
        rest = rest_of_block
        chunk = _chunk(content, start, entry_of)
        if chunk is None:
            return
        yield chunk
        start = chunk.end


def _chunk(content: bytes, start: int, entry_of: EntryOf) -> Chunk | None:
    """The chunk of these lines; None if one of them cannot be indexed."""
    samples: list[str] = []
    offsets, values = array("q"), array("i")
    others = {}
    offset = start
    for line in content[:-1].split(b"\n"):
        entry = entry_of(line, offset)
        if entry is None:
            return None
        sample, *numbers = entry.key
        if any(numbers):
            others[len(samples)] = numbers
        samples.append(sample)
        offsets.append(offset)
        values.append(entry.value)
        offset += len(line) + 1
    return Chunk(
        start + len(content),
        sha256(content).digest(),
        samples,
        offsets.tobytes(),
        values.tobytes(),
        others,
    )


def _end(chunks: list[Chunk]) -> int:
    return chunks[-1].end if chunks else 0
