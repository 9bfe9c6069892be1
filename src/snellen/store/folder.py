"""A folder of append-only files and small whole files, on a POSIX file system.

Each line is one `write`, so that a killed process loses no line that it had appended. `flush` runs
once a second, so that a power cut costs at most a second. A torn last line is reported and cut off
before the next append.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType, TracebackType
from typing import NamedTuple, Self

from snellen.errors import StoreError, check_regular
from snellen.store._mirror import Mirror

BLOCK = 1 << 20
NO_LOCKS = "The file system has no locks: choose another folder with --out."
HELD = Path("/proc/locks")
"""The file in which Linux lists held locks: `1: FLOCK ADVISORY WRITE 123 08:01:4711 0 EOF`."""
SEGMENT = re.compile(r"(\w+?)(?:\.part-(\d{5}))?(?:-(\d+))?\.jsonl")
"""A file of a journal: its stem, its part of the run, and its number."""


def file_order(name: str) -> tuple[int, int]:
    """The position of a file among those of its journal: by its part, then by its number."""
    match = SEGMENT.fullmatch(name)
    assert match is not None, name
    return int(match[2] or 0), int(match[3] or 0)


class Stamp(NamedTuple):
    """The version of a file. It changes when the file is replaced or changed."""

    inode: int
    """The inode number of the file."""
    size: int
    """Its size in bytes."""
    changed: int
    """The time of the last change, in nanoseconds."""


class _Elsewhere(Exception):
    """Wraps an OSError that is not about the file being written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Folder:
    """One run's files. Opening it for reading changes nothing.

    It reads the files of all parts of the run. It appends to the files of one `part`, numbered from
    1, or with 0 to the files of a run without parts.
    """

    def __init__(self, root: Path, part: int = 0) -> None:
        self.root = root
        self.part = part
        self._appending: dict[str, _Appending] = {}
        self.repairs: list[str] = []

    @classmethod
    def create(cls, root: Path) -> Folder:
        """The folder, created if it does not exist.

        Raises:
            StoreError: it cannot be created, or a file of that name exists.
        """
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise store_error(root, "be made", error) from error
        return cls(root)

    def lock(self) -> Lock:
        """Excludes every other process while this context manager is open. For a part, it excludes
        every other process that writes this part or the whole run.

        Raises:
            StoreError: another process is writing here.
        """
        return PartLock(self.root, self.part) if self.part else Lock(self.root / "lock")

    def append(self, name: str, line: bytes) -> int:
        """Append one line (without its line end) to a file, and return its offset.

        Raises:
            StoreError: it cannot be written. A part that was written has been cut off again.
        """
        file = self._appending.get(name)
        if file is None:
            file = self._appending[name] = _Appending(self.root / name, self.repairs.append)
        return file.append(line)

    def segment(self, stem: str) -> str:
        """The file among `stem*.jsonl` to which lines are now appended."""
        return f"{stem}.part-{self.part:05d}.jsonl" if self.part else f"{stem}.jsonl"

    def flush(self) -> None:
        """Wait until everything appended is on the disk."""
        for file in list(self._appending.values()):
            file.sync()

    def close(self) -> None:
        for file in self._appending.values():
            file.sync()
            file.close()
        self._appending.clear()

    def segments(self, stem: str) -> list[str]:
        """The files `stem*.jsonl` in order: `replies.jsonl`, `replies-2.jsonl`,
        `replies-10.jsonl`, `replies.part-00001.jsonl`."""
        names = (name for name in self.names() if (m := SEGMENT.fullmatch(name)) and m[1] == stem)
        return sorted(names, key=file_order)

    def records(
        self, stem: str, since: Mapping[str, int] = MappingProxyType({})
    ) -> Iterator[tuple[str, int, bytes]]:
        """(file, offset, line) of every complete line of `stem*.jsonl`, in order. A torn last line
        is left out. For files that `since` names, only the lines from that offset on."""
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
        """Reads single lines of a file by their offset."""
        return LineReader(self.root / name)

    def put_atomic(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """Replace a file atomically: readers see the old one or the new one, never a part."""
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
                        # The producer of the bytes can read other files. This file is not at fault.
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
        """The version of the file that now has a name; None if there is none."""
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
        """Whether a process holds the lock, found without taking it; None if the system does not
        tell."""
        try:
            inode = os.stat(self.root / "lock").st_ino
            held = HELD.read_text()
        except FileNotFoundError as error:
            return None if error.filename == str(HELD) else False
        except OSError:
            return None
        if not held:  # nobody holds a lock, or the system keeps locks to itself
            return False if _shows_locks() else None
        return any(f":{inode} " in line for line in held.splitlines())

    @property
    def has_parts(self) -> bool:
        """Whether there are files of parts of the run."""
        return any((match := SEGMENT.fullmatch(name)) and match[2] for name in self.names())

    def names(self) -> list[str]:
        """The files of the folder."""
        try:
            return sorted(entry.name for entry in os.scandir(self.root) if entry.is_file())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise store_error(self.root, "be read", error) from error


@cache
def _shows_locks() -> bool:
    """Whether this system lists the locks that are held, tested with a lock of our own."""
    try:
        with TemporaryFile() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return f":{os.fstat(file.fileno()).st_ino} " in HELD.read_text()
    except OSError:
        return False


class Lock:
    """An advisory lock that the system releases when its process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def __enter__(self) -> Self:
        self._fd = _locked(self._path, fcntl.LOCK_EX, "this run")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class PartLock(Lock):
    """The lock of one part of a run. All parts share the lock of the run itself."""

    def __init__(self, root: Path, part: int) -> None:
        super().__init__(root / f"lock.part-{part:05d}")
        self._run = root / "lock"
        self._part = part
        self._run_fd: int | None = None

    def __enter__(self) -> Self:
        run = _locked(self._run, fcntl.LOCK_SH, "this run")
        try:
            self._fd = _locked(self._path, fcntl.LOCK_EX, f"part {self._part} of this run")
        except StoreError:
            os.close(run)
            raise
        self._run_fd = run
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._run_fd is not None:
            os.close(self._run_fd)
            self._run_fd = None


def _locked(path: Path, operation: int, what: str) -> int:
    """A file that is open and locked, with the name of this process in it.

    Raises:
        StoreError: another process holds the lock, or there are no locks here.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(path, "be opened", error) from error
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "another process"
        os.close(fd)
        raise StoreError(
            f"{path.parent}: {holder} is writing {what}. Wait for it, or stop it, and start again."
        ) from error
    except OSError as error:
        os.close(fd)
        raise store_error(path, "be locked", error) from error
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return fd


class LineReader:
    """Reads the line that starts at an offset."""

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise store_error(path, "be read", error) from error

    def line(self, offset: int) -> bytes:
        size = 4096
        while True:
            block = os.pread(self._fd, size, offset)
            end = block.find(b"\n")
            if end >= 0:
                return block[:end]
            if len(block) < size:
                return block
            size *= 4

    def close(self) -> None:
        os.close(self._fd)


class _Appending:
    """One file that lines are appended to. `sync` may be called in another thread."""

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
                    f"{path.name}: a torn last line of {self._size - complete} bytes was cut off"
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
        with self._open:  # by then, the number of a closed file may belong to another file
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


def exclusive(fd: int, path: Path) -> None:
    """Wait until this process has the lock of an open file."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as error:
        raise store_error(path, "be locked", error) from error


def size_of_complete_lines(fd: int, size: int) -> int:
    """The size of a file up to the end of its last whole line."""
    end = size
    while end > 0:
        start = max(0, end - BLOCK)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def store_error(path: Path, what: str, error: OSError) -> StoreError:
    remedy = {
        errno.ENOSPC: "The disk is full: make room and start the same command again; nothing "
        "stored is lost.",
        errno.EDQUOT: "The disk quota is used up: make room and start the same command again; "
        "nothing stored is lost.",
        errno.EFBIG: "The file may not grow further (a limit of the system): lift it and "
        "start the same command again.",
        errno.EROFS: "The file system is read-only: choose another folder with --out.",
        errno.EMFILE: "Each request under way is one: raise the limit (`ulimit -Hn`), or ask "
        "fewer at once with --concurrency, and start the same command again; nothing stored is "
        "lost.",
        errno.ENOLCK: NO_LOCKS,
        errno.ENOSYS: NO_LOCKS,
        errno.EACCES: "You may not write there: choose another folder with --out, or fix its "
        "permissions.",
    }.get(error.errno or 0, "")
    where = os.fspath(path)  # for a mirror, the local file, which is the one to fix
    if isinstance(path, Mirror):
        remedy = remedy.replace("folder with --out", "folder for mirrors with SNELLEN_MIRROR")
    return StoreError(f"{where} cannot {what}: {error.strerror}. {remedy}".rstrip())
