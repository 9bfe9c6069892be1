"""A run's folder on a POSIX file system. Some files in the folder are only appended to, and small
files are replaced as a whole.

Each line is written with one `write`, so that no appended line is lost if the process is killed.
`flush` runs once per second, so that a power failure loses at most the lines of one second. An
incomplete last line is reported and removed before the next append.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import NamedTuple

from snellen.errors import check_regular
from snellen.store._faults import store_error
from snellen.store.locks import Lock, PartLock, RunPart, ScoresLock

BLOCK = 1 << 20
AHEAD = 1 << 16
HELD = Path("/proc/locks")
"""The file in which Linux lists the locks that processes hold, with lines such as `1: FLOCK
ADVISORY WRITE 123 08:01:4711 0 EOF`."""
SEGMENT = re.compile(r"(\w+?)(?:\.part-(\d{5}))?(?:-(\d+))?\.jsonl")
"""Matches the name of a journal file, and captures its stem, its part of the run, and its
number."""


def file_order(name: str) -> tuple[int, int]:
    """The sort key of a journal file: its part, then its number."""
    match = SEGMENT.fullmatch(name)
    assert match is not None, name
    return int(match[2] or 0), int(match[3] or 0)


class Stamp(NamedTuple):
    """Identifies the version of a file. The stamp changes when the file is replaced or modified."""

    inode: int
    """The inode number of the file."""
    size: int
    """Its size in bytes."""
    changed: int
    """The time of the last change, in nanoseconds."""


class _Elsewhere(Exception):
    """Wraps an OSError that may concern a file other than the one that is being written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Folder:
    """The files of one run. Opening a folder for reading changes nothing.

    A folder reads the files of all parts of the run, but appends only to the files of one `part`.
    Without a part, a folder appends to the files of a run without parts.
    """

    def __init__(self, root: Path, part: RunPart | None = None) -> None:
        self.root = root
        self.part = part
        self._appending: dict[str, _Appending] = {}
        self.repairs: list[str] = []

    @classmethod
    def create(cls, root: Path) -> Folder:
        """Open the folder, and create it if it does not exist.

        Raises:
            StoreError: the folder cannot be created, or a file of that name exists.
        """
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise store_error(root, "be created", error) from error
        return cls(root)

    def lock(self) -> Lock:
        """A context manager that keeps other processes from writing. For a part of a run, only
        processes that write the same part or the whole run are kept from writing.

        Raises:
            StoreError: another process is writing this run.
        """
        return PartLock(self.root, self.part) if self.part else Lock(self.root / "lock")

    def scores_lock(self) -> Lock:
        """A context manager that keeps other processes from scoring the run or writing the whole
        run. Parts of the run may be written in the meantime.

        Raises:
            StoreError: another process is scoring or writing this run.
        """
        return ScoresLock(self.root)

    def append(self, name: str, line: bytes) -> int:
        """Append one line (passed without line break) to a file, and return the line's offset.

        Raises:
            StoreError: the line cannot be written. If a part of the line was written, that part has
                been removed.
        """
        file = self._appending.get(name)
        if file is None:
            file = self._appending[name] = _Appending(self.root / name, self.repairs.append)
        return file.append(line)

    def segment(self, stem: str) -> str:
        """The name of the file `stem*.jsonl` to which lines are appended now."""
        return f"{stem}.part-{self.part.number:05d}.jsonl" if self.part else f"{stem}.jsonl"

    def flush(self) -> None:
        """Wait until all appended lines are on the disk."""
        for file in list(self._appending.values()):
            file.sync()

    def close(self) -> None:
        for file in self._appending.values():
            file.sync()
            file.close()
        self._appending.clear()

    def segments(self, stem: str) -> list[str]:
        """The names of the files `stem*.jsonl` in order, such as `replies.jsonl`,
        `replies-2.jsonl`, `replies-10.jsonl`, `replies.part-00001.jsonl`."""
        names = (name for name in self.names() if (m := SEGMENT.fullmatch(name)) and m[1] == stem)
        return sorted(names, key=file_order)

    def records(
        self, stem: str, since: Mapping[str, int] = MappingProxyType({})
    ) -> Iterator[tuple[str, int, bytes]]:
        """Yield (file, offset, line) for every complete line of `stem*.jsonl`, in order. An
        incomplete last line is left out. For files in `since`, start at the given offset."""
        for name in self.segments(stem):
            try:
                with (self.root / name).open("rb", buffering=BLOCK) as file:
                    offset = file.seek(since.get(name, 0))
                    for line in file:
                        if line.endswith(b"\n"):
                            yield name, offset, line[:-1]
                        offset += len(line)
            except OSError as error:
                raise store_error(self.root / name, "be read", error) from error

    def reader(self, name: str) -> LineReader:
        """A reader for single lines of a file, given their offsets."""
        return LineReader(self.root / name)

    def put_atomic(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """Replace a file atomically: readers see either the old file or the complete new one."""
        path = self.root / name
        fresh = path.with_name(f".{name}.{os.getpid()}.new")
        chunks = iter([data] if isinstance(data, bytes) else data)
        chunk: bytes | None = b""
        try:
            with fresh.open("wb") as file:
                while chunk is not None:
                    file.write(chunk)
                    try:
                        chunk = next(chunks, None)
                    except OSError as error:
                        # The code that produces the bytes may read other files, so the error may
                        # not concern this file.
                        raise _Elsewhere(error) from error
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as error:
            raise store_error(path, "be written", error) from error
        except _Elsewhere as error:
            raise error.cause from None
        finally:
            fresh.unlink(missing_ok=True)

    def put_first(self, name: str, data: bytes) -> bool:
        """Create a file with this content. Returns False if the file exists. Of several processes
        that create the same file at once, one succeeds."""
        path = self.root / name
        fresh = path.with_name(f".{name}.{os.getpid()}.first")
        try:
            with fresh.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(fresh, path)
        except FileExistsError:
            return False
        except OSError as error:
            raise store_error(path, "be written", error) from error
        finally:
            fresh.unlink(missing_ok=True)
        return True

    def get(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist."""
        try:
            check_regular(self.root / name)
            return (self.root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error(self.root / name, "be read", error) from error

    def stamp(self, name: str) -> Stamp | None:
        """The version of the file that has this name now; None if there is no such file."""
        try:
            status = os.stat(self.root / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error(self.root / name, "be read", error) from error
        return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)

    def beginning(self, name: str, size: int) -> bytes:
        """The first bytes of a file."""
        try:
            with (self.root / name).open("rb", buffering=0) as file:
                return file.read(size)
        except OSError as error:
            raise store_error(self.root / name, "be read", error) from error

    def is_locked(self) -> bool | None:
        """Whether a process holds the lock, determined without acquiring it; None if the system
        does not show locks."""
        try:
            inode = os.stat(self.root / "lock").st_ino
            held = HELD.read_text()
        except FileNotFoundError as error:
            return None if error.filename == str(HELD) else False
        except OSError:
            return None
        if not held:  # no process holds a lock, or the system does not show locks
            return False if _shows_locks() else None
        return any(f":{inode} " in line for line in held.splitlines())

    @property
    def has_parts(self) -> bool:
        """Whether the folder has journal files of a part."""
        return any((match := SEGMENT.fullmatch(name)) and match[2] for name in self.names())

    def names(self) -> list[str]:
        """The names of the files in the folder."""
        try:
            return sorted(entry.name for entry in os.scandir(self.root) if entry.is_file())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise store_error(self.root, "be read", error) from error


@cache
def _shows_locks() -> bool:
    """Whether this system lists the locks that processes hold, tested by acquiring a new lock."""
    try:
        with TemporaryFile() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return f":{os.fstat(file.fileno()).st_ino} " in HELD.read_text()
    except OSError:
        return False


class LineReader:
    """Reads single lines of a file, each from the offset at which it starts.

    Lines are mostly read in the order of the file, so the bytes after a line are kept. Lines are
    only appended to such a file, so these bytes stay the same.
    """

    def __init__(self, path: Path) -> None:
        self._kept = b""
        self._start = 0
        try:
            self._fd = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise store_error(path, "be read", error) from error

    def line(self, offset: int) -> bytes:
        begin = offset - self._start
        in_order = 0 <= begin <= len(self._kept)
        if in_order and (end := self._kept.find(b"\n", begin)) >= 0:
            return self._kept[begin:end]
        size = AHEAD if in_order else 4096
        while True:
            block = os.pread(self._fd, size, offset)
            end = block.find(b"\n")
            if end >= 0 and size <= AHEAD:
                self._kept, self._start = block, offset
            if end >= 0:
                return block[:end]
            if len(block) < size:
                return block
            size *= 4

    def close(self) -> None:
        os.close(self._fd)


class _Appending:
    """A file to which lines are appended. `sync` may be called in another thread."""

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        self._path = path
        self._open = threading.Lock()
        self._closed = False
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._size = os.fstat(self._fd).st_size
            complete = size_of_complete_lines(self._fd, self._size)
            if complete < self._size:
                os.ftruncate(self._fd, complete)
                report(
                    f"{path.name}: an incomplete last line of {self._size - complete} bytes was "
                    "removed"
                )
                self._size = complete
        except OSError as error:
            raise store_error(path, "be opened", error) from error
        self._synced = self._size

    def append(self, line: bytes) -> int:
        offset = self._size
        rest = line + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            os.ftruncate(self._fd, offset)
            raise store_error(self._path, "be written", error) from error
        self._size = offset + len(line) + 1
        return offset

    def sync(self) -> None:
        with self._open:  # after a file is closed, its descriptor may belong to another file
            size = self._size
            if size != self._synced and not self._closed:
                try:
                    os.fsync(self._fd)
                except OSError as error:
                    raise store_error(self._path, "be flushed to the disk", error) from error
                self._synced = size

    def close(self) -> None:
        with self._open:
            self._closed = True
            os.close(self._fd)


def size_of_complete_lines(fd: int, size: int) -> int:
    """The size of a file up to the end of its last complete line."""
    end = size
    while end > 0:
        start = max(0, end - BLOCK)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
