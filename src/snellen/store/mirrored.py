"""Runs on an object store. Each run has a mirror on this machine. The mirror's files are read and
written like the files of a local run. Everything that is written is also uploaded, so that other
machines can download it.

Objects cannot be appended to. The journal is therefore split into segments, and the newest segment
is uploaded again in full while it grows. Readers see either the old or the new state of this
segment.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from snellen.errors import StoreError
from snellen.store._faults import store_error
from snellen.store._mirror import Mirror, is_name
from snellen.store.folder import BLOCK, Folder, file_order, size_of_complete_lines
from snellen.store.locks import RunPart, exclusive, free_lock, part_lock_name
from snellen.store.remote import Object, Remote, in_parallel, say
from snellen.store.remote_lock import RUN_LOCK, RemoteLock

SEGMENT = 4 << 20
"""When a segment has at least this many bytes, a new segment is started."""
PUTS = 32
"""The number of uploads of a segment after which a new segment is started. This limits the total
size of all uploads to (PUTS + 1) / 2 times the size of the journal."""
PER_LOCK = 1_000_000
"""The segments of the n-th holder of a run's lock have numbers from n * PER_LOCK + 1."""
KNOWN = ".remote.json"
"""The file in a mirror that records the state of the store at the last check."""
MUTEX = ".remote.lock"
JOURNAL = re.compile(r"(?:questions|replies|events)(?:\.part-\d{5})?(?:-(\d{1,15}))?\.jsonl")
REPLACED = re.compile(
    r"manifest(?:\.part-\d{5})?\.json|(?:report|steering)\.json|report\.md|(?:scores|labels)\.jsonl"
)
DEEPEST = 16
"""The maximum depth of folders below an address. Files in deeper folders do not belong to a run."""


class _Copy(msgspec.Struct):
    """A file that exists in the mirror and in the store. `stamp` is the version of the object; None
    if the object has not been listed since its upload. `changed` is the time at which the file last
    changed. It is used only for files that are replaced as a whole."""

    size: int
    stamp: str | None = None
    changed: int | None = None


class _Known(msgspec.Struct):
    """The state of a run's objects at the last check, which is stored in the mirror. `token`
    identifies the process that held the run's lock last, and `tokens` the processes that held other
    locks last, keyed by the stem of the lock's objects."""

    copies: dict[str, _Copy] = {}
    token: str | None = None
    tokens: dict[str, str] = {}

    def token_of(self, stem: str) -> str | None:
        return self.token if stem == RUN_LOCK else self.tokens.get(stem)


_writing: dict[Path, RemoteFolder] = {}
"""The folders whose locks this process holds."""


def pull(path: Path, *, only: str | None = None) -> None:
    """Update the mirror of a run or of a folder of runs from the store. With `only`, update only
    the file of this name in each run. Do nothing for a path that is not a mirror.

    Files that do not belong to a run are skipped. A run that a process on this machine is writing
    is left unchanged, since its mirror is newer than the store.

    Raises:
        StoreError: the store cannot be read, or the mirror cannot be written.
    """
    if not isinstance(path, Mirror) or (url := path.url) is None:
        return
    remote = Remote(url)
    objects_by_folder: dict[str, dict[str, Object]] = {"": {}}
    for entry in remote.list():
        *folders, name = entry.name.split("/")
        if _is_ours(name) and len(folders) <= DEEPEST and all(map(is_name, folders)):
            objects_by_folder.setdefault("/".join(folders), {})[name] = entry
    for folder in _mirrored(path):
        objects_by_folder.setdefault(folder, {})
    for folder, objects in objects_by_folder.items():
        _pull_run(path / folder, objects, only)


def _is_ours(name: str) -> bool:
    return bool(JOURNAL.fullmatch(name) or REPLACED.fullmatch(name))


def _mirrored(path: Path) -> Iterator[str]:
    """Yield the folders below a path that mirror runs."""
    for known in path.rglob(KNOWN):
        yield "" if known.parent == path else known.parent.relative_to(path).as_posix()


def _pull_run(path: Mirror, objects: Mapping[str, Object], only: str | None) -> None:
    if not objects and not (path / KNOWN).exists():
        return
    folder = RemoteFolder(path)
    with folder.mutex():
        if not _is_locked(path):
            folder.fetch(objects, only)


def _is_locked(path: Path) -> bool:
    """Whether a process on this machine holds a run's lock. Call this function while holding the
    run's mutex."""
    try:
        fd = os.open(path / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise store_error(path / "lock", "be opened", error) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise store_error(path / "lock", "be locked", error) from error
    finally:
        os.close(fd)
    return False


class RemoteFolder(Folder):
    """The mirrored files of one run on an object store.

    While the lock is held, everything that is written is uploaded in the background. Without the
    lock, a file is uploaded as soon as it is replaced.
    """

    def __init__(self, root: Mirror, part: RunPart | None = None) -> None:
        super().__init__(root, part)
        assert root.url is not None
        self.url = root.url
        self._at: Remote | None = None
        self._number: int | None = None
        self._growing: dict[str, _Segment] = {}
        self._unsent: list[_Segment] = []
        # Set if another process has taken over the lock. `flush` raises this error.
        self.lost: StoreError | None = None
        self.token = os.urandom(16).hex()

    @property
    def remote(self) -> Remote:
        if self._at is None:
            self._at = Remote(self.url)
        return self._at

    # -- as a folder

    def lock(self) -> RemoteLock:
        """A context manager that keeps all other processes, on this machine and elsewhere, from
        writing the run. When the context is entered, the mirror and the store are made equal. When
        it is left, everything that was written is uploaded.

        Raises:
            StoreError: another process is writing the run, or the store cannot be reached.
        """
        return RemoteLock(self, super().lock(), self.part)

    def scores_lock(self) -> RemoteLock:
        return RemoteLock(self, super().scores_lock(), scores=True)

    def segment(self, stem: str) -> str:
        assert self._number is not None, "lines are appended under the lock"
        segment = self._growing.get(stem)
        if segment is None or segment.is_full(self.root):
            position = 1 if segment is None else segment.position + 1
            if segment is not None and (file := self._appending.pop(segment.name, None)):
                file.sync()
                file.close()
            start = stem if self.part is None else f"{stem}.part-{self.part.number:05d}"
            segment = _Segment(
                stem, f"{start}-{self._number * PER_LOCK + position}.jsonl", position
            )
            self._growing[stem] = segment
            self._unsent.append(segment)
        return segment.name

    def flush(self) -> None:
        super().flush()
        if self.lost is not None:
            raise self.lost

    def put_atomic(self, name: str, data: bytes | Iterable[bytes]) -> None:
        super().put_atomic(name, data)
        if self.root not in _writing:  # otherwise, the holder of the lock uploads it
            with self.mutex():
                self.send([name])

    def put_first(self, name: str, data: bytes) -> bool:
        with self.mutex():
            if self.remote.create(name, data):
                super().put_atomic(name, data)
                self._note(name, self._replaced_copy(name))
                return True
            self.fetch(self.objects(), only=name)
            return False

    def is_locked(self) -> bool | None:
        return super().is_locked() or None  # writers on other machines cannot be seen from here

    # -- what is where

    @contextmanager
    def mutex(self) -> Iterator[None]:
        """A lock that lets only one process at a time update a mirror from the store."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.root / MUTEX, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise store_error(self.root / MUTEX, "be opened", error) from error
        try:
            exclusive(fd, self.root / MUTEX)
            yield
        finally:
            os.close(fd)

    def known(self) -> _Known:
        raw = self.get(KNOWN)
        try:
            return _Known() if raw is None else msgspec.json.decode(raw, type=_Known)
        except msgspec.DecodeError:
            return _Known()  # all files are downloaded and compared again

    def _keep(self, known: _Known) -> None:
        super().put_atomic(KNOWN, msgspec.json.encode(known))

    def objects(self) -> dict[str, Object]:
        """The objects of this run, keyed by name, without the objects of runs in its subfolders."""
        return {entry.name: entry for entry in self.remote.list() if "/" not in entry.name}

    def fetch(self, objects: Mapping[str, Object], only: str | None = None) -> None:
        """Make the mirror equal to the store, except for lines that were never uploaded."""
        known = self.known()
        before = msgspec.json.encode(known)
        wanted = [
            partial(self._fetch_object, name, entry, known)
            for name, entry in objects.items()
            if _is_ours(name) and only in (None, name)
        ]
        in_parallel(wanted)
        gone = [name for name in known.copies if name not in objects] if only is None else []
        if gone:  # files that were uploaded after `objects` was listed are not gone
            objects = self.objects()
        for name in gone:
            if name not in objects and self._is_copy(name, known.copies.pop(name)):
                (self.root / name).unlink(missing_ok=True)
        if msgspec.json.encode(known) != before:
            self._keep(known)

    def _fetch_object(self, name: str, entry: Object, known: _Known) -> None:
        path = self.root / name
        copy = known.copies.get(name)
        if copy is not None and path.exists():
            same = copy.stamp == entry.stamp and entry.stamp is not None
            # Only this process writes to its segments, so an object of this size is the one that
            # was uploaded.
            if same or (copy.stamp is None and copy.size == entry.size and JOURNAL.fullmatch(name)):
                copy.stamp = entry.stamp
                return
        fresh = path.with_name(f".{name}.{os.getpid()}.{threading.get_ident()}.new")
        try:
            if not self.remote.get_file(name, fresh):
                return
            size = fresh.stat().st_size  # the object may have grown since it was listed
            if not (JOURNAL.fullmatch(name) and path.exists() and _grown(path, fresh)):
                if JOURNAL.fullmatch(name) and not (copy and self._is_copy(name, copy)):
                    self._set_aside(path)
                fresh.replace(path)
        except OSError as error:
            raise store_error(path, "be written", error) from error
        finally:
            fresh.unlink(missing_ok=True)
        known.copies[name] = _Copy(size, entry.stamp, path.stat().st_mtime_ns)

    def _set_aside(self, path: Path) -> None:
        """Rename a segment that was uploaded only in part, since another object in the store now
        has its name."""
        if not path.exists():
            return
        kept = path.with_name(f"{path.name}.{time.time_ns()}.kept")
        path.rename(kept)
        say(
            f"{path} has different lines than its mirror, for example because the run was removed "
            f"and started again elsewhere. The lines of the mirror are kept in {os.fspath(kept)}."
        )

    def _is_copy(self, name: str, copy: _Copy) -> bool:
        """Whether the store had the complete file at the last check."""
        try:
            status = os.stat(self.root / name)
        except FileNotFoundError:
            return True
        if JOURNAL.fullmatch(name):
            return status.st_size <= copy.size
        return status.st_mtime_ns == copy.changed

    def _changed(self) -> list[str]:
        """The files of the mirror that are newer than their objects in the store. The manifest is
        last in the list, since a run is visible only if its manifest is in the store."""
        copies = self.known().copies
        names = [name for name in self.names() if _is_ours(name)]
        names.sort(key=lambda name: (not JOURNAL.fullmatch(name), name == "manifest.json", name))
        return [
            name for name in names if not ((copy := copies.get(name)) and self._is_copy(name, copy))
        ]

    def send(self, names: Iterable[str]) -> None:
        """Upload files of the mirror.

        Raises:
            StoreError: a file cannot be uploaded. Earlier files in `names` have been uploaded, and
                later ones have not.
        """
        for name in names:
            self._note(name, self._send_object(name))

    def send_while_locked(self, name: str) -> _Copy:
        """Upload a file of the mirror. Other processes may write other parts of the run."""
        copy = self._send_object(name)
        with self.mutex():
            self._note(name, copy)
        return copy

    def _note(self, name: str, copy: _Copy) -> None:
        """Record what the store has of a file. The mirror must not be updated in the meantime."""
        known = self.known()  # read again, since the upload may take long
        known.copies[name] = copy
        self._keep(known)

    def _send_object(self, name: str) -> _Copy:
        path = self.root / name
        try:
            status = path.stat()
            if REPLACED.fullmatch(name):
                self.remote.put_file(name, path)
                return self._replaced_copy(name, status)
            with path.open("rb") as file:
                # so that the store is never ahead of the disk after a power failure
                os.fsync(file.fileno())
                size = size_of_complete_lines(file.fileno(), status.st_size)
                if size <= BLOCK * 16:
                    self.remote.put(name, file.read(size))
                    return _Copy(size)
            # A large file: the run was made on this machine and copied into the mirror.
            self.remote.put_file(name, path)
            return _Copy(status.st_size)
        except OSError as error:
            raise store_error(path, "be read", error) from error

    def _replaced_copy(self, name: str, status: os.stat_result | None = None) -> _Copy:
        status = status or (self.root / name).stat()
        return _Copy(status.st_size, self.remote.stamp(name), status.st_mtime_ns)

    # -- under the lock

    def last_writer(self, names: Iterable[str]) -> int:
        """The number of the last lock under which any of these segments was written by this part of
        the run; 0 if there are no such segments."""
        number = 0 if self.part is None else self.part.number
        matches = (JOURNAL.fullmatch(name) for name in names if _part_of(name) == number)
        return max((int(match[1] or 0) // PER_LOCK for match in matches if match), default=0)

    def claim(self, stem: str) -> None:
        """Record this process as the owner of a lock before acquiring the lock, so that the next
        process on this machine can identify the owner."""
        with self.mutex():
            known = self.known()
            if stem == RUN_LOCK:
                known.token = self.token
            else:
                known.tokens[stem] = self.token
            self._keep(known)

    def begin(self, number: int) -> None:
        """Make the mirror and the store equal, and start new segments for this holder of the
        lock."""
        pull(self.root)  # for judges' runs in its subfolders; this run is locked
        with self.mutex():
            self.fetch(self.objects())
            self._send_changed()
        self._number = number
        _writing[self.root] = self

    def _send_changed(self) -> None:
        """Upload what earlier processes on this machine could not upload. The segments of parts
        that other processes are writing are left to these processes."""
        for name in self._changed():
            with ExitStack() as stack:
                if (
                    JOURNAL.fullmatch(name)
                    and (number := _part_of(name))
                    and (self.part is None or self.part.number != number)
                    and not stack.enter_context(free_lock(self.root / part_lock_name(number)))
                ):
                    continue
                self.send([name])

    def send_grown(self) -> None:
        """Upload the segments that have grown since their last upload."""
        for segment in [*self._unsent]:
            size = segment.size(self.root)
            if size > segment.sent:
                segment.sent = self.send_while_locked(segment.name).size
                segment.puts += 1
            if self._growing[segment.stem] is not segment and segment.sent == segment.size(
                self.root
            ):
                self._unsent.remove(segment)

    def replaced(self) -> list[str]:
        """The files that were replaced since their last upload."""
        return [name for name in self._changed() if REPLACED.fullmatch(name)]

    def end(self) -> None:
        _writing.pop(self.root, None)
        self._number = None
        self._growing.clear()
        self._unsent.clear()


class _Segment:
    """A segment of a journal. Lines are appended only to the newest segment with the same stem."""

    def __init__(self, stem: str, name: str, position: int) -> None:
        self.stem = stem
        self.name = name
        self.position = position
        self.sent = 0
        self.puts = 0

    def size(self, root: Path) -> int:
        try:
            return os.stat(root / self.name).st_size
        except FileNotFoundError:
            return 0

    def is_full(self, root: Path) -> bool:
        return self.puts >= PUTS or self.size(root) >= SEGMENT


def _part_of(name: str) -> int:
    """The number of the part to which a journal file belongs; 0 for a run without parts."""
    return file_order(name)[0] if JOURNAL.fullmatch(name) else 0


def _grown(path: Path, fresh: Path) -> bool:
    """Whether one of two files begins with the contents of the other. If so, extend the first file
    to the contents of the longer file."""
    with path.open("rb") as here, fresh.open("rb") as there:
        while True:
            mine, theirs = here.read(BLOCK), there.read(BLOCK)
            both = min(len(mine), len(theirs))
            if mine[:both] != theirs[:both]:
                return False
            if len(mine) > both or not theirs:
                return True
            if len(theirs) > both:
                break
        with path.open("ab", buffering=0) as file:
            rest = theirs[both:]
            while rest:  # a disk that becomes full may accept only a part
                rest = rest[file.write(rest) :] or there.read(BLOCK)
            os.fsync(file.fileno())
    return True
