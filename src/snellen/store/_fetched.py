"""Downloads data files from an object store to a mirror, and downloads them again if they
change."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from functools import partial

import msgspec

from snellen.store._faults import store_error
from snellen.store._mirror import Mirror, is_name
from snellen.store.folder import Folder
from snellen.store.locks import exclusive
from snellen.store.remote import Object, Remote, in_parallel

FETCHED = ".fetched.json"
"""The file that contains the stamp (version) of each object that was downloaded into a folder,
keyed by the object's name."""
MUTEX = ".fetched.lock"


def fetch(path: Mirror, *, alone: bool = False) -> None:
    """Update the mirror of a folder, including all its subfolders. For a file, update the mirror of
    its folder, since rows refer to pictures by relative paths. With `alone`, update only the file
    itself. Files that are no longer in the store are removed from the mirror.

    Raises:
        StoreError: the store cannot be read, or the mirror cannot be written.
    """
    if path.url is None:
        return
    name = path.name
    if Remote(path.url).is_file():
        path = path.parent
    else:
        _remove(path)
        if alone:
            return
    assert path.url is not None, "a file lies in a bucket"
    remote = Remote(path.url)
    below = remote.list(name if alone else "")
    objects = [entry for entry in below if all(map(is_name, entry.name.split("/")))]
    if not objects and not (path / FETCHED).exists():
        return
    folder = Folder.create(path)
    try:
        fd = os.open(path / MUTEX, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(path / MUTEX, "be opened", error) from error
    try:
        exclusive(fd, path / MUTEX)
        _fetch_changed(remote, folder, path, objects, alone=alone)
    finally:
        os.close(fd)


def _remove(path: Mirror) -> None:
    """Remove a file if it exists."""
    try:
        if path.is_file():
            path.unlink(missing_ok=True)
    except OSError as error:
        raise store_error(path, "be removed", error) from error


def _fetch_changed(
    remote: Remote, folder: Folder, path: Mirror, objects: list[Object], *, alone: bool
) -> None:
    raw = folder.get(FETCHED)
    try:
        stamps = {} if raw is None else msgspec.json.decode(raw, type=dict[str, str | None])
    except msgspec.DecodeError:
        stamps = {}  # all files are downloaded again
    there = {entry.name for entry in objects}
    for name in [] if alone else [name for name in stamps if name not in there]:
        del stamps[name]
        if all(map(is_name, name.split("/"))):
            _remove(path / name)
    wanted = [
        entry
        for entry in objects
        if entry.stamp is None
        or stamps.get(entry.name) != entry.stamp
        or not (path / entry.name).exists()
    ]
    if wanted:
        size = sum(entry.size for entry in wanted)
        print(
            f"{path}: downloading {len(wanted):,} files ({size / 1e6:,.1f} MB) to "
            f"{os.fspath(path)}",
            file=sys.stderr,
        )
    try:
        in_parallel([partial(_fetch_object, remote, path, entry, stamps) for entry in wanted])
    finally:
        folder.put_atomic(FETCHED, msgspec.json.encode(stamps))


def _fetch_object(
    remote: Remote, path: Mirror, entry: Object, stamps: dict[str, str | None]
) -> None:
    target = path / entry.name
    fresh = target.with_name(f".{os.getpid()}.{threading.get_ident()}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if remote.get_file(entry.name, fresh):
            fresh.replace(target)
            stamps[entry.name] = entry.stamp
    except OSError as error:
        raise store_error(target, "be written", error) from error
    finally:
        with suppress(NotADirectoryError):  # the folder is a file; this was already reported
            fresh.unlink(missing_ok=True)
