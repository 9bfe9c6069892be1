"""Runs on an object store: each has a mirror on this machine, where its files are read and written
as any run's; what is written goes to the store beside that, and is fetched from there by others.

An object cannot grow. So the journal is cut into segments, and the newest is put again, whole,
while it grows: readers see it as it was or as it is.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from snellen.errors import StoreError
from snellen.store._mirror import Mirror, is_name
from snellen.store._posix import BLOCK, Folder, Lock, exclusive, store_error, whole_lines
from snellen.store._remote import Object, Remote, in_parallel

EVERY = 5.0
"""Seconds between two uploads of what has grown."""
SEGMENT = 4 << 20
"""Bytes from which a segment is followed by another."""
PUTS = 32
"""So often a segment is put before it is followed by another: the bytes that are sent are at most
(PUTS + 1) / 2 times those of the journal."""
RENEWED = 15.0
"""Seconds after which a holder renews its lock."""
LEASE = 60.0
"""Seconds without a renewal, by the clock of the one who waits, after which a lock is free."""
LOOKS = 12
"""How often a lock is looked at while a lease passes."""
AT_THE_END = 4
"""How often what is left is sent at the end of a run, with ever longer pauses, before it is left to
the next."""
PER_LOCK = 1_000_000
"""The segments of the n-th holder of a run's lock are numbered from n times this on."""
LONGEST_SAID = 2_000
"""Characters of a line about the store."""
KNOWN = ".remote.json"
"""What the store had when it was last looked at, beside the files that mirror it."""
MUTEX = ".remote.lock"
JOURNAL = re.compile(r"(?:questions|replies|events)(?:-(\d{1,15}))?\.jsonl")
WHOLE = re.compile(r"(?:manifest|report|steering)\.json|report\.md|(?:scores|labels)\.jsonl")
LOCKS = re.compile(r"lock-(\d{1,9})\.json")
DEEPEST = 16
"""Folders below a place that is listed; what lies deeper is no run's."""


class _Copy(msgspec.Struct):
    """A file that both have: what the object was (None: not seen since it was put), and what the
    file was, by its size and, of files that are replaced, its time."""

    size: int
    stamp: str | None = None
    changed: int | None = None


class _Known(msgspec.Struct):
    """What a mirror knows of its run's objects; `token` is that of the lock that was held last."""

    copies: dict[str, _Copy] = {}
    token: str | None = None


class _Held(msgspec.Struct):
    """A lock's object: whose it is, and how often it was renewed."""

    by: str
    token: str
    renewed: int = 0
    released: bool = False


_writing: dict[Path, RemoteFolder] = {}
"""The folders that this process holds the lock of."""


def pull(path: Path, *, only: str | None = None) -> None:
    """Bring a mirror up to date with what lies below its address: a run, or a folder of runs.
    `only` one file of each. Of a path that mirrors nothing there is nothing to do.

    What is no run's file is passed over. A run that a process on this machine is writing is left as
    it is: there the mirror is ahead of the store.

    Raises:
        StoreError: the store cannot be read, or the mirror not be written.
    """
    if not isinstance(path, Mirror) or (url := path.url) is None:
        return
    remote = Remote(url)
    found: dict[str, dict[str, Object]] = {"": {}}
    for one in remote.list():
        *folders, name = one.name.split("/")
        if _is_ours(name) and len(folders) <= DEEPEST and all(map(is_name, folders)):
            found.setdefault("/".join(folders), {})[name] = one
    for folder in _mirrored(path):
        found.setdefault(folder, {})
    for folder, objects in found.items():
        _pull_run(path / folder, objects, only)


def _is_ours(name: str) -> bool:
    return bool(JOURNAL.fullmatch(name) or WHOLE.fullmatch(name))


def _mirrored(path: Path) -> Iterator[str]:
    """The folders below a path that mirror runs."""
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
    """Whether a process on this machine holds a run's lock; asked under its mutex."""
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
    """The files of one run that lies on an object store, in its mirror.

    What is written goes to the store beside it while the lock is held; a whole file without the
    lock at once.
    """

    def __init__(self, root: Mirror) -> None:
        super().__init__(root)
        assert root.url is not None
        self.url = root.url
        self._at: Remote | None = None
        self._number: int | None = None
        self._growing: dict[str, _Segment] = {}
        self._unsent: list[_Segment] = []
        self.lost: StoreError | None = None  # set when the lock is another's: `flush` says it
        self.token = os.urandom(16).hex()

    @property
    def remote(self) -> Remote:
        if self._at is None:
            self._at = Remote(self.url)
        return self._at

    # -- as a folder

    def lock(self) -> RemoteLock:
        """Keeps every other process out, here and elsewhere; on entering the mirror and the store
        are made alike, on leaving what was written is on the store.

        Raises:
            StoreError: another process is writing here, or the store cannot be reached.
        """
        return RemoteLock(self)

    def segment(self, stem: str) -> str:
        assert self._number is not None, "lines are appended under the lock"
        segment = self._growing.get(stem)
        if segment is None or segment.is_full(self.root):
            place = 1 if segment is None else segment.place + 1
            if segment is not None and (file := self._appending.pop(segment.name, None)):
                file.sync()
                file.close()
            segment = _Segment(stem, self._number, place)
            self._growing[stem] = segment
            self._unsent.append(segment)
        return segment.name

    def flush(self) -> None:
        super().flush()
        if self.lost is not None:
            raise self.lost

    def put_atomic(self, name: str, data: bytes | Iterable[bytes]) -> None:
        super().put_atomic(name, data)
        if self.root not in _writing:  # else its holder sends it
            with self.mutex():
                self.send([name])

    def is_locked(self) -> bool | None:
        return super().is_locked() or None  # who writes on another machine is not seen from here

    # -- what lies where

    @contextmanager
    def mutex(self) -> Iterator[None]:
        """One process at a time changes a mirror to be as its run on the store."""
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
            return _Known()  # all is fetched and compared again

    def _keep(self, known: _Known) -> None:
        super().put_atomic(KNOWN, msgspec.json.encode(known))

    def objects(self) -> dict[str, Object]:
        """The objects of this run alone, not those of runs below it."""
        return {one.name: one for one in self.remote.list() if "/" not in one.name}

    def fetch(self, objects: Mapping[str, Object], only: str | None = None) -> None:
        """Make the mirror as the store is, but for lines that never reached the store."""
        known = self.known()
        before = msgspec.json.encode(known)
        wanted = [
            partial(self._fetch_one, name, one, known)
            for name, one in objects.items()
            if _is_ours(name) and only in (None, name)
        ]
        in_parallel(wanted)
        gone = [name for name in known.copies if name not in objects] if only is None else []
        if gone:  # what was sent since these were listed is not
            objects = self.objects()
        for name in gone:
            if name not in objects and self._is_copy(name, known.copies.pop(name)):
                (self.root / name).unlink(missing_ok=True)
        if msgspec.json.encode(known) != before:
            self._keep(known)

    def _fetch_one(self, name: str, one: Object, known: _Known) -> None:
        path = self.root / name
        copy = known.copies.get(name)
        if copy is not None and path.exists():
            same = copy.stamp == one.stamp and one.stamp is not None
            # Nobody else writes to a segment of ours: of that length it is as we sent it.
            if same or (copy.stamp is None and copy.size == one.size and JOURNAL.fullmatch(name)):
                copy.stamp = one.stamp
                return
        fresh = path.with_name(f".{name}.{os.getpid()}.{threading.get_ident()}.new")
        try:
            if not self.remote.get_file(name, fresh):
                return
            size = fresh.stat().st_size  # it may have grown since it was listed
            if not (JOURNAL.fullmatch(name) and path.exists() and _grown(path, fresh)):
                if JOURNAL.fullmatch(name) and not (copy and self._is_copy(name, copy)):
                    self._set_aside(path)
                fresh.replace(path)
        except OSError as error:
            raise store_error(path, "be written", error) from error
        finally:
            fresh.unlink(missing_ok=True)
        known.copies[name] = _Copy(size, one.stamp, path.stat().st_mtime_ns)

    def _set_aside(self, path: Path) -> None:
        """Keep a segment of which the store had not all, and has another of that name now."""
        if not path.exists():
            return
        kept = path.with_name(f"{path.name}.{time.time_ns()}.kept")
        path.rename(kept)
        _say(
            f"{path} has other lines than here, as where a run was removed and begun anew "
            f"elsewhere. What was here, and had not reached it, is kept in {os.fspath(kept)}."
        )

    def _is_copy(self, name: str, copy: _Copy) -> bool:
        """Whether the store had all that a file has when it was last looked at."""
        try:
            status = os.stat(self.root / name)
        except FileNotFoundError:
            return True
        if JOURNAL.fullmatch(name):
            return status.st_size <= copy.size
        return status.st_mtime_ns == copy.changed

    def _changed(self) -> list[str]:
        """The files of the mirror that have more than the store had; the manifest last, since with
        it a run is there."""
        copies = self.known().copies
        names = [one for one in self.names() if _is_ours(one)]
        names.sort(key=lambda one: (not JOURNAL.fullmatch(one), one == "manifest.json", one))
        return [
            one for one in names if not ((copy := copies.get(one)) and self._is_copy(one, copy))
        ]

    def send(self, names: Iterable[str]) -> None:
        """Put files of the mirror on the store.

        Raises:
            StoreError: one cannot be put; those before it are there.
        """
        for name in names:
            self._send_and_note(name)

    def _send_and_note(self, name: str) -> _Copy:
        copy = self._send_one(name)
        known = self.known()  # anew: sending may take long
        known.copies[name] = copy
        self._keep(known)
        return copy

    def _send_one(self, name: str) -> _Copy:
        path = self.root / name
        try:
            status = path.stat()
            if WHOLE.fullmatch(name):
                self.remote.put_file(name, path)
                return _Copy(status.st_size, self.remote.stamp(name), status.st_mtime_ns)
            with path.open("rb") as file:
                os.fsync(file.fileno())  # the store is never ahead of what a power cut leaves here
                size = whole_lines(file.fileno(), status.st_size)
                if size <= BLOCK * 16:
                    self.remote.put(name, file.read(size))
                    return _Copy(size)
            # A run that was made on this machine and copied into the mirror.
            self.remote.put_file(name, path)
            return _Copy(status.st_size)
        except OSError as error:
            raise store_error(path, "be read", error) from error

    # -- under the lock

    def claim(self) -> None:
        """Write down whose lock it will be, so that the next on this machine knows that it was."""
        known = self.known()
        known.token = self.token
        self._keep(known)

    def begin(self, number: int) -> None:
        """Make both sides alike, and begin segments of this holder's own."""
        pull(self.root)  # runs of judges, which lie below; this one is locked
        with self.mutex():
            self.fetch(self.objects())
            self.send(self._changed())
        self._number = number
        _writing[self.root] = self

    def send_grown(self) -> None:
        """Put what has grown since it was last put."""
        for segment in [*self._unsent]:
            size = segment.size(self.root)
            if size > segment.sent:
                segment.sent = self._send_and_note(segment.name).size
                segment.puts += 1
            if self._growing[segment.stem] is not segment and segment.sent == segment.size(
                self.root
            ):
                self._unsent.remove(segment)

    def replaced(self) -> list[str]:
        """The files that were written anew since they were put."""
        return [name for name in self._changed() if WHOLE.fullmatch(name)]

    def end(self) -> None:
        _writing.pop(self.root, None)
        self._number = None
        self._growing.clear()
        self._unsent.clear()


class _Segment:
    """A part of a journal: lines are appended to the newest of a stem alone."""

    def __init__(self, stem: str, lock: int, place: int) -> None:
        self.stem = stem
        self.place = place
        self.name = f"{stem}-{lock * PER_LOCK + place}.jsonl"
        self.sent = 0
        self.puts = 0

    def size(self, root: Path) -> int:
        try:
            return os.stat(root / self.name).st_size
        except FileNotFoundError:
            return 0

    def is_full(self, root: Path) -> bool:
        return self.puts >= PUTS or self.size(root) >= SEGMENT


class RemoteLock(Lock):
    """The right to write a run, on this machine by its file lock and elsewhere by an object that
    only one can make.

    The n-th holder makes `lock-n.json`, and renews it. Who wants the lock makes the next number, if
    the last was given back, was held by a process that is gone from this mirror, or was not
    renewed for a lease. A holder that finds a higher number has lost the lock.
    """

    def __init__(self, folder: RemoteFolder) -> None:
        super().__init__(folder.root / "lock")
        self._folder = folder
        self._number = 0
        self._sending = threading.Event()
        self._holding = threading.Event()
        # Two, since a long file on a slow line takes longer than a lease.
        self._sender = threading.Thread(target=self._send, daemon=True, name="store")
        self._renewer = threading.Thread(target=self._renew_until_left, daemon=True, name="store")
        self._renewing = threading.Lock()
        host = socket.gethostname()
        self._mine = _Held(by=f"process {os.getpid()} on {host}", token=folder.token)

    def __enter__(self) -> Self:
        with self._folder.mutex():
            super().__enter__()
        with ExitStack() as undo:
            undo.callback(super().__exit__, None, None, None)
            self._number = self._take()
            undo.push(self._release_quietly)
            self._renewer.start()
            self._folder.begin(self._number)
            undo.pop_all()
        self._sender.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._sending.set()
            self._sender.join()
            self._send_the_rest()
            self._release()
        except StoreError as fault:
            if error is None:
                raise
            if error is not fault:
                _say(str(fault))
        finally:
            self._sending.set()
            self._holding.set()
            self._folder.end()
            super().__exit__(kind, error, trace)

    # -- taking it

    def _take(self) -> int:
        """Make the next lock; gives its number."""
        remote = self._folder.remote
        names = [*self._folder.objects()]
        numbers = [int(found[1]) for name in names if (found := LOCKS.fullmatch(name))]
        journals = [found for name in names if (found := JOURNAL.fullmatch(name))]
        last = max(numbers, default=0)
        if last:
            self._wait_for(last)
        # Should somebody have removed the locks: a segment is never another holder's.
        last = max([last, *(int(found[1] or 0) // PER_LOCK for found in journals)])
        mine = msgspec.json.encode(self._mine)
        self._folder.claim()
        if not remote.create(_name(last + 1), mine):
            held = self._read(last + 1)
            # It is ours where the answer to the first try was lost.
            if held is None or held.token != self._mine.token:
                raise self._refused(held.by if held else "another process")
        if remote.create(_name(last + 1), mine):
            remote.remove(_name(last + 1))
            raise StoreError(
                f"{self._folder.url}: the store makes an object that is there already (it has no "
                "conditional writes), so that a second writer could not be kept out. Write the run "
                "to a local folder (--out), and copy it."
            )
        if any(number > last + 1 for number in self._numbers()):
            # Others have had it, and given it back or not, since it was seen to be free.
            remote.remove(_name(last + 1))
            return self._take()
        for number in numbers:
            remote.remove(_name(number))
        return last + 1

    def _numbers(self) -> list[int]:
        """Those of the locks on the store."""
        names = self._folder.objects()
        return [int(found[1]) for name in names if (found := LOCKS.fullmatch(name))]

    def _wait_for(self, number: int) -> None:
        """Wait until the lock is free.

        Raises:
            StoreError: it is renewed meanwhile, or taken by another.
        """
        held = self._read(number)
        # What this mirror's last holder held is free: its process is gone, since the file lock is
        # ours.
        if held is None or held.released or held.token == self._folder.known().token:
            return
        _say(
            f"{self._folder.url}: {held.by} holds its lock; waiting {LEASE:g} s to see whether it "
            "is still at work"
        )
        until = time.monotonic() + LEASE
        while time.monotonic() < until:
            time.sleep(LEASE / LOOKS)
            now = self._read(number)
            if now is None or now.released:
                return
            if now != held:
                raise self._refused(held.by)

    def _read(self, number: int) -> _Held | None:
        raw = self._folder.remote.get(_name(number))
        try:
            return None if raw is None else msgspec.json.decode(raw, type=_Held)
        except msgspec.DecodeError:
            return _Held(by="what is no process of ours", token="")

    def _refused(self, by: str) -> StoreError:
        return StoreError(
            f"{self._folder.url}: {by} is writing this run. Wait for it, or stop it, and start "
            "again."
        )

    # -- holding it

    def _send(self) -> None:
        """Put what grows, every few seconds, until the run has ended."""
        silent = False
        while not self._sending.is_set() and self._folder.lost is None:
            try:
                self._send_once()
            except StoreError as error:
                if not silent and self._folder.lost is None:
                    _say(f"{error} The run goes on, and what it stores waits in its mirror.")
                silent = True
            else:
                if silent:
                    _say(f"{self._folder.url} is reached again.")
                silent = False
            self._sending.wait(EVERY)

    def _send_once(self) -> None:
        self._folder.send_grown()
        if replaced := self._folder.replaced():
            self._renew()  # these are the holder's alone to put; segments have its number
            self._folder.send(replaced)

    def _renew_until_left(self) -> None:
        while not self._holding.wait(RENEWED) and self._folder.lost is None:
            # While the store is away nobody else can take the lock; that it is, `_send` says.
            with suppress(StoreError):
                self._renew()

    def _renew(self) -> None:
        """Say that this holder is at work.

        Raises:
            StoreError: another has taken the lock; or the store cannot be reached.
        """
        with self._renewing:
            if self._folder.lost is not None:
                raise self._folder.lost
            if self._mine.released:
                return
            if (taken := self._read(self._number + 1)) is not None or self._is_passed():
                by = taken.by if taken else "another process"
                self._folder.lost = StoreError(
                    f"{self._folder.url}: {by} has taken this run over, as this process had not "
                    "been heard of for too long. What it stored meanwhile is kept in its mirror, "
                    "and is sent when the same command is started again here."
                )
                raise self._folder.lost
            self._mine.renewed += 1
            self._folder.remote.put(_name(self._number), msgspec.json.encode(self._mine))

    def _is_passed(self) -> bool:
        """Whether a later holder has come and gone on: then this one's lock was taken away."""
        held = self._read(self._number)
        return held is None or held.token != self._mine.token

    # -- giving it back

    def _send_the_rest(self) -> None:
        for tried in range(AT_THE_END):
            if tried:
                time.sleep(2 ** (tried - 1))
            try:
                self._renew()  # should the lock be lost, it is said
                self._send_once()
                return
            except StoreError as error:
                if self._folder.lost is not None:
                    raise
                fault = error
        raise StoreError(
            f"{fault} Nothing is lost: all of the run is in its mirror on this machine, "
            f"{os.fspath(self._folder.root)}, and the same command sends the rest from there."
        ) from fault

    def _release_quietly(self, *_: object) -> None:
        with suppress(StoreError):
            self._release()

    def _release(self) -> None:
        self._holding.set()
        with self._renewing:
            self._mine.released = True
            self._folder.remote.put(_name(self._number), msgspec.json.encode(self._mine))


def _grown(path: Path, fresh: Path) -> bool:
    """Whether one file begins with the other; then the first has the lines of both afterwards."""
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
            while rest:  # a disk that becomes full takes a part, and refuses the next
                rest = rest[file.write(rest) :] or there.read(BLOCK)
            os.fsync(file.fileno())
    return True


def _name(number: int) -> str:
    return f"lock-{number}.json"


def _say(text: str) -> None:
    # What a store, or whoever writes to it, says may hold what a terminal acts on.
    shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:LONGEST_SAID])
    print(shown, file=sys.stderr, flush=True)
