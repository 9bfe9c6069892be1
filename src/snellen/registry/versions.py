"""Looks up the versions of installed packages without `importlib.metadata`, whose import and parser
take 10 ms of each start."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

SUFFIX = ".dist-info"
FIELD = "Version: "


def installed_versions(packages: Collection[str]) -> dict[str, str]:
    """Return the versions of these packages, whose names are in lowercase and without hyphens.

    Raises:
        importlib.metadata.PackageNotFoundError: a package is not installed.
    """
    versions: dict[str, str] = {}
    for package, folder in _packages():
        if package in packages and package not in versions:
            version = _version_in(folder / "METADATA")
            if version is not None:
                versions[package] = version
    return {package: versions.get(package) or _slowly(package) for package in packages}


def _packages() -> Iterator[tuple[str, Path]]:
    """The packages on Python's path, in its order: their names, and the folders that describe
    them."""
    for folder in sys.path:
        with suppress(OSError):  # an archive, or a folder that does not exist
            for name in os.listdir(folder or "."):
                if name.endswith(SUFFIX):
                    yield name.partition("-")[0].lower(), Path(folder, name)


def _version_in(file: Path) -> str | None:
    """The version in a package's description; None if it cannot be read."""
    with suppress(OSError), file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(FIELD):
                return line.removeprefix(FIELD).strip()
            if not line.strip():  # the end of the fields
                break
    return None


def _slowly(package: str) -> str:
    """The version of a package that is not in a folder, such as one in an archive."""
    from importlib import metadata

    return metadata.version(package)
