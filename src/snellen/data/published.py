"""A benchmark's published files: getting them, checking them, saying where they are.

What came is written down beside it, in `files.json`: name, address, size, our SHA-256, the MD5 as
published, when; and of an archive the same of every member. An archive that was fetched goes once
its members are there.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from snellen.data._find import File, Found, data_folder, folders, home, looked_up
from snellen.data._placed import placed
from snellen.data.download import (
    Digests,
    Fetching,
    FileProgress,
    address,
    by_hand,
    difference,
    digests,
    expected,
    in_hub_cache,
    locked,
)
from snellen.data.row_index import identity as identity_of
from snellen.errors import DataError

if TYPE_CHECKING:
    from snellen.data.archive import Member

__all__ = [
    "Digests",
    "File",
    "FileCheck",
    "FileProgress",
    "Known",
    "address",
    "data_folder",
    "difference",
    "digests",
    "expected",
    "folders",
    "get",
    "in_hub_cache",
    "known",
    "looked_up",
    "mismatch",
    "only",
    "verify",
]

AT_ONCE = 4
MOST_COMPARED = 500_000_000
"""Bytes of a file that is compared with what is published before its first question is asked."""
LIST = "files.json"
OFTEN = 0.25
"""Seconds between two reports of progress."""
_PART = re.compile(r"(.+)\.(?:part[-_]?)?(\d{1,4}|[a-z]{1,3})", re.ASCII)
_WHOLE = re.compile(r".+\.(?:zip|tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz))", re.ASCII)


# -- files.json


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
    return {one.name: one for one in listed.files}


def _write_down(folder: Path, entries: Mapping[str, Known]) -> None:
    listed = _FileList(files=[entries[name] for name in sorted(entries)])
    with placed(folder / LIST) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=1))


# -- archives in parts


def _groups(files: Sequence[File]) -> dict[str, list[File]]:
    """Files by what they are part of: the parts of one archive together and in order, any other
    file alone."""
    groups: dict[str, list[File]] = {}
    for file in files:
        groups.setdefault(_whole(file), []).append(file)
    return {name: sorted(group, key=_part) for name, group in groups.items()}


def _whole(file: File) -> str:
    """`x.zip` for the parts of it that are to be unpacked."""
    part = _PART.fullmatch(file.name)
    if part and file.unpack and not _WHOLE.fullmatch(file.name) and _WHOLE.fullmatch(part[1]):
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
    groups = _groups(files)
    for name in dict.fromkeys(names):
        found = [
            file for whole, group in groups.items() for file in group if name in (whole, file.name)
        ]
        if not found:
            raise DataError(f"no published file {name!r}; there are {', '.join(groups)}.")
        chosen += groups[_whole(found[0])]
    return [file for file in files if file in chosen]


# -- get


async def get(
    files: Sequence[File],
    folder: Path,
    *,
    again: str,
    token: str | None = None,
    say: Callable[[str], None] = lambda text: None,
    report: Callable[[Sequence[FileProgress]], None] = lambda progress: None,
    pause: float = 1.0,
) -> list[Known]:
    """The files, each whole and as published, in the folder; those that are there are not fetched.

    Four come at once. `again` is the command that goes on, `token` the hub's. `say` gets what a
    person should hear, `report` four times a second how far each file is. `pause` is the seconds
    before a second try.

    Raises:
        DataError: at least one could not be had; says of each why, and what to do. The others are
            there.
    """
    from snellen.transport import Downloads

    # In this order: no thread may be at the files when others may get them.
    with locked(folder), ThreadPoolExecutor(AT_ONCE) as threads:
        records = known(folder)
        downloads = Downloads()
        fetching = Fetching(downloads, folder, token=token, say=say, again=again, pause=pause)
        getting = _Getting(files, folder, records, fetching, threads, say, again)
        telling = asyncio.create_task(_tell(getting.progress, report))
        try:
            await getting.all()
        finally:
            getting.over = True
            telling.cancel()
            await downloads.close()
            report(getting.progress)
    return [getting.known[file.name] for file in files]


async def _tell(
    progress: Sequence[FileProgress], report: Callable[[Sequence[FileProgress]], None]
) -> None:
    while True:
        report(progress)
        await asyncio.sleep(OFTEN)


class _Getting:
    """One call of `get`."""

    def __init__(
        self,
        files: Sequence[File],
        folder: Path,
        records: dict[str, Known],
        fetching: Fetching,
        threads: Executor,
        say: Callable[[str], None],
        again: str,
    ) -> None:
        self.known = records
        self.over = False
        self._progress = {file.name: FileProgress(file.name, file.size) for file in files}
        self.progress = [*self._progress.values()]
        self._groups = _groups(files)
        self._folder = folder
        self._fetching = fetching
        self._threads = threads
        self._say = say
        self._again = again
        self._places = asyncio.Semaphore(AT_ONCE)

    async def all(self) -> None:
        await _together([self._group(group) for group in self._groups.values()])

    async def _group(self, group: Sequence[File]) -> None:
        first = group[0]
        if first.unpack and self._unpacked(group):
            self._drop(group)
            for file in group:
                self._progress[file.name].phase = "there"
            return
        await _together([self._one(file) for file in group])
        if first.unpack:
            async with self._places:
                await self._members(group)

    async def _one(self, file: File) -> None:
        progress = self._progress[file.name]
        try:
            if not await self._there(file, self._folder / file.name):
                async with self._places:
                    await self._fetch(file, self._folder / file.name, progress)
            progress.phase = "there"
        except DataError:
            progress.phase = "failed"
            raise
        except OSError as error:
            progress.phase = "failed"
            raise DataError(
                f"{file.name}: the download cannot be moved to {self._folder / file.name}: "
                f"{error.strerror or error}. The downloaded data is kept. Run `{self._again}` to "
                "continue. To use another folder, set SNELLEN_HOME."
            ) from error

    async def _there(self, file: File, path: Path) -> bool:
        """Whether what lies there is the file; one that somebody put there has to be."""
        if not path.is_file():
            return False
        record = self.known.get(file.name)
        if record is not None and _same(file, record) and _size(path) == record.size:
            return True
        if record is not None and not (file.md5 or file.sha256):
            return False
        found = await self._digests(file, path)
        if why := difference(file, found):
            if record is not None:
                return False
            raise self._wrong(file, f"{path}, which somebody put there,", why)
        self._say(f"{file.name}: was there already, {_as_published(file)}")
        self._record(file, found)
        return True

    async def _fetch(self, file: File, path: Path, progress: FileProgress) -> None:
        if path.is_file():
            os.replace(path, _aside(path))
            self._say(f"{file.name}: what was there is not the file that is wanted: {_aside(path)}")
        cached = in_hub_cache(file)
        if cached is not None and cached.is_file():
            found = await self._digests(file, cached)
            if why := difference(file, found):
                raise self._wrong(file, f"{cached}, in the hub's cache,", why)
            self._record(file, found, passing=file.unpack)
            _linked(cached.resolve(), path)
            self._say(f"{file.name}: taken from {cached}")
        else:
            part = await self._fetching.fetch(file, progress)
            progress.phase = "checking"
            found = await self._digests(file, part)
            note = part.with_name(f"{part.name}.json")
            if why := difference(file, found):
                note.unlink(missing_ok=True)
                os.replace(part, _aside(path))
                raise self._wrong(file, "what came", why, f" It is kept as {_aside(path)}.")
            # Before it has its name, or who killed us would seem to have put it there.
            self._record(file, found, passing=file.unpack)
            os.replace(part, path)
            note.unlink(missing_ok=True)
            self._say(f"{file.name}: {found.size:,} bytes, {_as_published(file)}")

    async def _digests(self, file: File, path: Path) -> Digests:
        taken = partial(digests, path, with_md5=file.md5 is not None, came=self._go_on)
        return await asyncio.get_running_loop().run_in_executor(self._threads, taken)

    def _go_on(self, size: int) -> None:
        """Called in a thread with each block: nobody can stop it but itself."""
        if self.over:
            raise DataError("interrupted")

    def _wrong(self, file: File, what: str, why: str, kept: str = "") -> DataError:
        return DataError(
            f"{file.name}: {what} is not the published file: {why}.{kept} "
            f"{by_hand(file, self._folder, self._again)}"
        )

    def _record(self, file: File, found: Digests, *, passing: bool = False) -> None:
        before = self.known.get(file.name)
        if before is not None and _same(file, before) and before.sha256 != found.sha256:
            self._say(
                f"{file.name}: NOT what came on {before.when[:10]} from the same address: its "
                f"SHA-256 was {before.sha256}, and is {found.sha256}"
            )
        self._write(
            Known(
                name=file.name,
                url=file.url,
                size=found.size,
                sha256=found.sha256,
                md5=file.md5,
                when=datetime.now(UTC).isoformat(timespec="seconds"),
                passing=passing,
            )
        )

    def _write(self, record: Known) -> None:
        self.known[record.name] = record
        _write_down(self._folder, self.known)

    # -- archives

    def _unpacked(self, group: Sequence[File]) -> bool:
        """Whether the members of an archive are all there, as long as they were."""
        members = _came_out(group, self.known)
        return bool(members) and all(
            _size(self._folder / name) == size for name, (size, _) in members.items()
        )

    def _unpack(self, group: Sequence[File]) -> dict[str, Member]:
        """In a thread."""
        from snellen.data.archive import unpack

        progress = self._progress[group[0].name]
        progress.phase = "unpacking"

        def came(size: int) -> None:
            self._go_on(size)
            progress.unpacked += size

        paths = [self._folder / file.name for file in group]
        kept = {*self._progress, LIST, *self.known}
        return unpack(paths, self._folder, kept=kept, came=came)

    async def _members(self, group: Sequence[File]) -> None:
        first, paths = group[0], [self._folder / file.name for file in group]
        try:
            loop = asyncio.get_running_loop()
            members = await loop.run_in_executor(self._threads, self._unpack, group)
        except DataError as error:
            self._progress[first.name].phase = "failed"
            held = " and ".join(map(str, paths))
            raise DataError(
                f"{error}. The archive stays in {held}; delete it to get it anew. Or by hand: "
                f"unpack it into {self._folder}. {by_hand(first, self._folder, self._again)}"
            ) from error
        listed = {name: (one.size, one.sha256) for name, one in members.items()}
        self._write(msgspec.structs.replace(self.known[first.name], members=listed))
        self._drop(group)
        self._progress[first.name].phase = "there"
        self._say(f"{_whole(first)}: {len(members):,} files unpacked into {self._folder}")

    def _drop(self, group: Sequence[File]) -> None:
        """Take away an archive that is unpacked; what a person put there stays."""
        passing = [file.name for file in group if self.known[file.name].passing]
        for name in passing:
            (self._folder / name).unlink(missing_ok=True)
            self.known[name] = msgspec.structs.replace(self.known[name], passing=False)
        if passing:
            _write_down(self._folder, self.known)


async def _together(tasks: Sequence[Coroutine[None, None, None]]) -> None:
    """All of them to their end, and then the errors of all."""
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, DataError):
            raise outcome
    if errors := [str(outcome) for outcome in outcomes if outcome is not None]:
        raise DataError("\n".join(errors))


def _came_out(group: Sequence[File], records: Mapping[str, Known]) -> dict[str, tuple[int, str]]:
    """The members of an archive, which its first part's record has; none where it was not unpacked
    to its end, or is not known to be what is published now."""
    for file in group:
        record = records.get(file.name)
        if record is None or not _same(file, record):
            return {}
    return records[group[0].name].members


def _same(file: File, record: Known) -> bool:
    """Whether a record is of the file that is published now."""
    return (
        record.url == file.url
        and file.md5 == record.md5
        and file.sha256
        in (
            None,
            record.sha256,
        )
    )


def _as_published(file: File) -> str:
    return "as published" if file.sha256 or file.md5 else f"{expected(file)}; ours is in {LIST}"


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.wrong")


def _linked(source: Path, path: Path) -> None:
    """The same file under a second name, or a copy on another disk."""
    with placed(path) as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # of a download that broke off
        try:
            os.link(source, part)
        except OSError:
            shutil.copyfile(source, part)


# -- verify


def mismatch(found: Found) -> str | None:
    """In a sentence, that the file which rows are read from is not the one that is published under
    its name; None where it is, where no digest is published, or where it is too large to be read
    for that (`verify` reads it).

    Raises:
        DataError: it is not there, or cannot be read.
    """
    path = found.path
    file = next((one for one in found.published if Path(one.name).name == path.name), None)
    if file is None or not (file.md5 or file.sha256) or path.stat().st_size > MOST_COMPARED:
        return None
    identity = [str(one) for one in identity_of(path)]
    name = blake2b(identity[0].encode(), digest_size=16).hexdigest()
    kept = home() / "index" / f"{name}.json"
    try:
        known = msgspec.json.decode(kept.read_bytes(), type=_Compared)
    except (OSError, msgspec.DecodeError):
        known = None
    if known is None or known.identity != identity:
        known = _Compared(identity=identity, digests=digests(path, with_md5=file.md5 is not None))
        with suppress(OSError):  # it is compared again, then
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(msgspec.json.encode(known))
    why = difference(file, known.digests)
    return f"{path} is not the published {file.name}: {why}" if why else None


class _Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of a file as it was."""

    identity: list[str]
    digests: Digests


State = Literal["ok", "wrong", "missing", "unknown"]


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """What is to be said about one file: `unknown` is what nobody published a digest of, and did
    not come through `get`."""

    name: str
    state: State
    path: Path | None = None
    why: str = ""


def verify(files: Sequence[File], folders: Sequence[Path]) -> list[FileCheck]:
    """Every published file in the first of the folders that has it, all that the first folder's
    `files.json` lists, and members of archives, read whole; members that are as they came are one
    line.

    Raises:
        DataError: a file cannot be read, or `files.json` is damaged.
    """
    folder = folders[0]
    records = known(folder)
    published = {file.name: file for file in files}
    opened = {name for name in records if name not in published and records[name].members}
    for group in _groups(files).values():
        if _came_out(group, records):
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
                why = f"what came out of it {_older(record)}"
                checked.append(FileCheck(name=name, state="wrong", path=folder, why=why))
    return checked


def _compared(
    name: str, path: Path, file: File | None, record: Known | None, *, opened: bool
) -> FileCheck:
    found = digests(path, with_md5=file is not None and file.md5 is not None)
    if why := _fault(file, record, found, opened=opened):
        return FileCheck(name=name, state="wrong", path=path, why=why)
    if record is None and not _vouched(file):
        why = "nobody published a digest of it, and it did not come through `snellen data get`"
        return FileCheck(name=name, state="unknown", path=path, why=why)
    return FileCheck(name=name, state="ok", path=path)


def _fault(file: File | None, record: Known | None, found: Digests, *, opened: bool) -> str | None:
    """What is wrong with a file that is there; `opened`: what came out of it is there too."""
    if file is not None and (why := difference(file, found)):
        return why
    if record is not None and found.sha256 != record.sha256:
        return f"its SHA-256 is {found.sha256}, and was {record.sha256} when it came"
    if file is not None and record is not None and not (_vouched(file) or _same(file, record)):
        return f"it {_older(record)}"
    archive = file.unpack if file is not None else record is not None and record.passing
    if archive and not opened:
        return "it was not unpacked to its end: `snellen data get` does that"
    return None


def _vouched(file: File | None) -> bool:
    return file is not None and bool(file.md5 or file.sha256)


def _older(record: Known) -> str:
    return (
        f"came from {record.url}, and is not known to be what is published now: "
        "`snellen data get` gets that"
    )


def _compared_members(record: Known, folder: Path) -> list[FileCheck]:
    wrong = []
    for name, (size, sha) in record.members.items():
        path = folder / name
        came = f"it came out of {record.name}"
        if not path.is_file():
            wrong.append(FileCheck(name=name, state="missing", why=came))
        elif _size(path) != size or digests(path).sha256 != sha:
            why = f"{came}, and is not as it was then"
            wrong.append(FileCheck(name=name, state="wrong", path=path, why=why))
    right = len(record.members) - len(wrong)
    said = f"{right:,} of {len(record.members):,} files that came out of it are as they were"
    state: State = "ok" if not wrong else "wrong"
    return [FileCheck(name=record.name, state=state, path=folder, why=said), *wrong]
