"""The lock of a run on an object store, and the uploads by the process that holds it."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from snellen.errors import StoreError
from snellen.store.locks import HeldError, Lock, RunPart
from snellen.store.remote import say

if TYPE_CHECKING:
    from snellen.store.mirrored import RemoteFolder

EVERY = 5.0
"""Seconds between two uploads of files that have grown."""
RENEWED = 15.0
"""Seconds between two renewals of a lock by its holder."""
LEASE = 60.0
"""Seconds without a renewal after which a lock is considered free, on the clock of the waiting
process."""
LOOKS = 12
"""The number of times that a waiting process checks a lock during `LEASE` seconds."""
AT_THE_END = 4
"""The number of attempts to upload the remaining files at the end of a run, with increasing pauses.
If all attempts fail, the next command uploads the files."""
RUN_LOCK, SCORES_LOCK = "lock", "lock.scores"
"""The stems of the objects that lock the whole run and its scores. The stem of a part is
`lock.part-00003`."""
LOCKS = re.compile(r"(lock(?:\.scores|\.part-\d{5})?)-(\d{1,9})\.json")
"""The name of a lock's object: its stem and its number."""


class _LockObject(msgspec.Struct):
    """The content of a lock's object: the owner of the lock, the number of renewals, whether the
    lock was released, and for the lock of a part the number of parts."""

    by: str
    token: str
    renewed: int = 0
    released: bool = False
    parts: int = 0


class RemoteLock(Lock):
    """The right to write a run. On this machine, a file lock keeps out other processes. For other
    machines, an object in the store serves as the lock, since only one process can create it.

    The n-th holder creates `lock-n.json` and renews it. To acquire the lock, a process creates the
    object with the next number. The process may do so if the last lock was released, if its holder
    used the same mirror and no longer exists, or if it was not renewed for `LEASE` seconds. A
    holder that finds a higher number has lost the lock.

    The whole run, each part, and the scores have locks with different stems. The lock of the whole
    run excludes all others, and locks of parts exclude those of other numbers of parts. A process
    first acquires its own lock and renews it, and then looks for locks that its own lock excludes.
    Of two processes that start at once, at least one therefore sees the other. A lock whose holder
    no longer exists is closed by a released lock with the next number.
    """

    def __init__(
        self,
        folder: RemoteFolder,
        local: Lock,
        part: RunPart | None = None,
        *,
        scores: bool = False,
    ) -> None:
        super().__init__(folder.root / "lock")
        self._local = local
        self._stem = SCORES_LOCK if scores else f"lock.part-{part.number:05d}" if part else RUN_LOCK
        self._what = "this run"
        if self._stem != RUN_LOCK:
            self._what = f"part {part.number} of this run" if part else "the scores of this run"
        self._folder = folder
        self._number = 0
        self._sending = threading.Event()
        self._holding = threading.Event()
        # Two threads, since the upload of a large file over a slow connection can take longer than
        # a lease.
        self._sender = threading.Thread(target=self._send, daemon=True, name="store")
        self._renewer = threading.Thread(target=self._renew_until_left, daemon=True, name="store")
        self._renewing = threading.Lock()
        host = socket.gethostname()
        self._mine = _LockObject(
            by=f"process {os.getpid()} on {host}",
            token=folder.token,
            parts=0 if part is None else part.total,
        )

    def __enter__(self) -> Self:
        with self._folder.mutex():
            self._local.__enter__()
        with ExitStack() as undo:
            undo.callback(self._local.__exit__, None, None, None)
            self._number = self._take()
            undo.push(self._release_quietly)
            self._renewer.start()
            self._close_excluded()
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
                say(str(fault))
        finally:
            self._sending.set()
            self._holding.set()
            self._folder.end()
            self._local.__exit__(kind, error, trace)

    # -- taking it

    def _take(self) -> int:
        """Create the next lock and return its number."""
        remote = self._folder.remote
        names = [*self._folder.objects()]
        numbers = self._numbers(names)
        last = max(numbers, default=0)
        if last:
            self._wait_for({self._stem: last})
        # This is needed if the locks were removed, since the segments of two holders must have
        # different numbers.
        last = max(last, self._folder.last_writer(names))
        mine = msgspec.json.encode(self._mine)
        self._folder.claim(self._stem)
        if not remote.create(self._name(last + 1), mine):
            held = self._read(last + 1)
            # The lock belongs to this process if the response to its first attempt was lost.
            if held is None or held.token != self._mine.token:
                raise self._refused(held)
        if remote.create(self._name(last + 1), mine):
            remote.remove(self._name(last + 1))
            raise StoreError(
                f"{self._folder.url}: the store overwrites existing objects (it does not support "
                "conditional writes), so a second writer could not be kept out. Write the run to a "
                "local folder (--out) and copy it."
            )
        if any(number > last + 1 for number in self._numbers(self._folder.objects())):
            # Other processes have held the lock since it was found to be free.
            remote.remove(self._name(last + 1))
            return self._take()
        for number in numbers:
            remote.remove(self._name(number))
        return last + 1

    def _close_excluded(self) -> None:
        """Wait until no process has a lock that this lock excludes, and close such locks of
        processes that no longer exist.

        Raises:
            StoreError: another process has such a lock.
        """
        latest: dict[str, int] = {}
        for stem, number in map(_parsed, filter(LOCKS.fullmatch, self._folder.objects())):
            latest[stem] = max(number, latest.get(stem, 0))
        excluded = {
            stem: number
            for stem, number in latest.items()
            if self._excludes(stem, self._read(number, stem))
        }
        self._wait_for(excluded)
        closed = msgspec.json.encode(msgspec.structs.replace(self._mine, released=True))
        for stem, number in excluded.items():
            if not self._folder.remote.create(_name(stem, number + 1), closed):
                held = self._read(number + 1, stem)
                if held is not None and not held.released:
                    raise self._refused(held)

    def _excludes(self, stem: str, held: _LockObject | None) -> bool:
        if stem == self._stem or held is None or held.released:
            return False
        if RUN_LOCK in (stem, self._stem):
            return True
        return SCORES_LOCK not in (stem, self._stem) and held.parts != self._mine.parts

    def _wait_for(self, locks: Mapping[str, int]) -> None:
        """Wait until locks are free, which are passed as the number for each stem.

        Raises:
            StoreError: a lock is renewed in the meantime, or another process takes it.
        """
        tokens = self._folder.known()
        waiting: dict[str, _LockObject] = {}
        for stem, number in locks.items():
            held = self._read(number, stem)
            # A lock held by the last process on this mirror is free: that process no longer exists,
            # since this process has the file lock.
            if held is None or held.released or held.token == tokens.token_of(stem):
                continue
            waiting[stem] = held
        if not waiting:
            return
        by = next(iter(waiting.values())).by
        say(
            f"{self._folder.url}: {by} has the lock of {self._what}. Waiting {LEASE:g} s to see "
            "whether it is still running"
        )
        until = time.monotonic() + LEASE
        while waiting and time.monotonic() < until:
            time.sleep(LEASE / LOOKS)
            for stem, held in [*waiting.items()]:
                now = self._read(locks[stem], stem)
                if now is None or now.released:
                    del waiting[stem]
                elif now != held:
                    raise self._refused(held)

    def _read(self, number: int, stem: str | None = None) -> _LockObject | None:
        raw = self._folder.remote.get(_name(stem or self._stem, number))
        try:
            return None if raw is None else msgspec.json.decode(raw, type=_LockObject)
        except msgspec.DecodeError:
            return _LockObject(by="an unknown process", token="")

    def _refused(self, held: _LockObject | None) -> HeldError:
        by = "another process" if held is None else held.by
        if held is not None and self._mine.parts and held.parts not in (0, self._mine.parts):
            return HeldError(
                f"{self._folder.url}: {by} divides this run into {held.parts} parts and is writing "
                f"it, and this process divides it into {self._mine.parts}. Use --part "
                f"I/{held.parts}, or wait until that process ends."
            )
        return HeldError(
            f"{self._folder.url}: {by} is writing {self._what}. Wait until it ends, or stop it, "
            "and start again."
        )

    def _name(self, number: int) -> str:
        return _name(self._stem, number)

    def _numbers(self, names: Iterable[str]) -> list[int]:
        """The numbers of the locks with this lock's stem among a run's objects."""
        parsed = map(_parsed, filter(LOCKS.fullmatch, names))
        return [number for stem, number in parsed if stem == self._stem]

    # -- holding it

    def _send(self) -> None:
        """Upload growing files every few seconds until the run has ended."""
        silent = False
        while not self._sending.is_set() and self._folder.lost is None:
            try:
                self._send_once()
            except StoreError as error:
                if not silent and self._folder.lost is None:
                    say(
                        f"{error} The run continues, and its replies are kept in its mirror until "
                        "they can be uploaded."
                    )
                silent = True
            else:
                if silent:
                    say(f"{self._folder.url} can be reached again.")
                silent = False
            self._sending.wait(EVERY)

    def _send_once(self) -> None:
        self._folder.send_grown()
        if replaced := self._folder.replaced():
            self._renew()  # only the holder may upload these; segment names have its number
            for name in replaced:
                self._folder.send_while_locked(name)

    def _renew_until_left(self) -> None:
        while not self._holding.wait(RENEWED) and self._folder.lost is None:
            # While the store cannot be reached, no other process can take the lock. `_send` reports
            # the error.
            with suppress(StoreError):
                self._renew()

    def _renew(self) -> None:
        """Renew the lock.

        Raises:
            StoreError: another process has taken the lock, or the store cannot be reached.
        """
        with self._renewing:
            if self._folder.lost is not None:
                raise self._folder.lost
            if self._mine.released:
                return
            if (taken := self._read(self._number + 1)) is not None or self._is_passed():
                by = taken.by if taken else "another process"
                self._folder.lost = StoreError(
                    f"{self._folder.url}: {by} has taken over this run, because this process had "
                    "not renewed its lock for too long. The replies that this process has stored "
                    "since then are in its mirror. To upload them, start the same command again on "
                    "this machine."
                )
                raise self._folder.lost
            self._mine.renewed += 1
            self._folder.remote.put(self._name(self._number), msgspec.json.encode(self._mine))

    def _is_passed(self) -> bool:
        """Whether this process has lost the lock to a later process."""
        held = self._read(self._number)
        return held is None or held.token != self._mine.token

    # -- giving it back

    def _send_the_rest(self) -> None:
        for tried in range(AT_THE_END):
            if tried:
                time.sleep(2 ** (tried - 1))
            try:
                self._renew()  # raises an error if the lock was lost
                self._send_once()
                return
            except StoreError as error:
                if self._folder.lost is not None:
                    raise
                fault = error
        raise StoreError(
            f"{fault} Nothing is lost: the whole run is in its mirror on this machine, "
            f"{os.fspath(self._folder.root)}. To upload the rest, start the same command again."
        ) from fault

    def _release_quietly(self, *_: object) -> None:
        with suppress(StoreError):
            self._release()

    def _release(self) -> None:
        self._holding.set()
        with self._renewing:
            self._mine.released = True
            self._folder.remote.put(self._name(self._number), msgspec.json.encode(self._mine))


def _parsed(name: str) -> tuple[str, int]:
    """The stem and the number of a lock's object."""
    match = LOCKS.fullmatch(name)
    assert match is not None, name
    return match[1], int(match[2])


def _name(stem: str, number: int) -> str:
    return f"{stem}-{number}.json"
