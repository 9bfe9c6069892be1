"""Unpacks zip and tar archives, which may be split into parts, and never writes outside the target
folder.

This module does not use `extractall`, which does not stop zip bombs. Before Python 3.11.13,
`extractall` also does not stop links that lead out of the folder through very long paths
(CVE-2025-4517). Instead, this module creates files and folders one member at a time in a temporary
folder, and moves them to their final location when all are complete. This module never creates
symbolic links.
"""

from __future__ import annotations

import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import IO, Self, cast

from snellen.errors import DataError

MOST_ENTRIES = 1_000_000
MOST_DEPTH = 32
MOST_TIMES, AND_BYTES = 20, 10**9
"""The unpacked size is limited to MOST_TIMES times the archive size, plus AND_BYTES bytes."""
BLOCK = 1 << 20
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a compression method that Python does not support
    ValueError,  # a member name that is not in its declared encoding
)


@dataclass(frozen=True)
class Member:
    """A file from an archive."""

    size: int
    """The file's size in bytes."""
    sha256: str
    """The file's SHA-256, in hexadecimal digits."""


@dataclass(frozen=True)
class _Entry:
    """An entry of an archive. For a file, `source` opens the file. For a link, `link` is the name
    of its target. For a folder, both are None."""

    name: str
    source: Callable[[], IO[bytes]] | None
    link: str | None = None


def unpack(
    parts: Sequence[Path],
    folder: Path,
    *,
    kept: Collection[str] = (),
    came: Callable[[int], None] = lambda size: None,
) -> dict[str, Member]:
    """Unpack the archive that consists of `parts`, and return its members by their path in the
    folder.

    Existing files with the name of a member are replaced. `came` is called with the size of every
    block that was unpacked. A link to an earlier member becomes a hard link to that file.

    Raises:
        DataError: The archive is not a complete zip or tar archive, is encrypted, would replace a
            file in `kept`, has a member or a link outside the folder, or unpacks to more than the
            limit. In these cases, no member is written to the folder.
    """
    name = parts[0].name
    staging = folder / f".{name}.unpacking"
    limit = MOST_TIMES * sum(part.stat().st_size for part in parts) + AND_BYTES
    try:
        shutil.rmtree(staging, ignore_errors=True)  # left by a process that was killed
        staging.mkdir()
        with io.BufferedReader(_Joined(parts), BLOCK) as archive:
            members = _unpacked(archive, name, staging, limit, came)
        for taken in kept:
            if taken in members:
                raise DataError(f"{name}: its member {taken!r} would replace an existing file")
        _moved_in(members, staging, folder)
    except BROKEN as error:
        raise DataError(f"{name} cannot be unpacked: {error}. It may be incomplete") from error
    except OSError as error:
        raise DataError(f"{name} cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return members


def _unpacked(
    archive: IO[bytes], name: str, staging: Path, limit: int, came: Callable[[int], None]
) -> dict[str, Member]:
    members: dict[str, Member] = {}
    total = 0
    for number, entry in enumerate(_entries(archive, name, limit)):
        if number >= MOST_ENTRIES:
            raise DataError(f"{name}: the archive has more than {MOST_ENTRIES:,} members")
        inside = inside_folder(entry.name, name)
        path = staging / inside
        if entry.source is None and entry.link is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        if str(inside) == ".":
            raise DataError(f"{name}: a member has no name")
        path.parent.mkdir(parents=True, exist_ok=True)
        # If a member was appended to the archive again, the last version counts.
        path.unlink(missing_ok=True)
        if entry.source is None:
            target = inside_folder(entry.link or "", name)
            if str(target) not in members:
                raise DataError(
                    f"{name}: {entry.name!r} is a link to {entry.link!r}, which is not an earlier "
                    "file in the archive. Other links are refused because they could lead out of "
                    "the folder"
                )
            os.link(staging / target, path)
            members[str(inside)] = members[str(target)]
            continue
        digest = sha256()
        size = 0
        with entry.source() as source, open(path, "xb", buffering=0) as out:
            while block := source.read(BLOCK):
                size += len(block)
                total += len(block)
                if total > limit:
                    raise _bomb(name, limit)
                digest.update(block)
                written = 0
                while written < len(block):
                    written += out.write(block[written:])
                came(len(block))
        members[str(inside)] = Member(size, digest.hexdigest())
    return members


def _moved_in(members: Collection[str], staging: Path, folder: Path) -> None:
    for name in members:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / name, folder / name)


def inside_folder(entry: str, name: str) -> PurePosixPath:
    """The path of an entry. Raises DataError if the path leads out of the folder, or is not valid
    on every file system."""
    path = PurePosixPath(entry)
    shown = repr(entry if len(entry) <= 80 else f"{entry[:77]}...")
    if path.is_absolute() or ".." in path.parts or "\0" in entry:
        raise DataError(f"{name}: its member {shown} would be outside the folder")
    if len(path.parts) > MOST_DEPTH:
        raise DataError(
            f"{name}: its member {shown} is {len(path.parts):,} folders deep; at most {MOST_DEPTH} "
            "are allowed"
        )
    try:
        longest = max((len(part.encode()) for part in path.parts), default=0)
    except UnicodeEncodeError as error:
        raise DataError(f"{name}: its member {shown} has a name that is not UTF-8") from error
    if longest > 255:
        raise DataError(
            f"{name}: its member {shown} has a name of {longest:,} bytes; at most 255 are allowed"
        )
    return path


def _bomb(name: str, limit: int) -> DataError:
    return DataError(
        f"{name}: the archive unpacks to more than {limit:,} bytes ({MOST_TIMES} times its size "
        f"plus {AND_BYTES:,}). It may be an archive that is made to fill disks"
    )


# -- formats


def _entries(archive: IO[bytes], name: str, limit: int) -> Iterator[_Entry]:
    """The entries of a zip or tar archive. The format is detected from the first bytes only,
    because a tar archive that contains a zip archive may end like a zip archive."""
    start = archive.read(2)
    archive.seek(0)
    return _zip(archive, name, limit) if start == b"PK" else _tar(archive, name, limit)


def _zip(file: IO[bytes], name: str, limit: int) -> Iterator[_Entry]:
    with zipfile.ZipFile(file) as archive:
        listed = archive.infolist()
        if sum(member.file_size for member in listed) > limit:
            raise _bomb(name, limit)
        for member in listed:
            if member.flag_bits & 1:
                raise DataError(
                    f"{name}: {member.filename!r} is encrypted. Unpack it with the password from "
                    "its publishers"
                )
            # The upper half has the file's Unix mode if the archive was created on Unix.
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir():
                yield _Entry(member.filename, None)
            elif kind == stat.S_IFLNK:
                with archive.open(member) as source:
                    target = source.read(4096).decode()
                yield _Entry(member.filename, None, _link_target(member.filename, target))
            elif kind in (0, stat.S_IFREG):
                yield _Entry(member.filename, lambda member=member: archive.open(member))  # type: ignore[misc]
            else:
                raise DataError(f"{name}: {member.filename!r} is neither a file nor a folder")


class _CompleteTar(tarfile.TarInfo):
    """A member of a tar archive. A damaged or missing header raises an error; by default,
    `TarFile.next` would treat it as the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # missing in typeshed
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


def _tar(file: IO[bytes], name: str, limit: int) -> Iterator[_Entry]:
    with tarfile.open(fileobj=file, mode="r:*", tarinfo=_CompleteTar) as archive:
        while (member := archive.next()) is not None:
            # Otherwise the archive keeps all members in memory, a kilobyte each.
            archive.members = []  # type: ignore[attr-defined]
            if member.isdir():
                yield _Entry(member.name, None)
            elif member.issym():
                yield _Entry(member.name, None, _link_target(member.name, member.linkname))
            elif member.islnk():
                yield _Entry(member.name, None, member.linkname)
            elif member.isreg():
                content = cast(IO[bytes], archive.extractfile(member))
                yield _Entry(member.name, lambda content=content: content)  # type: ignore[misc]
            else:
                raise DataError(f"{name}: {member.name!r} is neither a file nor a folder")
        # Read to the end: gzip and xz have their checksum after the last block that tar needs.
        left = cast(IO[bytes], archive.fileobj)
        for _ in range(0, limit, BLOCK):
            if not left.read(BLOCK):
                return
        raise _bomb(name, limit)


def _link_target(name: str, target: str) -> str:
    """Convert the target of a symbolic link, which is relative to the link's folder, to a path
    relative to the top of the archive."""
    if target.startswith("/"):
        return target
    return os.path.normpath(PurePosixPath(name).parent / target)


class _Joined(io.RawIOBase):
    """Several files that are read as if they were one file."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [open(path, "rb", buffering=0) for path in paths]  # noqa: SIM115
        sizes = [os.fstat(file.fileno()).st_size for file in self._files]
        self._ends = [*accumulate(sizes)]
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._ends[-1]}[whence]
        if start + offset < 0:
            raise ValueError("cannot seek to before the start")
        self._at = start + offset
        return self._at

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        number = bisect_right(self._ends, self._at)
        if number == len(self._files):
            return 0
        file = self._files[number]
        file.seek(self._at - (self._ends[number - 1] if number else 0))
        count = file.readinto(buffer) or 0
        self._at += count
        return count

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()
