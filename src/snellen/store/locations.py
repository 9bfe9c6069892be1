"""Finds the path for a location that the user passed: the path itself, or the mirror of an
address."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from snellen.home import home
from snellen.store._fetched import fetch
from snellen.store._mirror import Mirror, mirror
from snellen.store.finding import runs_below
from snellen.store.manifest import MANIFEST
from snellen.store.mirrored import pull

ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""The environment variables that set a private endpoint instead of a store's public endpoint."""
DATA = "data:"
"""The name of the folder that contains the mirrors of data. No folder of a private endpoint has
this name, because colons are replaced in the names of those folders."""


def mirrors() -> Path:
    """The folder for mirrors of object stores: `SNELLEN_MIRROR`, or else `mirror` in the cache
    folder. Each private endpoint has its own folder, since different endpoints may have buckets of
    the same name."""
    override = os.environ.get("SNELLEN_MIRROR")
    folder = Path(override).expanduser() if override else home() / "mirror"
    endpoint = next((address for name in ENDPOINTS if (address := os.environ.get(name))), "")
    own = urlsplit(endpoint).netloc.rpartition("@")[2]
    return folder / own.replace(":", "_") if own else folder


def path_of(location: str | Path) -> Path:
    """The local path of a run or a folder of runs. This function does not contact any store.

    Raises:
        UsageError: the location is an address that is not valid.
    """
    return mirror(location, mirrors()) or Path(location)


def data_path(location: str | Path) -> Path:
    """The local path of rows and of the files that they refer to. This function does not contact
    any store. Data has separate mirrors. Even if the data is a run, the run's own mirror is not
    used, since it may contain lines that are not in the store yet.

    Raises:
        UsageError: the location is an address that is not valid.
    """
    return mirror(location, mirrors() / DATA) or Path(location)


def runs_at(location: str | Path) -> Path:
    """Update the mirror of a run, a folder of runs, or a file of predictions, and return its local
    path.

    Raises:
        UsageError: the location is an address that is not valid.
        StoreError: the store cannot be read.
    """
    path = mirror(location, mirrors())
    if path is None or path is location:  # the mirror was already updated
        return Path(location) if path is None else path
    pull(path)
    if (path / MANIFEST).exists() or runs_below(path):
        return path
    fetched = mirror(location, mirrors() / DATA)
    assert fetched is not None
    fetch(fetched, alone=True)
    return fetched if fetched.exists() else path


def data_at(location: str | Path) -> Path:
    """Update the mirror of a file of rows or a folder of data, and return its local path.

    Raises:
        UsageError: the location is an address that is not valid.
        StoreError: the store cannot be read.
    """
    path = data_path(location)
    if path is not location and isinstance(path, Mirror):
        fetch(path)
    return path
