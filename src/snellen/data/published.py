"""Downloads a benchmark's published files, and unpacks archives.

A downloaded archive is deleted once all its members are unpacked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from snellen.data._placed import placed
from snellen.data.download import (
    Digests,
    Fetching,
    FileProgress,
    by_hand,
    difference,
    digests,
    expected,
    in_hub_cache,
    locked,
)
from snellen.data.file_records import (
    LIST,
    Known,
    archive_name,
    groups_of,
    is_same,
    known,
    members_of,
    size_of,
    write_down,
)
from snellen.data.locations import File as File
from snellen.errors import DataError

if TYPE_CHECKING:
    from snellen.data.archive import Member

AT_ONCE = 4
OFTEN = 0.25
"""The time between two progress reports, in seconds."""


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
    """Download the missing files into the folder, and check each against its published digest.

    Up to four downloads run concurrently. `again` is the command that resumes the downloads, and
    `token` is the token for Hugging Face's hub. `say` gets messages for the user. `report` gets the
    progress of all files four times a second. `pause` is the wait before a second try, in seconds.

    Raises:
        DataError: At least one file could not be downloaded. The message says why for each such
            file, and what to do. All other files were downloaded completely.
    """
    from snellen.transport import Downloads

    # The threads must end before the folder is unlocked for other processes.
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
    """Downloads and unpacks the files of one call of `get`."""

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
        self._groups = groups_of(files)
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
        await _together([self._get_file(file) for file in group])
        if first.unpack:
            async with self._places:
                await self._members(group)

    async def _get_file(self, file: File) -> None:
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
        """Whether the file exists and does not need to be downloaded.

        Raises:
            DataError: The file was not downloaded by Snellen, and differs from the published file.
        """
        if not path.is_file():
            return False
        record = self.known.get(file.name)
        if record is not None and is_same(file, record) and size_of(path) == record.size:
            return True
        if record is not None and not (file.md5 or file.sha256):
            return False
        actual = await self._digests(file, path)
        if why := difference(file, actual):
            if record is not None:
                return False
            raise self._wrong(file, f"{path} (which was not downloaded by Snellen)", why)
        self._say(f"{file.name}: already exists, {_as_published(file)}")
        self._record(file, actual)
        return True

    async def _fetch(self, file: File, path: Path, progress: FileProgress) -> None:
        if path.is_file():
            os.replace(path, _aside(path))
            self._say(
                f"{file.name}: the existing file is not the published one; it is kept as "
                f"{_aside(path)}"
            )
        cached = in_hub_cache(file)
        if cached is not None and cached.is_file():
            actual = await self._digests(file, cached)
            if why := difference(file, actual):
                raise self._wrong(file, f"{cached} (in Hugging Face's cache)", why)
            self._record(file, actual, passing=file.unpack)
            _linked(cached.resolve(), path)
            self._say(f"{file.name}: linked or copied from {cached}")
        else:
            part = await self._fetching.fetch(file, progress)
            progress.phase = "checking"
            actual = await self._digests(file, part)
            note = part.with_name(f"{part.name}.json")
            if why := difference(file, actual):
                note.unlink(missing_ok=True)
                os.replace(part, _aside(path))
                kept = f" It is kept as {_aside(path)}."
                raise self._wrong(file, "the downloaded file", why, kept)
            # Record the file before renaming it. If the process were killed between the two steps,
            # the file would otherwise look as if the user had put it there.
            self._record(file, actual, passing=file.unpack)
            os.replace(part, path)
            note.unlink(missing_ok=True)
            self._say(f"{file.name}: {actual.size:,} bytes, {_as_published(file)}")

    async def _digests(self, file: File, path: Path) -> Digests:
        taken = partial(digests, path, with_md5=file.md5 is not None, came=self._go_on)
        return await asyncio.get_running_loop().run_in_executor(self._threads, taken)

    def _go_on(self, size: int) -> None:
        """Called in a thread with the size of each block. Raises DataError once `get` has ended,
        since there is no other way to stop the thread."""
        if self.over:
            raise DataError("interrupted")

    def _wrong(self, file: File, what: str, why: str, kept: str = "") -> DataError:
        return DataError(
            f"{file.name}: {what} is not the published file: {why}.{kept} "
            f"{by_hand(file, self._folder, self._again)}"
        )

    def _record(self, file: File, actual: Digests, *, passing: bool = False) -> None:
        before = self.known.get(file.name)
        if before is not None and is_same(file, before) and before.sha256 != actual.sha256:
            self._say(
                f"{file.name}: NOT the same file as on {before.when[:10]}, although the URL is the "
                f"same: its SHA-256 was {before.sha256} and is now {actual.sha256}"
            )
        self._write(
            Known(
                name=file.name,
                url=file.url,
                size=actual.size,
                sha256=actual.sha256,
                md5=file.md5,
                when=datetime.now(UTC).isoformat(timespec="seconds"),
                passing=passing,
            )
        )

    def _write(self, record: Known) -> None:
        self.known[record.name] = record
        write_down(self._folder, self.known)

    # -- archives

    def _unpacked(self, group: Sequence[File]) -> bool:
        """Whether all members of an archive exist and have their recorded sizes."""
        members = members_of(group, self.known)
        return bool(members) and all(
            size_of(self._folder / name) == size for name, (size, _) in members.items()
        )

    def _unpack(self, group: Sequence[File]) -> dict[str, Member]:
        """Unpack an archive. Runs in a thread."""
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
                f"{error}. The archive is kept as {held}. Delete it to download it again, or "
                f"unpack it into {self._folder} by hand. "
                f"{by_hand(first, self._folder, self._again)}"
            ) from error
        listed = {name: (member.size, member.sha256) for name, member in members.items()}
        self._write(msgspec.structs.replace(self.known[first.name], members=listed))
        self._drop(group)
        self._progress[first.name].phase = "there"
        self._say(f"{archive_name(first)}: {len(members):,} files unpacked into {self._folder}")

    def _drop(self, group: Sequence[File]) -> None:
        """Delete an unpacked archive if it was downloaded. An archive that the user supplied is
        kept."""
        passing = [file.name for file in group if self.known[file.name].passing]
        for name in passing:
            (self._folder / name).unlink(missing_ok=True)
            self.known[name] = msgspec.structs.replace(self.known[name], passing=False)
        if passing:
            write_down(self._folder, self.known)


async def _together(tasks: Sequence[Coroutine[None, None, None]]) -> None:
    """Wait for all tasks. If a task raised an error other than DataError, raise the first such
    error. If tasks raised only DataErrors, raise one DataError with all their messages."""
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, DataError):
            raise outcome
    if errors := [str(outcome) for outcome in outcomes if outcome is not None]:
        raise DataError("\n".join(errors))


def _as_published(file: File) -> str:
    if file.sha256 or file.md5:
        return "digest as published"
    return f"{expected(file)}; the computed digest is in {LIST}"


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.wrong")


def _linked(source: Path, path: Path) -> None:
    """Create `path` as a hard link to `source`, or as a copy if no link can be created."""
    with placed(path) as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # left by an interrupted download
        try:
            os.link(source, part)
        except OSError:
            shutil.copyfile(source, part)
