"""An object store, by fsspec: the only file that imports it. Every fault is a StoreError."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from snellen.errors import StoreError, UsageError, install
from snellen.store._mirror import SCHEMES

OPTIONS: dict[str, dict[str, Any]] = {
    "s3": {
        "config_kwargs": {
            "connect_timeout": 10,
            "read_timeout": 60,
            "retries": {"max_attempts": 2},
        }
    }
}
"""What is said to a store's package beyond what its own variables and profiles say: a store that
does not answer is to be noticed."""
STAMPS = ("ETag", "etag", "md5", "content_md5", "last_modified", "mtime", "created")
"""Fields by which stores tell one state of an object from another, the best first."""
MAX_REASON = 2_000
"""Characters of a line about the store."""
_opening = threading.Lock()


class Object(NamedTuple):
    """An object of an object store."""

    name: str
    """Its name below the listed folder."""
    size: int
    """Its size in bytes."""
    stamp: str | None
    """The store's mark of this version; None if it has none."""


class Remote:
    """What lies below one address, such as `s3://bucket/runs`."""

    def __init__(self, url: str) -> None:
        scheme, _, self._root = url.partition("://")
        self.url = url
        self._fs = _opened(scheme)

    def list(self, below: str = "") -> Iterator[Object]:
        """Every object in there, or of that very name, in no order."""
        root = f"{self._root}/{below}".rstrip("/")
        with self._faults("be listed"):
            entries = self._fs.find(root, detail=True) or {}
        start = f"{self._root}/"
        for name, about in entries.items():
            # What a store lists elsewhere is none of ours.
            if name.startswith(start) and about.get("type") == "file":
                stamp = next((str(about[field]) for field in STAMPS if about.get(field)), None)
                yield Object(name[len(start) :], int(about.get("size") or 0), stamp)

    def is_file(self) -> bool:
        """Whether an object has this very address."""
        with self._faults("be looked at"):
            try:
                return bool(self._fs.info(self._root)["type"] == "file")
            except FileNotFoundError:
                return False

    def stamp(self, name: str) -> str | None:
        """What tells an object as it is now from how it was."""
        with self._faults("be looked at", name):
            about = self._fs.info(self._at(name))
        return next((str(about[field]) for field in STAMPS if about.get(field)), None)

    def get(self, name: str) -> bytes | None:
        """A whole object, or None where there is none."""
        with self._faults("be read", name):
            try:
                return bytes(self._fs.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def get_file(self, name: str, path: Path) -> bool:
        """A whole object into a file; False where it is gone."""
        with self._faults("be read", name):
            try:
                self._fs.get_file(self._at(name), str(path))
            except FileNotFoundError:
                return False
        return True

    def put(self, name: str, data: bytes) -> None:
        """Replace an object: readers see the old one or the new one."""
        with self._faults("be written", name):
            self._fs.pipe_file(self._at(name), data)

    def put_file(self, name: str, path: Path) -> None:
        """Replace an object by a file, a long one in parts: until the last is there the old one
        stands."""
        with self._faults("be written", name):
            self._fs.put_file(str(path), self._at(name))

    def create(self, name: str, data: bytes) -> bool:
        """Make an object; False where there is one of that name already, also a moment old."""
        with self._faults("be written", name):
            try:
                self._fs.pipe_file(self._at(name), data, mode="create")
            except FileExistsError:
                return False
        return True

    def remove(self, name: str) -> None:
        """Take an object away, if it is there."""
        with self._faults("be removed", name):
            try:
                self._fs.rm_file(self._at(name))
            except FileNotFoundError:
                return

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextmanager
    def _faults(self, what: str, name: str = "") -> Iterator[None]:
        where = f"{self.url}/{name}" if name else self.url
        try:
            yield
        # Each store's package raises classes of its own, of no common base; and nothing but its
        # calls is done here.
        except Exception as error:
            raise StoreError(f"{where} cannot {what}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """What a store's error says, with what to do about the commonest."""
    kind = type(error).__name__
    reason = " ".join(str(error).split()) or kind
    reason = re.sub(r"://[^/\s@]*@", "://", reason)  # who asks, and by which key, in an address
    reason = re.sub(r"(://[^\s?\"']*)\?[^\s\"']*", r"\1", reason)
    remedies = {
        "NoCredentialsError": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.",
        "PermissionError": "Ask for the right to list, read and write there.",
        "FileNotFoundError": "Is the bucket's name right? It must be there: none is made.",
        "NotImplementedError": "The store lacks what runs need: conditional writes.",
    }
    remedy = remedies.get(kind)
    if remedy is None and isinstance(error, OSError) and "redentials" in reason:
        remedy = remedies["NoCredentialsError"]
    return f"{reason.rstrip('.')}. {remedy or f'({kind})'}"


def _opened(scheme: str) -> Any:
    with _opening:
        return _open(scheme)


@lru_cache
def _open(scheme: str) -> Any:
    """A store's file system, made once: fsspec's own would be one for each thread.

    Raises:
        UsageError: its package is not installed.
    """
    package = SCHEMES[scheme]
    how = install("s3") if package == "s3fs" else f"pip install {package}"
    try:
        import fsspec

        return fsspec.filesystem(
            scheme, use_listings_cache=False, skip_instance_cache=True, **OPTIONS.get(scheme, {})
        )
    except ImportError as error:
        raise UsageError(f"{scheme}:// needs {package}: {how}") from error


def in_parallel(tasks: Sequence[Callable[[], None]], threads: int = 8) -> None:
    """Do all, several at once; raises the first fault when all have ended."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads, "store") as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()


def say(text: str) -> None:
    """A line to a person about the store, on standard error."""
    # What a store, or whoever writes to it, says may hold what a terminal acts on.
    shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:MAX_REASON])
    print(shown, file=sys.stderr, flush=True)
