"""Keeps the indexes of the runs that are being viewed. Requests add new records to the indexes."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from hashlib import blake2b
from pathlib import Path

from snellen.errors import StoreError
from snellen.view.index import FILE, Index

FRESH = 0.3
"""The time in seconds for which a complete index is used without checking for new records. A page
makes several requests, and only the first request should check."""
FIRST = 0.15
"""The time in seconds that a page waits for new records to be indexed. A thread indexes the
remaining records."""


def file_of(run: Path) -> Path:
    """The path of a run's index: in the run folder, or in a temporary folder if the run folder is
    read-only."""
    if os.access(run, os.W_OK):
        return run / FILE
    name = blake2b(os.fsencode(run), digest_size=12).hexdigest()
    folder = Path(tempfile.gettempdir()) / f"snellen-view-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StoreError(
            f"The viewer has no place for its index: {run} is not writable, and {folder} belongs "
            "to somebody else. Set TMPDIR to a folder of your own."
        )
    return folder / f"{name}.sqlite"


class Indexes:
    """One index for each run that was requested."""

    def __init__(self) -> None:
        self._known: dict[Path, Index] = {}
        self._working: set[Path] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def of(self, run: Path) -> Index:
        """The index of a run, extended by as many new records as `FIRST` seconds allow.

        Raises:
            StoreError: the run's files cannot be read, or the index cannot be written.
        """
        with self._lock:
            index = self._known.get(run)
            if index is None:
                index = self._known[run] = Index(run, file_of(run))
        if time.monotonic() < index.complete + FRESH and index.file.exists():
            return index
        if index.extend(FIRST):
            with self._lock:
                if run not in self._working:
                    self._working.add(run)
                    threading.Thread(target=self._work, args=(index,), daemon=True).start()
        return index

    def stop(self) -> None:
        self._stopping.set()

    def _work(self, index: Index) -> None:
        try:
            while not self._stopping.is_set() and index.extend():
                self._stopping.wait(0.01)  # lets waiting pages use the files first
        except StoreError:
            pass  # the next page request reports it
        finally:
            with self._lock:
                self._working.discard(index.run)
