"""Where what a user names lies: a path as it is, or the mirror of a place on an object store."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from snellen.data import home
from snellen.store._fetched import fetch
from snellen.store._mirror import Mirror, mirror
from snellen.store.finding import runs_below
from snellen.store.manifest import MANIFEST
from snellen.store.mirrored import pull

ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Where a store is that is not the one of that name that everybody means."""
DATA = "data:"
"""The folder for what is fetched as data, among mirrors; no endpoint has this name."""


def mirrors() -> Path:
    """The folder for mirrors of object stores: `SNELLEN_MIRROR`, else one in the cache folder. What
    lies at an endpoint of one's own has a folder of its own: buckets have the same names there."""
    named = os.environ.get("SNELLEN_MIRROR")
    folder = Path(named).expanduser() if named else home() / "mirror"
    endpoint = next((said for name in ENDPOINTS if (said := os.environ.get(name))), "")
    own = urlsplit(endpoint).netloc.rpartition("@")[2]
    return folder / own.replace(":", "_") if own else folder


def place_of(location: str | Path) -> Path:
    """The path of a run, or of a folder of runs; asks no store.

    Raises:
        UsageError: it is an address, and none that can be read.
    """
    return mirror(location, mirrors()) or Path(location)


def data_place_of(location: str | Path) -> Path:
    """The path of rows and of what they name; asks no store. A run's files may be ahead of the
    store's: what is fetched as data, though it be a run, does not lie where runs do.

    Raises:
        UsageError: it is an address, and none that can be read.
    """
    return mirror(location, mirrors() / DATA) or Path(location)


def runs_at(location: str | Path) -> Path:
    """The path of a run, of a folder of runs, or of a file of predictions, up to date.

    Raises:
        UsageError: it is an address, and none that can be read. StoreError: the store cannot be
            read.
    """
    found = mirror(location, mirrors())
    if found is None or found is location:  # where it was named it was brought up to date
        return Path(location) if found is None else found
    pull(found)
    if (found / MANIFEST).exists() or runs_below(found):
        return found
    said = mirror(location, mirrors() / DATA)
    assert said is not None
    fetch(said, alone=True)
    return said if said.exists() else found


def data_at(location: str | Path) -> Path:
    """The path of a file of rows or of a folder of data, up to date.

    Raises:
        UsageError: it is an address, and none that can be read. StoreError: the store cannot be
            read.
    """
    found = data_place_of(location)
    if found is not location and isinstance(found, Mirror):
        fetch(found)
    return found
