"""Checks a benchmark's files against their published digests and the records of their download."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from snellen.data.download import Digests, difference, digests
from snellen.data.file_records import Known, groups_of, is_same, known, members_of, size_of
from snellen.data.locations import DataFile, File, looked_up
from snellen.data.mismatches import NOT_PUBLISHED, OTHER_NAME
from snellen.data.row_index import identity as identity_of
from snellen.home import home

MOST_COMPARED = 500_000_000
"""The maximum size, in bytes, of a file that is compared with its published digest before a run."""


def mismatch(data_file: DataFile) -> str | None:
    """Compare the data file with the published files, and return a sentence if it is not the file
    that the benchmark reads with its options: its digest differs, it is another published file,
    such as that of another split, or it was passed under another name. Return None if the digest
    is right, if the name is right and no digest is published, or if the file is too large for this
    check (`verify` checks files of any size).

    Raises:
        DataError: The file does not exist or cannot be read.
    """
    path = data_file.path
    size = path.stat().st_size
    names = [*dict.fromkeys(Path(name).name for name in data_file.names)]
    own = [file for file in data_file.published if Path(file.name).name in names]
    same_name = next((file for file in own if Path(file.name).name == path.name), None)
    candidates = [
        file
        for file in data_file.published
        if _vouched(file) and (file is same_name or file.size == size)
    ]
    if candidates and size <= MOST_COMPARED:
        actual = _digests(path, with_md5=any(file.md5 for file in candidates))
        match = next((file for file in candidates if difference(file, actual) is None), None)
        if match in own:
            return None
        if match is not None:
            expected = own[0].name if own else names[0]
            return f"{path}{NOT_PUBLISHED}{expected}: it is the published {match.name}"
        if same_name in candidates:
            return f"{path}{NOT_PUBLISHED}{same_name.name}: {difference(same_name, actual)}"
    if data_file.data == path and path.name not in names:
        listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        return f"{path}{OTHER_NAME} of {data_file.benchmark} ({listed})"
    return None


def _digests(path: Path, *, with_md5: bool) -> Digests:
    """The digests of a file, which are stored until the file changes."""
    identity = [str(candidate) for candidate in identity_of(path)]
    name = blake2b(identity[0].encode(), digest_size=16).hexdigest()
    kept = home() / "index" / f"{name}.json"
    try:
        known = msgspec.json.decode(kept.read_bytes(), type=_Compared)
    except (OSError, msgspec.DecodeError):
        known = None
    if known is None or known.identity != identity or (with_md5 and known.digests.md5 is None):
        known = _Compared(identity=identity, digests=digests(path, with_md5=with_md5))
        with suppress(OSError):  # then the next check computes the digests again
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(msgspec.json.encode(known))
    return known.digests


class _Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of a file, stored by an earlier check."""

    identity: list[str]
    digests: Digests


State = Literal["ok", "wrong", "missing", "unknown"]


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """The result of checking one file."""

    name: str
    """The name of the file."""
    state: State
    """`ok`, `wrong`, `missing`, or `unknown` (no digest is published, and the file was not
    downloaded with `snellen data get`)."""
    path: Path | None = None
    """The path of the file; None if it is missing."""
    why: str = ""
    """The reason for the state."""


def verify(files: Sequence[File], folders: Sequence[Path]) -> list[FileCheck]:
    """Check all published files, all files that `files.json` in the first folder lists, and the
    unpacked members of archives. A published file is checked in the first folder that has it. All
    intact members of an archive are reported together as one check.

    Raises:
        DataError: A file cannot be read, or `files.json` is damaged.
    """
    folder = folders[0]
    records = known(folder)
    published = {file.name: file for file in files}
    opened = {name for name in records if name not in published and records[name].members}
    for group in groups_of(files).values():
        if members_of(group, records):
            opened |= {file.name for file in group}
    checked = []
    for name in dict.fromkeys([*published, *records]):
        file, record = published.get(name), records.get(name)
        path = looked_up(folders, [name])
        if path is not None:
            ours = record if path == folder / name else None
            checked.append(_compared(name, path, file, ours, opened=name in opened))
        elif name not in opened and not (record and record.members):
            checked.append(FileCheck(name=name, state="missing"))
        if record is not None and record.members:
            if name in opened:
                checked += _compared_members(record, folder)
            else:
                why = f"the files unpacked from it are outdated: the archive {_older(record)}"
                checked.append(FileCheck(name=name, state="wrong", path=folder, why=why))
    return checked


def _compared(
    name: str, path: Path, file: File | None, record: Known | None, *, opened: bool
) -> FileCheck:
    actual = digests(path, with_md5=file is not None and file.md5 is not None)
    if why := _fault(file, record, actual, opened=opened):
        return FileCheck(name=name, state="wrong", path=path, why=why)
    if record is None and not _vouched(file):
        why = "no digest is published, and it was not downloaded with `snellen data get`"
        return FileCheck(name=name, state="unknown", path=path, why=why)
    return FileCheck(name=name, state="ok", path=path)


def _fault(file: File | None, record: Known | None, actual: Digests, *, opened: bool) -> str | None:
    """What is wrong with an existing file; None if it is intact. `opened` means that the file is an
    archive whose members are unpacked."""
    if file is not None and (why := difference(file, actual)):
        return why
    if record is not None and actual.sha256 != record.sha256:
        return f"its SHA-256 is {actual.sha256}, but was {record.sha256} when it was downloaded"
    if file is not None and record is not None and not (_vouched(file) or is_same(file, record)):
        return f"it {_older(record)}"
    archive = file.unpack if file is not None else record is not None and record.passing
    if archive and not opened:
        return "it was not unpacked completely; run `snellen data get` to unpack it"
    return None


def _vouched(file: File | None) -> bool:
    return file is not None and bool(file.md5 or file.sha256)


def _older(record: Known) -> str:
    return (
        f"came from {record.url} and may not be the version that is published now; run "
        "`snellen data get` to download that version"
    )


def _compared_members(record: Known, folder: Path) -> list[FileCheck]:
    wrong = []
    for name, (size, sha) in record.members.items():
        path = folder / name
        came = f"it was unpacked from {record.name}"
        if not path.is_file():
            wrong.append(FileCheck(name=name, state="missing", why=came))
        elif size_of(path) != size or digests(path).sha256 != sha:
            why = f"{came} and has changed since"
            wrong.append(FileCheck(name=name, state="wrong", path=path, why=why))
    right = len(record.members) - len(wrong)
    summary = f"{right:,} of {len(record.members):,} files unpacked from it are unchanged"
    state: State = "ok" if not wrong else "wrong"
    return [FileCheck(name=record.name, state=state, path=folder, why=summary), *wrong]
