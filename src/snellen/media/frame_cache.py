"""Keeps encoded frames on disk, so that another run on the same videos decodes nothing.

A folder for each video, named after the digest of the video's file, has

    facts               the times of all frames, and the declared duration
    LOOK-RANDOM.frames  encoded frames of one size and format, and a table of them

`LOOK` is a digest of the size, the format, and the versions of the software that decodes and
encodes. Files get their names when they are complete, so a process that is killed leaves only a
file with the ending `.part`. Everything is checked when it is read: a file that is damaged is
deleted, and its frames are decoded again.

In one process, only one thread at a time decodes a video for the cache, so that no frame is decoded
twice. The other threads wait, and then read its frames.
"""

from __future__ import annotations

import os
import secrets
import struct
import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from hashlib import blake2b, sha256
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import IO, Any

import orjson

from snellen.errors import UsageError
from snellen.media._files import label
from snellen.media._frames import Policy
from snellen.media.content import Frame, Image, Video

MAGIC = b"SNLFRM1\n"
TRAILER = struct.Struct("<Q16s8s")
"""The length and the digest of the table, and `MAGIC`."""
SWEEP = 64 << 20
"""The size of the folder is checked whenever this many bytes were written."""
ABANDONED = 3600.0
"""An incomplete file that was not written to for this time is deleted, in seconds."""
CHECK = 0.2
"""How often a thread that waits for a video checks whether its run has ended, in seconds."""
DAMAGED = (OSError, ValueError, KeyError, TypeError, struct.error)


class FrameCache:
    """A folder of frames that several processes may use at the same time. Its size is bounded: the
    oldest files are deleted first."""

    def __init__(self, folder: Path, most: int) -> None:
        """
        Raises:
            UsageError: the folder cannot be created or written to.
        """
        self.folder = folder
        self.most = most
        """The maximum size of all files in bytes."""
        self.trouble: str | None = None
        """Why frames could not be written; None if they could."""
        self._lock = Lock()
        self._written = 0
        self._turns: dict[str, Lock] = {}
        """Held by the thread that decodes a video, keyed by the video's digest."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".probe-{secrets.token_hex(8)}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise UsageError(
                f"The frame cache {folder} cannot be written to: {error.strerror}. Choose another "
                "folder with --frame-cache."
            ) from error
        self.sweep()

    @cached_property
    def software(self) -> str:
        """The versions of the packages that decode and encode frames.

        Raises:
            PackageNotFoundError: the extra `video` is not installed.
        """
        return ", ".join(f"{name} {version(name)}" for name in ("av", "pillow"))

    def of(self, video: Video) -> CachedVideo:
        """The frames of a video whose digest is known.

        Raises:
            PackageNotFoundError: the extra `video` is not installed.
        """
        assert video.digest is not None
        name = video.digest.removeprefix("sha256:")
        with self._lock:
            turn = self._turns.setdefault(name, Lock())
        return CachedVideo(self, self.folder / name[:2] / name, video, turn)

    def wrote(self, size: int) -> None:
        """Count bytes that were written, and delete old files if there are many."""
        with self._lock:
            self._written += size
            is_due = self._written >= SWEEP
            if is_due:
                self._written = 0
        if is_due:
            self.sweep()

    def sweep(self) -> None:
        """Delete abandoned files, and the oldest files until the folder is small enough."""
        files = []
        now = time.time()
        for path in self.folder.glob("*/*/*"):
            with suppress(OSError):
                status = path.stat()
                if path.suffix == ".part" and now - status.st_mtime > ABANDONED:
                    path.unlink()
                else:
                    files.append((status.st_mtime_ns, str(path), status.st_size))
        total = sum(size for _, _, size in files)
        for _, name, size in sorted(files):
            if total <= self.most:
                return
            if not name.endswith(".part"):  # a process may be writing it
                with suppress(OSError):
                    os.unlink(name)
                total -= size


class CachedVideo:
    """The frames of one video in a cache. Close it after use; then what was written is complete."""

    def __init__(self, cache: FrameCache, folder: Path, video: Video, turn: Lock) -> None:
        self._turn = turn
        self._has_turn = False
        self._cache = cache
        self._folder = folder
        self._label = label(video)
        self._software = cache.software
        self._tables: dict[Policy, dict[int, tuple[IO[bytes], Path, Mapping[str, Any]]]] = {}
        self._writers: dict[Policy, _Writer] = {}
        self._open = ExitStack()

    # -- turns

    def take_turn(self, has_ended: Callable[[], bool]) -> None:
        """Wait until no other thread decodes the video, or until `has_ended` returns True."""
        while not self._has_turn and not has_ended():
            self._has_turn = self._turn.acquire(timeout=CHECK)

    def end_turn(self) -> None:
        """Complete what was written, and let the next thread decode the video."""
        if self._has_turn:
            try:
                self._complete()
            finally:
                self._has_turn = False
                self._turn.release()

    # -- facts

    def read_facts(self) -> tuple[tuple[float, ...], float | None] | None:
        """The times of all frames and the declared duration, as `write_facts` stored them; None if
        they are not stored, or damaged."""
        path = self._folder / "facts"
        try:
            data = path.read_bytes()
            digest, head, body = data[:16], *data[16:].split(b"\n", 1)
            if blake2b(data[16:], digest_size=16).digest() != digest:
                raise ValueError
            times = array("d")
            times.frombytes(body)
            declared = orjson.loads(head)["declared"]
        except FileNotFoundError:
            return None
        except DAMAGED:
            _unlink(path)
            return None
        return (tuple(times), declared) if times else None

    def write_facts(self, times: tuple[float, ...], declared: float | None) -> None:
        data = orjson.dumps({"declared": declared}) + b"\n" + array("d", times).tobytes()
        part = self._folder / f"facts-{secrets.token_hex(8)}.part"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(blake2b(data, digest_size=16).digest() + data)
            part.replace(self._folder / "facts")
        except OSError as error:
            self._fail(part, error)
        else:
            self._cache.wrote(len(data))

    # -- frames

    def has(self, index: int, look: Policy) -> bool:
        return index in self._table(look)

    def frame(self, index: int, look: Policy) -> Frame | None:
        """Read a frame; None if it is damaged."""
        file, path, entry = self._table(look)[index]
        try:
            data = os.pread(file.fileno(), entry["length"], entry["offset"])
            if sha256(data).hexdigest() != entry["sha256"]:
                raise ValueError
            moment = float(entry["time"])
            return Frame(
                time=moment,
                image=Image(
                    data,
                    label=f"{self._label}, {moment:.3f} s",
                    digest=f"sha256:{entry['sha256']}",
                    mime=entry["mime"],
                    width=entry["width"],
                    height=entry["height"],
                    original=tuple(entry["original"]) if entry["original"] else None,
                ),
            )
        except DAMAGED:
            _unlink(path)
            table = self._tables[look]
            for number in [number for number, at in table.items() if at[1] == path]:
                del table[number]
            return None

    def write(self, index: int, look: Policy, frame: Frame) -> None:
        if self._cache.trouble is not None:
            return
        writer = self._writers.get(look)
        try:
            if writer is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                writer = self._writers[look] = _Writer(self._folder, self._key(look))
            if writer.size < self._cache.most:
                self._cache.wrote(writer.add(index, frame))
        except OSError as error:
            self._fail(None if writer is None else writer.path, error)

    def close(self) -> None:
        """End the turn, complete the files that were written, and close those that were read."""
        self.end_turn()
        self._complete()
        self._open.close()
        self._tables = {}

    def _complete(self) -> None:
        """Complete the files that were written. Their frames can then be read."""
        writers, self._writers = self._writers, {}
        for writer in writers.values():
            try:
                writer.close()
            except OSError as error:
                self._fail(writer.path, error)
        if writers:
            self._tables = {}
            self._cache.sweep()

    def _fail(self, part: Path | None, error: OSError) -> None:
        self._cache.trouble = f"{self._cache.folder}: {error.strerror}"
        if part is not None:
            _unlink(part)

    def _key(self, look: Policy) -> str:
        return blake2b(f"{look}|{self._software}".encode(), digest_size=8).hexdigest()

    def _table(self, look: Policy) -> dict[int, tuple[IO[bytes], Path, Mapping[str, Any]]]:
        """Where each stored frame of a size and format is, keyed by its index."""
        table = self._tables.get(look)
        if table is None:
            table = self._tables[look] = {}
            for path in sorted(self._folder.glob(f"{self._key(look)}-*.frames")):
                try:
                    file = self._open.enter_context(path.open("rb"))
                    table |= {entry["index"]: (file, path, entry) for entry in _entries(file)}
                except FileNotFoundError:  # another process deleted it
                    continue
                except DAMAGED:
                    _unlink(path)
        return table


class _Writer:
    """Writes a file of frames."""

    def __init__(self, folder: Path, key: str) -> None:
        self._final = folder / f"{key}-{secrets.token_hex(8)}.frames"
        self.path = self._final.with_suffix(".part")
        self.size = 0
        self._entries: list[Mapping[str, Any]] = []
        self._file = self.path.open("xb")

    def add(self, index: int, frame: Frame) -> int:
        """Append a frame. Returns its size in bytes."""
        image = frame.image
        assert isinstance(image.source, bytes) and image.digest is not None
        self._file.write(image.source)
        entry: dict[str, object] = {"index": index, "time": frame.time, "offset": self.size}
        entry |= {"length": len(image.source), "sha256": image.digest.removeprefix("sha256:")}
        entry |= {"mime": image.mime, "width": image.width, "height": image.height}
        self._entries.append({**entry, "original": image.original})
        self.size += len(image.source)
        return len(image.source)

    def close(self) -> None:
        table = orjson.dumps(self._entries)
        digest = blake2b(table, digest_size=16).digest()
        with self._file:
            self._file.write(table + TRAILER.pack(len(table), digest, MAGIC))
        self.path.replace(self._final)


def _entries(file: IO[bytes]) -> Iterator[Mapping[str, Any]]:
    """Read the table of a file of frames.

    Raises:
        ValueError: the file is damaged.
    """
    end = file.seek(0, os.SEEK_END)
    if end < TRAILER.size:
        raise ValueError("it is too short")
    file.seek(end - TRAILER.size)
    length, digest, magic = TRAILER.unpack(file.read(TRAILER.size))
    if magic != MAGIC or length > end - TRAILER.size:
        raise ValueError("it has no table")
    file.seek(end - TRAILER.size - length)
    table = file.read(length)
    if blake2b(table, digest_size=16).digest() != digest:
        raise ValueError("its table is damaged")
    yield from orjson.loads(table)


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
