"""Downloads one published file into a folder. Resumes interrupted downloads, retries, and checks
digests and disk space.

huggingface_hub is not used because it downloads only from its own hub, and many files are
elsewhere.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import md5, sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal
from urllib.parse import unquote

import orjson

from snellen.data.locations import File
from snellen.errors import DataError, Overloaded, Rejected

if TYPE_CHECKING:
    from snellen.transport import Downloads, FileHead

TRIES = 5
LONGEST_PAUSE = 60.0
"""The longest wait between two tries, in seconds, even if a server asks for a longer wait."""
MOST_UNSAID = 100 << 30
"""The maximum size, in bytes, of a file whose size neither the benchmark nor the server states."""
SPARE = 64 << 20
"""The disk space, in bytes, that must stay free."""
BLOCK = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
HUB = "https://huggingface.co"

Phase = Literal["waiting", "coming", "checking", "unpacking", "there", "failed"]


@dataclass
class FileProgress:
    """The progress of one download."""

    name: str
    """The name of the file."""
    size: int | None = None
    """The size of the file in bytes; None while it is unknown."""
    done: int = 0
    """The number of bytes that have arrived, including `kept`."""
    kept: int = 0
    """The number of bytes that were kept from an earlier, interrupted download."""
    unpacked: int = 0
    """The number of bytes that have been unpacked."""
    phase: Phase = "waiting"
    """The current step."""


@dataclass(frozen=True, kw_only=True)
class Digests:
    """The size and digests of a file."""

    size: int
    """The size in bytes."""
    sha256: str
    """The SHA-256 in lowercase hex."""
    md5: str | None
    """The MD5 in lowercase hex; None if it was not requested."""


# -- addresses


def address(file: File) -> str:
    """The URL of a file. For a file on Hugging Face's hub, the environment variable `HF_ENDPOINT`
    can set a mirror of the hub."""
    hub = _hub(file)
    if hub is None:
        return file.url
    endpoint = os.environ.get("HF_ENDPOINT") or HUB
    repository, revision, path = hub
    return f"{endpoint.rstrip('/')}/datasets/{repository}/resolve/{revision}/{path}"


def in_hub_cache(file: File) -> Path | None:
    """The path of a file in the cache of Hugging Face's own tools; None if the file is not on
    Hugging Face's hub."""
    hub = _hub(file)
    if hub is None:
        return None
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{cache}/huggingface"
    folder = Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()
    repository, revision, path = hub
    return (
        folder
        / f"datasets--{repository.replace('/', '--')}"
        / "snapshots"
        / revision
        / unquote(path)
    )


def _hub(file: File) -> tuple[str, str, str] | None:
    """The repository, revision, and path in an `hf:` address."""
    if not file.url.startswith("hf:"):
        return None
    match = re.fullmatch(r"hf://datasets/([\w.-]+/[\w.-]+)@([0-9a-f]{40})/([^?#]+)", file.url)
    if match is None:
        raise DataError(
            f"{file.name}: {file.url} does not have the form hf://datasets/ORG/NAME@COMMIT/path, "
            "with a commit of 40 digits. A branch is not allowed, since branches change."
        )
    return match[1], match[2], match[3]


# -- words


def expected(file: File) -> str:
    """The published digest of a file, as text for a user who checks the file by hand."""
    if file.sha256 is not None:
        return f"SHA-256 {file.sha256}"
    return "no digest is published" if file.md5 is None else f"MD5 {file.md5}"


def by_hand(file: File, folder: Path, again: str) -> str:
    """Instructions to download the file by hand."""
    return (
        f"To download it by hand, save {address(file)} as {folder / file.name} ({expected(file)}), "
        f"then run `{again}` again."
    )


# -- a file


def digests(
    path: Path, *, with_md5: bool = False, came: Callable[[int], None] = lambda size: None
) -> Digests:
    """Read a file in blocks and compute its digests. `came` is called with the size of each block,
    and may raise an exception to stop.

    Raises:
        DataError: The file cannot be read.
    """
    ours = sha256()
    theirs = md5(usedforsecurity=False) if with_md5 else None
    size = 0
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(BLOCK):
                came(len(block))
                size += len(block)
                ours.update(block)
                if theirs is not None:
                    theirs.update(block)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    return Digests(size=size, sha256=ours.hexdigest(), md5=theirs.hexdigest() if theirs else None)


def difference(file: File, digests: Digests) -> str | None:
    """How a file differs from its published digests and size; None if it does not differ."""
    pairs = (("SHA-256", file.sha256, digests.sha256), ("MD5", file.md5, digests.md5))
    for kind, published, ours in pairs:
        if published is not None and ours != published.lower():
            return f"its {kind} is {ours}, and the published one is {published.lower()}"
    if file.size is not None and digests.size != file.size:
        return f"it has {digests.size:,} bytes, and the published one has {file.size:,}"
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other downloads. Create the folder if necessary.

    Raises:
        DataError: Another process has locked the folder, or the lock file cannot be written or
            locked.
    """
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. To use another folder, set SNELLEN_HOME."
        ) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "another process"
            raise DataError(
                f"{folder}: {holder} is downloading files to this folder. Wait for it, or stop it."
            ) from error
        except OSError as error:
            raise DataError(
                f"{path} cannot be locked: {error.strerror}. "
                "To use another folder, set SNELLEN_HOME."
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
    finally:
        os.close(fd)


class Fetching:
    """Downloads files into one folder. `token` is sent only to Hugging Face's hub. `say` gets
    messages for the user. `again` is the command that resumes the download. `pause` is the wait
    before the second try, in seconds; the wait doubles with each further try."""

    def __init__(
        self,
        downloads: Downloads,
        folder: Path,
        *,
        token: str | None,
        say: Callable[[str], None],
        again: str,
        pause: float,
    ) -> None:
        self._downloads = downloads
        self._folder = folder
        self._token = token
        self._say = say
        self._again = again
        self._pause = pause
        self._coming: dict[str, int] = {}

    async def fetch(self, file: File, progress: FileProgress) -> Path:
        """Download the complete file to a temporary path, and return the path. The digest is not
        checked.

        Raises:
            DataError: The file could not be downloaded. The message states the reason, how many
                bytes are kept, and what to do.
        """
        part = _PartialFile(self._folder / f"{file.name}.part", address(file))
        pause = self._pause
        for left in reversed(range(TRIES)):
            try:
                await self._try(file, part, progress)
                return part.path
            except Rejected as error:
                raise self._failed(file, str(error)) from error
            except Overloaded as error:
                if not left:
                    raise self._failed(file, f"{error} ({TRIES} tries)", part.size) from error
                wait = min(max(pause, error.retry_after or 0.0), LONGEST_PAUSE)
                self._say(
                    f"{file.name}: {error}. Trying again in {wait:g} s; {left} "
                    f"{'tries' if left > 1 else 'try'} left"
                )
                await asyncio.sleep(wait)
                pause *= 2
            except OSError as error:
                if error.errno in FULL:
                    why = f"{part.path} cannot be written: {error.strerror}. Free disk space"
                else:
                    why = f"{part.path} cannot be written: {error.strerror}"
                raise self._failed(file, why, part.size) from error
            finally:
                self._coming.pop(file.name, None)
        raise AssertionError("the last try returns or raises")

    async def _try(self, file: File, part: _PartialFile, progress: FileProgress) -> None:
        progress.phase = "coming"
        start, full_size = part.size, part.full_size
        if start and start == full_size:
            progress.done = progress.kept = start
            return
        url, token = address(file), self._token if _hub(file) else None
        if not part.validator:
            start = 0
        getting = self._downloads.get(url, start=start, validator=part.validator, key=token)
        async with getting as (head, blocks):
            if head.beyond:
                part.forget()
                raise Overloaded(
                    f"the file on the server is now shorter than the {start:,} bytes downloaded so "
                    "far; the download starts over"
                )
            if start and head.start not in (0, start):
                raise Overloaded(
                    f"the server was asked to continue at byte {start:,}, but continued at byte "
                    f"{head.start:,}"
                )
            if head.start and head.validator not in (None, part.validator):
                part.forget()
                raise Overloaded(
                    "the file on the server changed during the download; the download starts over"
                )
            if part.size and not head.start:
                self._say(
                    f"{file.name}: the download starts over ({part.size:,} bytes are discarded). "
                    "The file on the server has changed, or the server cannot resume downloads"
                )
            self._check_size(file, head)
            limit = head.size if head.size is not None else file.size or MOST_UNSAID
            self._check_room(file, limit - head.start if head.size or file.size else 0)
            progress.size = head.size if head.size is not None else file.size
            progress.done = progress.kept = head.start
            with part.writing(head) as out:
                async for block in blocks:
                    out.write(block)
                    progress.done += len(block)
                    self._coming[file.name] = max(0, limit - progress.done)
                    if progress.done > limit:
                        part.forget()
                        raise Rejected(f"{url}: the server sends more than {limit:,} bytes")
        if head.size is not None and progress.done < head.size:
            raise Overloaded(
                f"{url}: the download ended after {progress.done:,} of {head.size:,} bytes"
            )

    def _check_size(self, file: File, head: FileHead) -> None:
        if None not in (file.size, head.size) and file.size != head.size:
            raise Rejected(
                f"{address(file)}: the file on the server has {head.size:,} bytes, but the "
                f"published file has {file.size:,}. The server sends a different file or a web page"
            )

    def _check_room(self, file: File, needed: int) -> None:
        """Check that the disk has room for this file and for the other downloads in progress."""
        free = shutil.disk_usage(self._folder).free - sum(self._coming.values()) - SPARE
        if needed > free:
            raise Rejected(
                f"the download needs {needed:,} more bytes, but the disk of {self._folder} has "
                f"only {max(0, free):,} free. Free disk space, or set SNELLEN_HOME to a folder on "
                "another disk"
            )
        self._coming[file.name] = needed

    def _failed(self, file: File, why: str, kept: int = 0) -> DataError:
        held = ""
        if kept:
            held = f" {kept:,} bytes are kept. Run `{self._again}` to continue from there."
        return DataError(
            f"{file.name}: {why.rstrip('.')}.{held} {by_hand(file, self._folder, self._again)}"
        )


class _PartialFile:
    """The part of a file that has arrived so far. A note file next to the part records the URL and
    the version of the file; without this note file, the download cannot be resumed."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path
        self._note = path.with_name(f"{path.name}.json")
        self._url = url
        self.validator: str | None = None
        self.full_size: int | None = None
        try:
            note = orjson.loads(self._note.read_bytes())
            if note["url"] == url:
                self.validator, self.full_size = note["validator"], note["size"]
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
            pass  # the note is missing or damaged: the download starts over

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def forget(self) -> None:
        """Delete the part and its note."""
        self.validator = self.full_size = None
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    @contextmanager
    def writing(self, head: FileHead) -> Iterator[BinaryIO]:
        """Open the part for appending, or start over if the server sends the file from its first
        byte. When the `with` block ends without an error, the data is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not head.start:
            self.forget()
            self.validator, self.full_size = head.validator, head.size
            note = {"url": self._url, "validator": self.validator, "size": self.full_size}
            self._note.write_bytes(orjson.dumps(note))
        with open(self.path, "ab") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
