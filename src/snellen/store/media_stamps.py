"""Keeps the state of the pictures and videos of a run's questions, so that a resumed run reads only
the files that may have changed.

The stamps are in the hidden file `.media` in the run's folder (`.media.part-00002` for a part). The
file is a cache: if it is missing, damaged, or from another version, all files count as changed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from snellen.errors import StoreError
from snellen.store.folder import Folder, file_order
from snellen.store.kept_index import SETTLED, FileStamp

STAMPS = re.compile(r"\.media(\.part-\d{5})?")
STAMPS_FORMAT = 1
MISSING = FileStamp(0, 0, 0, False)
"""The stamp of a file that does not exist. It is never the same as another stamp."""


class _Stamps(msgspec.Struct, frozen=True, array_like=True):
    format: int
    questions: dict[str, int]
    """For each file of questions, a size in bytes. The media of all questions up to this size are
    in `files`."""
    files: dict[str, FileStamp]
    """The stamp of each file of media, keyed by path. Many pictures can share a file, such as a
    table."""


class MediaStamps:
    """The stamps of the media of one run.

    Create the object before media are read: a stamp counts only if the file's last change is older
    than the object, so that no change between reading a file and noting its stamp is missed.
    """

    def __init__(self, folder: Folder, stem: str) -> None:
        self._folder = folder
        self._stem = stem
        self._opened = time.time_ns()
        self._stored = _read(folder)
        self._compared: dict[str, int] = {}
        self._questions: dict[str, int] = {}
        self._files: dict[str, FileStamp] = {}
        self._unchanged: set[str] = set()

    def compare(self) -> tuple[Mapping[str, int], bool]:
        """Compare the stored stamps with the files. Returns the size in bytes up to which the media
        of each file of questions are known, and whether any of the media may have changed. Only
        the stamps of unchanged files are kept."""
        known: dict[str, int] = {}
        changed: set[str] = set()
        sizes = self._compared = self._sizes()
        for stored in self._stored.values():
            for name, size in stored.questions.items():
                if known.get(name, 0) < size <= sizes.get(name, 0):
                    known[name] = size
            for path, stamp in stored.files.items():
                self.note(path)
                if not stamp.is_same(self._files[path]):
                    changed.add(path)
        for path in changed:
            del self._files[path]
        self._unchanged = set(self._files)
        return known, bool(changed)

    def is_unchanged(self, path: str) -> bool:
        """Whether `compare` kept the stamp of a file."""
        return path in self._unchanged

    def note(self, path: str) -> None:
        """Note the stamp of a file, unless it is noted already. A missing file has a stamp that
        counts as changed."""
        if path in self._files:
            return
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            self._files[path] = MISSING
            return
        changed = status.st_ctime_ns
        is_settled = changed + SETTLED < self._opened
        self._files[path] = FileStamp(status.st_ino, status.st_size, changed, is_settled)

    def note_checked(self) -> None:
        """Note that the media of all questions have been checked that were stored when `compare`
        was called. Other processes may have stored questions of other parts since then."""
        self._questions = dict(self._compared)

    def put(self) -> None:
        """Store the stamps, unless they are stored already. The caller holds the run's lock.
        Without the stamps, the next process reads all media, so an error is ignored."""
        number = 0 if self._folder.part is None else self._folder.part.number
        sizes = self._sizes()
        self._questions |= {name: sizes[name] for name in sizes if file_order(name)[0] == number}
        name = f".media.part-{number:05d}" if number else ".media"
        stamps = _Stamps(STAMPS_FORMAT, self._questions, self._files)
        if self._stored.get(name) != stamps:
            local = Folder(self._folder.root)  # a mirror does not upload the stamps
            with suppress(StoreError):
                local.put_atomic(name, msgspec.msgpack.encode(stamps))

    def _sizes(self) -> dict[str, int]:
        root = self._folder.root
        return {name: os.stat(root / name).st_size for name in self._folder.segments(self._stem)}


def _read(folder: Folder) -> dict[str, _Stamps]:
    """The stored stamps, keyed by the name of their file, without files that cannot be used."""
    stored = {}
    for name in filter(STAMPS.fullmatch, folder.names()):
        with suppress(StoreError, msgspec.DecodeError):
            stamps = msgspec.msgpack.decode(folder.get(name) or b"", type=_Stamps)
            if stamps.format == STAMPS_FORMAT:
                stored[name] = stamps
    return stored
