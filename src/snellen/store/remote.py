"""Accesses an object store with fsspec. Only this file imports fsspec. Every failure is raised as a
StoreError."""

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
"""Settings for each store's package. They set timeouts, so that a store that does not respond leads
to an error. The package also uses its own environment variables and profiles."""
STAMPS = ("ETag", "etag", "md5", "content_md5", "last_modified", "mtime", "created")
"""The fields by which stores distinguish versions of an object, from the most to the least
reliable."""
MAX_REASON = 2_000
"""The maximum length of a printed line about a store, in characters."""
_opening = threading.Lock()


class Object(NamedTuple):
    """An object in an object store."""

    name: str
    """The object's name, relative to the listed folder."""
    size: int
    """The object's size in bytes."""
    stamp: str | None
    """The store's identifier of this version of the object; None if the store has none."""


class Remote:
    """The objects below one address, such as `s3://bucket/runs`."""

    def __init__(self, url: str) -> None:
        scheme, _, self._root = url.partition("://")
        self.url = url
        self._fs = _opened(scheme)

    def list(self, below: str = "") -> Iterator[Object]:
        """Yield every object under the path `below`, or the object at exactly this path, in no
        particular order. `below` is relative to the store's address."""
        root = f"{self._root}/{below}".rstrip("/")
        with self._faults("be listed"):
            entries = self._fs.find(root, detail=True) or {}
        start = f"{self._root}/"
        for name, about in entries.items():
            # Skip objects that a store lists but that are elsewhere.
            if name.startswith(start) and about.get("type") == "file":
                stamp = next((str(about[field]) for field in STAMPS if about.get(field)), None)
                yield Object(name[len(start) :], int(about.get("size") or 0), stamp)

    def is_file(self) -> bool:
        """Whether there is an object at exactly this address."""
        with self._faults("be read"):
            try:
                return bool(self._fs.info(self._root)["type"] == "file")
            except FileNotFoundError:
                return False

    def stamp(self, name: str) -> str | None:
        """A stamp that distinguishes the current version of an object from earlier ones."""
        with self._faults("be read", name):
            about = self._fs.info(self._at(name))
        return next((str(about[field]) for field in STAMPS if about.get(field)), None)

    def get(self, name: str) -> bytes | None:
        """The content of an object; None if it does not exist."""
        with self._faults("be read", name):
            try:
                return bytes(self._fs.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def get_file(self, name: str, path: Path) -> bool:
        """Download an object to a file. Returns False if the object no longer exists."""
        with self._faults("be read", name):
            try:
                self._fs.get_file(self._at(name), str(path))
            except FileNotFoundError:
                return False
        return True

    def put(self, name: str, data: bytes) -> None:
        """Replace an object. Readers see either the old object or the complete new one."""
        with self._faults("be written", name):
            self._fs.pipe_file(self._at(name), data)

    def put_file(self, name: str, path: Path) -> None:
        """Replace an object with the content of a file. A large file is uploaded in parts, and the
        old object remains until the last part has arrived."""
        with self._faults("be written", name):
            self._fs.put_file(str(path), self._at(name))

    def create(self, name: str, data: bytes) -> bool:
        """Create an object. Returns False if an object of this name exists, even if that object was
        created a moment ago."""
        with self._faults("be written", name):
            try:
                self._fs.pipe_file(self._at(name), data, mode="create")
            except FileExistsError:
                return False
        return True

    def remove(self, name: str) -> None:
        """Remove an object if it exists."""
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
        # The packages of stores raise their own exceptions without a common base class. Only their
        # functions are called here.
        except Exception as error:
            raise StoreError(f"{where} cannot {what}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """The message of a store's error. For the most common errors, the message includes a remedy."""
    kind = type(error).__name__
    reason = " ".join(str(error).split()) or kind
    reason = re.sub(r"://[^/\s@]*@", "://", reason)  # the user name and the key in an address
    reason = re.sub(r"(://[^\s?\"']*)\?[^\s\"']*", r"\1", reason)
    remedies = {
        "NoCredentialsError": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.",
        "PermissionError": "Request permission to list, read, and write there.",
        "FileNotFoundError": "Check the bucket's name. The bucket must exist: Snellen "
        "creates no buckets.",
        "NotImplementedError": "The store does not support conditional writes, which runs need.",
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
    """Open the file system of a store. The file system is created only once, since fsspec would
    create another one for each thread.

    Raises:
        UsageError: the package for the store is not installed.
    """
    package = SCHEMES[scheme]
    how = install("s3") if package == "s3fs" else f"pip install {package}"
    try:
        import fsspec

        return fsspec.filesystem(
            scheme, use_listings_cache=False, skip_instance_cache=True, **OPTIONS.get(scheme, {})
        )
    except ImportError as error:
        raise UsageError(f"{scheme}:// needs {package}. Install it: {how}") from error


def in_parallel(tasks: Sequence[Callable[[], None]], threads: int = 8) -> None:
    """Run all tasks, several at a time. If any task failed, raise the first error after all tasks
    have ended."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads, "store") as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()


def say(text: str) -> None:
    """Write a line about the store to standard error."""
    # Text from a store, or from anyone who writes to it, may contain terminal control codes.
    shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:MAX_REASON])
    print(shown, file=sys.stderr, flush=True)
