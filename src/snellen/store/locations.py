"""Finds the path for a location that a user names: the path itself, or the mirror of an address."""

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
"""The variables that name an endpoint other than the public one of a store."""
DATA = "data:"
"""The folder for data among the mirrors. No endpoint has this name."""


def mirrors() -> Path:
    """The folder for mirrors of object stores: `SNELLEN_MIRROR`, else one in the cache folder. Each
    private endpoint has its own folder, since its buckets may have the same names."""
    override = os.environ.get("SNELLEN_MIRROR")
    folder = Path(override).expanduser() if override else home() / "mirror"
    endpoint = next((address for name in ENDPOINTS if (address := os.environ.get(name))), "")
    own = urlsplit(endpoint).netloc.rpartition("@")[2]
    return folder / own.replace(":", "_") if own else folder


def path_of(location: str | Path) -> Path:
    """The path of a run, or of a folder of runs. Contacts no store.

    Raises:
        UsageError: it is an address that cannot be read.
    """
    return mirror(location, mirrors()) or Path(location)


def data_path(location: str | Path) -> Path:
    """The path of rows and of the files that they name. Contacts no store. A run's files may be
    ahead of the store's, so data that happen to be a run are not kept where runs are.

    Raises:
        UsageError: it is an address that cannot be read.
    """
    return mirror(location, mirrors() / DATA) or Path(location)


def runs_at(location: str | Path) -> Path:
    """The up-to-date path of a run, of a folder of runs, or of a file of predictions.

    Raises:
        UsageError: it is an address that cannot be read. StoreError: the store cannot be read.
    """
    path = mirror(location, mirrors())
    if path is None or path is location:  # it was updated when it was named
        return Path(location) if path is None else path
    pull(path)
    if (path / MANIFEST).exists() or runs_below(path):
        return path
    fetched = mirror(location, mirrors() / DATA)
    assert fetched is not None
    fetch(fetched, alone=True)
    return fetched if fetched.exists() else path


def data_at(location: str | Path) -> Path:
    """The up-to-date path of a file of rows or of a folder of data.

    Raises:
        UsageError: it is an address that cannot be read. StoreError: the store cannot be read.
    """
    path = data_path(location)
    if path is not location and isinstance(path, Mirror):
        fetch(path)
    return path
