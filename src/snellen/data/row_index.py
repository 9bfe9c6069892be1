"""Where each row of a file lies, and its digest: kept in the cache folder, `home()/index`, since to
learn it the whole file must be read.

An index is a file of entries of 36 bytes, a row each, and behind them a JSON footer with all else.
One that is torn, is of another version of us or of the rows, or is no index at all is made anew and
nothing is said; where it cannot be written, it lives in memory for as long as its table.
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
"""Bytes of a file from which on its index is kept: a smaller one is read in milliseconds."""
SETTLED = 1_000_000_000
"""Nanoseconds for which a file must not have changed: its time stamp does not tell apart two
changes within a few milliseconds."""
LEFT = 24 * 3600
"""Seconds after which an index that is still being made is one whose process was killed."""
NEW = ".new"
File = tuple[str, int, int, int]
"""Absolute path, bytes, time of the last change in nanoseconds, inode."""
ENTRY = Struct("<QIII16s")
END = Struct("<Q8s")
MARK = b"\nsnellen"
BLOCK = 1_000


class RowEntry(NamedTuple):
    """Where a row lies: its first byte in the file and its length without its line end. `skip`
    bytes from its byte `at` on are a picture, which need not be read to know the rest (0: none).

    Offsets are 0 where a file cannot be sought in; the digest's are its 16 bytes.
    """

    offset: int
    length: int
    at: int
    skip: int
    digest: bytes


class Learnt(msgspec.Struct):
    """What else is learnt of a table while its rows are looked at."""

    names: list[str] = []
    """Of columns, where a header names them."""
    missing: dict[str, dict[str, int]] = {}
    """For a column: how often which cells occur that pandas would read as missing."""
    lenders: dict[str, int] = {}
    """Rows whose picture other rows show, by the name that those call them."""


class _Footer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    format: int
    kind: str
    file: File
    rows: int
    digest: str
    entries: str
    """The BLAKE2b-128 of the entries."""
    learnt: Learnt


Fields = tuple[int, int, int, int, bytes]
"""An entry's, as a plain tuple, which takes a fifth of the time: a million are made."""
Scan = Callable[[Learnt], Iterator[Fields]]
"""Looks at all rows, and notes on the way what there is to learn."""
Read = Callable[[int, int], bytes]
"""So many bytes of an index, from that byte on."""


class RowIndex:
    """The entries of a file's rows, read when they are asked for, and the facts about them all."""

    def __init__(self, footer: _Footer, read: Read) -> None:
        self.facts = Facts(rows=footer.rows, digest=footer.digest)
        self.learnt = footer.learnt
        self.file = footer.file
        self._read = read

    def entry(self, position: int) -> RowEntry:
        if not 0 <= position < self.facts.rows:
            raise IndexError(f"there is no row {position} among {self.facts.rows}")
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
    """The index of a file: from the cache folder if it is of the file as it is now, else made.

    Raises:
        DataError: the file cannot be opened, or what `scan` raises.
    """
    file = identity(path)
    name = blake2b(f"{kind} {file[0]}".encode(), digest_size=16).hexdigest()
    path_of_index = home() / "index" / name
    if file[1] >= KEPT_FROM:
        kept = _kept(path_of_index, kind, file)
        if kept is not None:
            return kept
        # What cannot be written is no reason to fail.
        with suppress(OSError):
            return _write_index(path_of_index, kind, file, scan)
    memory = BytesIO()
    footer = _fill(memory, kind, file, scan)
    held = memory.getvalue()
    return RowIndex(footer, lambda size, at: held[at : at + size])


def identity(path: Path) -> File:
    """What tells a file from all others, and from itself after a change.

    Raises:
        DataError: it is not there.
    """
    try:
        check_regular(path)
        status = os.stat(path)
    except OSError as error:
        raise not_opened(error, path) from error
    return os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ino


def _kept(path: Path, kind: str, file: File) -> RowIndex | None:
    """The index that lies there, if it is whole and of this file."""
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
    """An index that reads from a file for as long as it lives, whatever becomes of its name."""
    ours = os.dup(opened)
    index = RowIndex(footer, partial(os.pread, ours))
    weakref.finalize(index, os.close, ours)
    return index


def _footer(read: Read, size: int) -> _Footer | None:
    """The footer of an index, if all that is before it is as it was written."""
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
    """A new index, put there whole, unless the file is changing.

    Raises:
        OSError: there is no room for it.
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
    """Take away what killed processes left: nobody else does."""
    for path in folder.glob(f".*{NEW}"):
        with suppress(OSError):  # another process does it too, or it is not ours
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
