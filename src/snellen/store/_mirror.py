"""Addresses on object stores, and the local folders that mirror their contents."""

from __future__ import annotations

import re
from pathlib import Path, PosixPath

from snellen.errors import UsageError

SCHEMES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
"""The packages that fsspec needs for addresses on object stores, keyed by the scheme of the
address."""
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/+(.*)", re.DOTALL)
_LONGEST = 255
"""The maximum length, in bytes, that file systems allow for one name."""


class Mirror(PosixPath):
    """A file or folder on this machine that mirrors a file or folder on an object store.

    A mirror is opened like any path. Formatting it (`f"{path}"`) gives the mirrored address, since
    messages should show the address that the user passed. If a message must name the local file,
    use `os.fspath`.
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return format(self.url or str(self), spec)

    @property
    def url(self) -> str | None:
        """The mirrored address: `s3://bucket/a/b` for `<folder>/s3:/bucket/a/b`; None for a path
        above a bucket."""
        for index, part in enumerate(self.parts[:-1]):
            if part.endswith(":") and part[:-1] in SCHEMES:
                return f"{part}//{'/'.join(self.parts[index + 1 :])}"
        return None


def mirror(location: str | Path, folder: Path) -> Mirror | None:
    """Return the mirror, below `folder`, of an address such as `s3://bucket/runs`; None if the
    location is on this machine.

    Raises:
        UsageError: the location is an address that is not valid.
    """
    if isinstance(location, Mirror):
        return location
    match = _ADDRESS.fullmatch(str(location))
    if match is None:
        return None
    scheme, rest = match[1].lower(), match[2]
    if scheme not in SCHEMES:
        return None
    parts = [part for part in rest.split("/") if part]
    if not parts:
        raise UsageError(f"{scheme}:// names no bucket. Write {scheme}://BUCKET/FOLDER.")
    if "@" in parts[0]:
        raise UsageError(
            f"a {scheme}:// address contains a key or a name before an @. Remove it. "
            f"{SCHEMES[scheme]} finds credentials in the environment and in its profile files."
        )
    for part in parts:
        if not is_name(part):
            raise UsageError(
                f"{scheme}://{'/'.join(parts)}: {part[:80]!r} cannot be the name of a folder."
            )
    return Mirror(folder.absolute(), f"{scheme}:", *parts)


def is_address(location: str) -> bool:
    """Whether a location is an address on an object store."""
    match = _ADDRESS.fullmatch(location)
    return match is not None and match[1].lower() in SCHEMES


def is_name(part: str) -> bool:
    """Whether a part of an object's name can be used unchanged as a file name."""
    if part in ("", ".", "..") or any(ord(sign) < 32 for sign in part):
        return False
    try:
        return len(part.encode()) <= _LONGEST
    except UnicodeEncodeError:
        return False
