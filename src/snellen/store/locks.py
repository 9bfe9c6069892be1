"""The locks of a run on a POSIX file system: of the whole run, of a part of it, and of its scores.

The system releases these locks when the process that holds them ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from snellen.errors import StoreError
from snellen.store._faults import store_error

SHARING = ".drivers.lock"
"""The lock file in a folder of runs by which machines check that they share the folder."""


class HeldError(StoreError):
    """Another process holds a lock."""


class Lock:
    """An advisory lock, which the system releases when the process ends."""

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


class RunPart(msgspec.Struct, frozen=True):
    """One of the parts into which the questions of a run are divided."""

    number: int
    """The number of the part, from 1."""
    total: int
    """The number of all parts."""

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


class SharedLock(Lock):
    """A lock of something inside a run. A process that holds it also holds the run's own lock,
    which all such processes share, so that no process can lock the whole run in the meantime."""

    def __init__(self, root: Path, name: str, what: str) -> None:
        super().__init__(root / name)
        self._root = root
        self._what = what
        self._shared: list[int] = []

    def __enter__(self) -> Self:
        try:
            self._share()
            self._fd = _locked(self._path, fcntl.LOCK_EX, self._what)
        except StoreError:
            self._leave()
            raise
        return self

    def _share(self) -> None:
        self._shared.append(_locked(self._root / "lock", fcntl.LOCK_SH, "this run"))

    def _leave(self) -> None:
        while self._shared:
            os.close(self._shared.pop())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._leave()


class ScoresLock(SharedLock):
    """The lock of a run's scores and report. A run can be scored while its parts are written."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "lock.scores", "the scores of this run")


class PartLock(SharedLock):
    """The lock of one part of a run.

    All parts that are written at the same time must belong to the same division of the run, since
    two divisions put the same question into different parts. A process therefore shares the lock
    of its number of parts, and checks that nobody holds the lock of another number.
    """

    def __init__(self, root: Path, part: RunPart) -> None:
        super().__init__(root, part_lock_name(part.number), f"part {part.number} of this run")
        self._part = part

    def _share(self) -> None:
        super()._share()
        with waiting_lock(self._root / "lock.parts"):
            self._share_count(self._part.total)

    def _share_count(self, count: int) -> None:
        own = self._root / f"lock.of-{count:05d}"
        self._shared.append(_locked(own, fcntl.LOCK_SH, f"a part of {count}"))
        for path in self._root.glob("lock.of-*"):
            with free_lock(path) as is_free:
                if path == own or is_free:
                    continue
                other = int(path.name.rpartition("-")[2])
                raise HeldError(
                    f"{self._root}: processes that divide this run into {other} parts are writing "
                    f"it, and this process divides it into {count}. Use --part I/{other} (or "
                    f"--drivers {other}), or wait until they end."
                )


def part_lock_name(number: int) -> str:
    """The name of the lock file of a part; 0 means the whole run."""
    return f"lock.part-{number:05d}" if number else "lock"


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(path, "be opened", error) from error


@contextmanager
def waiting_lock(path: Path) -> Iterator[None]:
    """A lock that is held for a moment. A process that needs it waits for it."""
    fd = _open(path)
    try:
        exclusive(fd, path)
        yield
    finally:
        os.close(fd)


@contextmanager
def free_lock(path: Path) -> Iterator[bool]:
    """Hold a lock if no process holds it. Gives False if a process on this machine holds it."""
    fd = _open(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except BlockingIOError:
        is_free = False
    except OSError as error:
        os.close(fd)
        raise store_error(path, "be locked", error) from error
    try:
        yield is_free
    finally:
        os.close(fd)


@contextmanager
def sharing_lock(out: Path) -> Iterator[Path]:
    """Hold a lock in the folder of runs, by which other machines can see that they have the same
    folder. Gives the path of the lock file.

    Raises:
        StoreError: the folder cannot be written, or does not support locks.
    """
    path = out / SHARING
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(out, "be created", error) from error
    fd = _locked(path, fcntl.LOCK_SH, "the runs")
    try:
        yield path
    finally:
        os.close(fd)


def check_shared(path: Path) -> None:
    """Check that this machine sees a lock that a process on another machine holds
    (`sharing_lock`).

    Raises:
        StoreError: it does not.
    """
    if path.exists():
        with free_lock(path) as is_free:
            if not is_free:
                return
    raise StoreError(
        f"{path.parent} is not the same folder there as on the machine that started the run, or "
        "its file system does not lock files across machines. Use a folder that all nodes share, "
        "or an object store."
    )


def _locked(path: Path, operation: int, what: str) -> int:
    """Open and lock a file, and write the name of this process into it. Returns the file
    descriptor.

    Raises:
        StoreError: another process holds the lock, or the file system does not support locks.
    """
    fd = _open(path)
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "another process"
        os.close(fd)
        raise HeldError(
            f"{path.parent}: {holder} is writing {what}. Wait until it ends, or stop it, and start "
            "again."
        ) from error
    except OSError as error:
        os.close(fd)
        raise store_error(path, "be locked", error) from error
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return fd


def exclusive(fd: int, path: Path) -> None:
    """Wait until this process has the exclusive lock of an open file."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as error:
        raise store_error(path, "be locked", error) from error
