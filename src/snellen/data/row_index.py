"""Indexes with the position and digest of each row of a file.

Creating an index requires reading the whole file, so indexes are kept in the folder `home()/index`.
An index is a file with an entry of 36 bytes per row and a JSON footer. A damaged or outdated index
is silently replaced. An index that cannot be written stays in memory as long as its table exists.
"""

import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from pathlib import Path
from struct import Struct
from tempfile import NamedTemporaryFile
from typing import IO, NamedTuple

import msgspec

from snellen.data.lines import not_opened
from snellen.data.table import Facts
from snellen.errors import check_regular
from snellen.home import home

FORMAT = 1
KEPT_FROM = 1_000_000
"""The minimum size, in bytes, of a file whose index is kept. Smaller files are read in
milliseconds."""
SETTLED = 1_000_000_000
"""An index is kept only if its file has not changed for this many nanoseconds. The timestamp of a
file does not distinguish changes within a few milliseconds."""
LEFT = 24 * 3600
"""An unfinished index that is older than this many seconds is assumed to be left over from a killed
process."""
NEW = ".new"
File = tuple[str, int, int, int]
"""The absolute path, size in bytes, time of the last change in nanoseconds, and inode of a file."""
ENTRY = Struct("<QIII16s")
END = Struct("<Q8s")
MARK = b"\nsnellen"
BLOCK = 1_000


class RowEntry(NamedTuple):
    """The position of a row in its file."""

    offset: int
    """The offset of the row's first byte in the file; 0 if the format does not allow seeking."""
    length: int
    """The length of the row in bytes, without the line end."""
    at: int
    """The offset, in the row, of a picture that can be skipped when the row is read."""
    skip: int
    """The length of that picture in bytes; 0 if there is none."""
    digest: bytes
    """The digest of the row, 16 bytes."""


class Learnt(msgspec.Struct):
    """Other facts about a file, which are collected while its rows are read."""

    names: list[str] = []
    """The names of the columns; empty if the file has no header."""
    missing: dict[str, dict[str, int]] = {}
    """For each column, the cells that pandas would read as missing, and how often each occurs."""
    lenders: dict[str, int] = {}
    """The positions of the rows whose pictures other rows use. The key is the cell that the other
    rows contain in place of the picture."""


class _Footer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    format: int
    kind: str
    file: File
    rows: int
    digest: str
    entries: str
    """The BLAKE2b-128 digest of the entries."""
    learnt: Learnt


Fields = tuple[int, int, int, int, bytes]
"""The values of an entry as a plain tuple. Creating a `RowEntry` takes five times as long."""
Scan = Callable[[Learnt], Iterator[Fields]]
"""Yields an entry for each row of a file, and stores other facts in `Learnt`."""
Read = Callable[[int, int], bytes]
"""Reads a number of bytes of an index, starting at an offset: `read(size, offset)`."""


class RowIndex:
    """The index of a file: one entry per row, which is read on demand, and facts about the file."""

    def __init__(self, footer: _Footer, read: Read) -> None:
        self.facts = Facts(rows=footer.rows, digest=footer.digest)
        self.learnt = footer.learnt
        self.file = footer.file
        self._read = read

    def entry(self, position: int) -> RowEntry:
        if not 0 <= position < self.facts.rows:
            raise IndexError(f"there is no row {position}: the file has {self.facts.rows} rows")
        return RowEntry._make(ENTRY.unpack(self._read(ENTRY.size, position * ENTRY.size)))

    def __iter__(self) -> Iterator[RowEntry]:
        return map(RowEntry._make, self._all())

    def digests(self) -> Iterator[bytes]:
        return (digest for _, _, _, _, digest in self._all())

    def _all(self) -> Iterator[Fields]:
        end = self.facts.rows * ENTRY.size
        for at in range(0, end, BLOCK * ENTRY.size):
            yield from ENTRY.iter_unpack(self._read(min(BLOCK * ENTRY.size, end - at), at))


def index_of(path: Path, kind: str, scan: Scan) -> RowIndex:
    """The index of a file: the stored index if the file has not changed, otherwise a new one.

    Raises:
        DataError: The file cannot be opened, or `scan` cannot read it.
    """
    file = identity(path)
    name = blake2b(f"{kind} {file[0]}".encode(), digest_size=16).hexdigest()
    path_of_index = home() / "index" / name
    if file[1] >= KEPT_FROM:
        kept = _kept(path_of_index, kind, file)
        if kept is not None:
            return kept
        # If the index cannot be written, it is created in memory below.
        with suppress(OSError):
            return _write_index(path_of_index, kind, file, scan)
    memory = BytesIO()
    footer = _fill(memory, kind, file, scan)
    held = memory.getvalue()
    return RowIndex(footer, lambda size, at: held[at : at + size])


def identity(path: Path) -> File:
    """The path, size, timestamp, and inode of a file. If the file changes, at least one of these
    values changes.

    Raises:
        DataError: The file does not exist or is not a regular file.
    """
    try:
        check_regular(path)
        status = os.stat(path)
    except OSError as error:
        raise not_opened(error, path) from error
    return os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ino


def _kept(path: Path, kind: str, file: File) -> RowIndex | None:
    """The index at this path, if it is intact and matches the current state of the file; None
    otherwise."""
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        footer = _footer(partial(os.pread, opened), os.fstat(opened).st_size)
        fits = footer and (footer.format, footer.kind, footer.file) == (FORMAT, kind, file)
        return _held(footer, opened) if footer and fits else None
    finally:
        os.close(opened)


def _held(footer: _Footer, opened: int) -> RowIndex:
    """Create an index that keeps the index file open, so that the index works even if that file is
    deleted."""
    ours = os.dup(opened)
    index = RowIndex(footer, partial(os.pread, ours))
    weakref.finalize(index, os.close, ours)
    return index


def _footer(read: Read, size: int) -> _Footer | None:
    """The footer of an index; None if the footer or the entries before it are damaged."""
    if size < END.size:
        return None
    length, mark = END.unpack(read(END.size, size - END.size))
    entries = size - END.size - length
    if mark != MARK or entries < 0:
        return None
    try:
        footer = msgspec.json.decode(read(length, entries), type=_Footer)
    except msgspec.DecodeError:
        return None
    seen = blake2b(digest_size=16)
    for at in range(0, entries, BLOCK * ENTRY.size):
        seen.update(read(min(BLOCK * ENTRY.size, entries - at), at))
    is_intact = entries == footer.rows * ENTRY.size and seen.hexdigest() == footer.entries
    return footer if is_intact else None


def _write_index(path: Path, kind: str, file: File, scan: Scan) -> RowIndex:
    """Create an index, and move it to `path` when it is complete, unless the file has just changed.

    Raises:
        OSError: The index cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path.parent)
    with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=NEW, delete=False) as out:
        try:
            footer = _fill(out, kind, file, scan)
            out.flush()
            if time.time_ns() - file[2] > SETTLED and identity(Path(file[0])) == file:
                os.replace(out.name, path)
            return _held(footer, out.fileno())
        finally:
            Path(out.name).unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Delete unfinished indexes that are left over from killed processes."""
    for path in folder.glob(f".*{NEW}"):
        with suppress(OSError):  # another process deletes it too, or another user owns it
            if time.time() - path.stat().st_mtime > LEFT:
                path.unlink()


def _fill(out: IO[bytes], kind: str, file: File, scan: Scan) -> _Footer:
    """Write the entries and the footer of an index."""
    learnt = Learnt()
    rows = 0
    digests = blake2b(digest_size=16)
    entries = blake2b(digest_size=16)
    pack = ENTRY.pack
    scanned = scan(learnt)
    while block := list(islice(scanned, BLOCK)):
        packed = b"".join([pack(*fields) for fields in block])
        digests.update(b"".join([digest for _, _, _, _, digest in block]))
        entries.update(packed)
        out.write(packed)
        rows += len(block)
    footer = _Footer(
        format=FORMAT,
        kind=kind,
        file=file,
        rows=rows,
        digest=digests.hexdigest(),
        entries=entries.hexdigest(),
        learnt=learnt,
    )
    text = msgspec.json.encode(footer)
    out.write(text + END.pack(len(text), MARK))
    return footer
