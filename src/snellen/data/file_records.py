"""What is written down of a benchmark's published files, beside them in `files.json`.

Of a file that came: name, address, size, our SHA-256, the MD5 as published, when; and of an archive
the same of every member. Archives may come in parts.
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
    """A file that came, as it is written down. `members`: size and SHA-256 of what was in it.
    `passing`: an archive that was fetched and is to go once it is unpacked, should the process be
    killed before."""

    name: str
    url: str
    size: int
    sha256: str
    md5: str | None = None
    when: str = ""
    members: dict[str, tuple[int, str]] = {}
    passing: bool = False


class _FileList(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal[1] = 1
    files: list[Known] = []


def known(folder: Path) -> dict[str, Known]:
    """What is written down in a folder, by name; nothing where nothing is.

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
    """The members of an archive, which its first part's record has; none where it was not unpacked
    to its end, or is not known to be what is published now."""
    for file in group:
        record = records.get(file.name)
        if record is None or not is_same(file, record):
            return {}
    return records[group[0].name].members


def is_same(file: File, record: Known) -> bool:
    """Whether a record is of the file that is published now."""
    same_digests = file.md5 == record.md5 and file.sha256 in (None, record.sha256)
    return record.url == file.url and same_digests


def size_of(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


# -- archives in parts


def groups_of(files: Sequence[File]) -> dict[str, list[File]]:
    """Files by what they are part of: the parts of one archive together and in order, any other
    file alone."""
    groups: dict[str, list[File]] = {}
    for file in files:
        groups.setdefault(archive_name(file), []).append(file)
    return {name: sorted(group, key=_part) for name, group in groups.items()}


def archive_name(file: File) -> str:
    """`x.zip` for the parts of it that are to be unpacked."""
    part = _PART.fullmatch(file.name)
    if part and file.unpack and not _ARCHIVE.fullmatch(file.name) and _ARCHIVE.fullmatch(part[1]):
        return part[1]
    return file.name


def _part(file: File) -> tuple[int, str]:
    """`part10` after `part9`, `ba` after `az`."""
    part = _PART.fullmatch(file.name)
    if part is None:
        return 0, file.name
    return (int(part[2]), "") if part[2].isdecimal() else (len(part[2]), part[2])


def only(files: Sequence[File], names: Sequence[str]) -> list[File]:
    """The files of these names, an archive's parts all together; all of them where none is named.

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
