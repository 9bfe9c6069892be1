"""Reads and writes `files.json`, which has a record of every file that was downloaded to the same
folder.

A record has the file's name, URL, size, computed SHA-256, published MD5, and download time. The
record of an archive also lists its members. An archive may consist of several files, its parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from snellen.data._placed import placed
from snellen.data.locations import File
from snellen.errors import DataError

LIST = "files.json"
_PART = re.compile(r"(.+)\.(?:part[-_]?)?(\d{1,4}|[a-z]{1,3})", re.ASCII)
_ARCHIVE = re.compile(r".+\.(?:zip|tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz))", re.ASCII)


class Known(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The record of a downloaded file."""

    name: str
    """The file's name."""
    url: str
    """The URL that the file was downloaded from."""
    size: int
    """The file's size in bytes."""
    sha256: str
    """The file's SHA-256."""
    md5: str | None = None
    """The file's published MD5; None if there is none."""
    when: str = ""
    """The time of the download, in ISO format."""
    members: dict[str, tuple[int, str]] = {}
    """Maps each file in an archive to its size and SHA-256."""
    passing: bool = False
    """Whether the file is an archive that is deleted once it is unpacked."""


class _FileList(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal[1] = 1
    files: list[Known] = []


def known(folder: Path) -> dict[str, Known]:
    """Read the records of a folder, keyed by file name. The result is empty if the folder has no
    records.

    Raises:
        DataError: `files.json` cannot be read, is damaged, or is from a newer version.
    """
    path = folder / LIST
    try:
        listed = msgspec.json.decode(path.read_bytes(), type=_FileList)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(
            f"{path} cannot be read: {error}. Delete it; `snellen data get` then creates it again."
        ) from error
    return {record.name: record for record in listed.files}


def write_down(folder: Path, entries: Mapping[str, Known]) -> None:
    listed = _FileList(files=[entries[name] for name in sorted(entries)])
    with placed(folder / LIST) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=1))


def members_of(group: Sequence[File], records: Mapping[str, Known]) -> dict[str, tuple[int, str]]:
    """The members of an archive, from the record of its first part. The result is empty if the
    archive was not unpacked completely, or if one of its parts is no longer the published
    version."""
    for file in group:
        record = records.get(file.name)
        if record is None or not is_same(file, record):
            return {}
    return records[group[0].name].members


def is_same(file: File, record: Known) -> bool:
    """Whether a record describes the currently published file."""
    same_digests = file.md5 == record.md5 and file.sha256 in (None, record.sha256)
    return record.url == file.url and same_digests


def size_of(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


# -- archives in parts


def groups_of(files: Sequence[File]) -> dict[str, list[File]]:
    """Group files by archive. A group contains all parts of one archive, in order, or a single
    file."""
    groups: dict[str, list[File]] = {}
    for file in files:
        groups.setdefault(archive_name(file), []).append(file)
    return {name: sorted(group, key=_part) for name, group in groups.items()}


def archive_name(file: File) -> str:
    """The name of the archive that a part belongs to: `x.zip` for `x.zip.part1`. For any other
    file, and for a part of an archive that is not unpacked, the result is the file's own name."""
    part = _PART.fullmatch(file.name)
    if part and file.unpack and not _ARCHIVE.fullmatch(file.name) and _ARCHIVE.fullmatch(part[1]):
        return part[1]
    return file.name


def _part(file: File) -> tuple[int, str]:
    """A sort key that puts `part10` after `part9`, and `ba` after `az`."""
    part = _PART.fullmatch(file.name)
    if part is None:
        return 0, file.name
    return (int(part[2]), "") if part[2].isdecimal() else (len(part[2]), part[2])


def only(files: Sequence[File], names: Sequence[str]) -> list[File]:
    """Select files by name. The name of an archive, or of one of its parts, selects all parts of
    the archive. Without names, select all files.

    Raises:
        DataError: One of the names matches no file.
    """
    chosen = [*files] if not names else []
    groups = groups_of(files)
    for name in dict.fromkeys(names):
        matches = [
            file
            for archive, group in groups.items()
            for file in group
            if name in (archive, file.name)
        ]
        if not matches:
            raise DataError(f"no published file is named {name!r}. Files: {', '.join(groups)}.")
        chosen += groups[archive_name(matches[0])]
    return [file for file in files if file in chosen]
