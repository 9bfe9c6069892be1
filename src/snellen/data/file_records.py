"""The records of downloaded files in `files.json`, next to the files.

A record has the name, the URL, the size, our SHA-256, the published MD5, and the time; for an
archive also the members. Archives may come in parts.
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
    """The address that it came from."""
    size: int
    """Its size in bytes."""
    sha256: str
    """Its SHA-256."""
    md5: str | None = None
    """Its MD5, if it is published."""
    when: str = ""
    """The time of the download."""
    members: dict[str, tuple[int, str]] = {}
    """The size and SHA-256 of each file in an archive, by name."""
    passing: bool = False
    """Whether it is an archive that is deleted after it is unpacked."""


class _FileList(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal[1] = 1
    files: list[Known] = []


def known(folder: Path) -> dict[str, Known]:
    """The records in a folder by name; empty if there are none.

    Raises:
        DataError: the list is damaged or newer than this version.
    """
    path = folder / LIST
    try:
        listed = msgspec.json.decode(path.read_bytes(), type=_FileList)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(
            f"{path} cannot be read: {error}. Take it away, and `snellen data get` writes it anew."
        ) from error
    return {record.name: record for record in listed.files}


def write_down(folder: Path, entries: Mapping[str, Known]) -> None:
    listed = _FileList(files=[entries[name] for name in sorted(entries)])
    with placed(folder / LIST) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=1))


def members_of(group: Sequence[File], records: Mapping[str, Known]) -> dict[str, tuple[int, str]]:
    """The members of an archive, from the record of its first part; empty if it was not unpacked
    completely, or if it is not the currently published one."""
    for file in group:
        record = records.get(file.name)
        if record is None or not is_same(file, record):
            return {}
    return records[group[0].name].members


def is_same(file: File, record: Known) -> bool:
    """Whether a record is of the currently published file."""
    same_digests = file.md5 == record.md5 and file.sha256 in (None, record.sha256)
    return record.url == file.url and same_digests


def size_of(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


# -- archives in parts


def groups_of(files: Sequence[File]) -> dict[str, list[File]]:
    """Files by archive: the parts of an archive together and in order, and any other file alone."""
    groups: dict[str, list[File]] = {}
    for file in files:
        groups.setdefault(archive_name(file), []).append(file)
    return {name: sorted(group, key=_part) for name, group in groups.items()}


def archive_name(file: File) -> str:
    """The name of the archive of a part that is unpacked: `x.zip`."""
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
    """The files with these names, with all parts of an archive; all files if no name is given.

    Raises:
        DataError: there is no file of one of the names.
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
            raise DataError(f"no published file {name!r}; there are {', '.join(groups)}.")
        chosen += groups[archive_name(matches[0])]
    return [file for file in files if file in chosen]
