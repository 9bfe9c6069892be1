"""snellen data: published files, and rows packed with their pictures."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from snellen import registry
from snellen.analysis.result import plain
from snellen.cli._complete import benchmarks
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.cli.progress_lines import EVERY, FIRST, can_draw
from snellen.core.benchmark import Benchmark
from snellen.data import Row, download, file_records, locations, published, verification
from snellen.errors import DataError, UsageError
from snellen.media.content import Image
from snellen.store import data_at
from snellen.text.amounts import duration

if TYPE_CHECKING:
    from snellen.data.download import FileProgress
    from snellen.data.locations import File
    from snellen.data.verification import FileCheck

PATH = click.Path(path_type=Path)
here = click.option("--data", type=PATH, metavar="FOLDER", help="The folder, if not in the cache.")


@click.group("data")
def command() -> None:
    """Download, verify, and locate published files; pack rows and pictures.

    Each command takes --json.
    """


@command.command("get")
@click.argument("benchmark", metavar="BENCH", shell_complete=benchmarks)
@click.option("--only", multiple=True, metavar="NAME", help="Only this file; repeatable.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@here
@json_option
def get(benchmark: str, only: tuple[str, ...], yes: bool, data: Path | None, as_json: bool) -> int:
    """Download BENCH's published files into its data folder; the same command resumes."""
    made = registry.benchmark(benchmark)
    files = file_records.only(_files(benchmark, made), only)
    folder = data or locations.data_folder(made.name)
    for line in _offer(made.name, files, folder):
        _say(line)
    if not yes and sys.stdin.isatty():
        click.confirm("Get them?", default=True, abort=True, err=True)
    with _Drawn() as drawn:
        getting = published.get(
            files,
            folder,
            again=_again(benchmark, only, data),
            token=registry.hub_token(),
            say=drawn.say,
            report=drawn,
        )
        records = asyncio.run(getting)
    document = {
        "benchmark": made.name,
        "folder": str(folder),
        "files": [
            {
                "name": one.name,
                "url": one.url,
                "size": one.size,
                "sha256": one.sha256,
                "md5": one.md5,
                "when": one.when,
                "unpacked": len(one.members),
            }
            for one in records
        ],
    }
    if as_json:
        put(document)
    else:
        click.echo(plain(f"{made.name}: all that was asked for is in {folder}"))
    return DONE


@command.command("verify")
@click.argument("benchmark", metavar="BENCH|PATH", shell_complete=benchmarks)
@here
@json_option
def verify(benchmark: str, data: Path | None, as_json: bool) -> int:
    """Compare BENCH's files with their published digests, and with those at download.

    For a BENCH with videos, list the missing ones and count the remaining questions. For rows of
    your own, a file or folder at PATH, give the digests, the numbers of unreadable rows and
    pictures, and the missing videos, and check whether a file with the name of a published one is
    that file.
    """
    from snellen.cli._verify import Videos, videos_of
    from snellen.cli._verify import verify as verify_rows

    if registry.is_rows(benchmark):
        found = verify_rows(data_at(benchmark), data)
        if as_json:
            put(found.document())
        else:
            click.echo("\n".join(map(plain, found.lines())))
        return DONE if found.ok else FELL_SHORT
    made = registry.benchmark(benchmark)
    files = _files(benchmark, made)
    checked = verification.verify(files, _folders(data, made, files))
    videos, unread = Videos(), None
    if made.procedure.frames is not None:
        try:
            videos = videos_of(registry.benchmark(benchmark, data=data))
        except DataError as error:
            unread = str(error)
    fine = all(one.state in ("ok", "unknown") for one in checked)
    fine = fine and not videos.missing and unread is None
    if as_json:
        put(
            {
                "benchmark": made.name,
                "ok": fine,
                "files": [_checked(one) for one in checked],
                "videos": videos.document(),
                "wrong": [unread] if unread else [],
            }
        )
    else:
        width = max(len(one.name) for one in checked)
        for one in checked:
            why = f"  {one.why}" if one.why else ""
            click.echo(plain(f"{one.state:<7}  {one.name:<{width}}  {one.path or ''}{why}"))
        for line in (*videos.lines(), *([f"WRONG: {unread}"] if unread else [])):
            click.echo(plain(line))
    return DONE if fine else FELL_SHORT


@command.command("where")
@click.argument("benchmark", metavar="BENCH", shell_complete=benchmarks)
@here
@json_option
def where(benchmark: str, data: Path | None, as_json: bool) -> int:
    """List the folders that are searched for BENCH's files, in order, and the files found."""
    made = registry.benchmark(benchmark, data=data)
    files = _files(benchmark, made)
    folders = _folders(data, made, files)
    records = file_records.known(folders[0])
    found = []
    for file in files:
        path = locations.looked_up(folders, [file.name])
        record = records.get(file.name)
        cached = download.in_hub_cache(file)
        found.append(
            {
                "name": file.name,
                "url": download.address(file),
                "published": download.expected(file),
                "path": path and str(path),
                "unpacked": len(record.members) if record else 0,
                "in_hub_cache": str(cached) if cached and cached.is_file() else None,
                "note": file.note,
            }
        )
    rows = Path(made.data.where)
    document = {
        "benchmark": made.name,
        "folders": [{"folder": str(one), "exists": one.is_dir()} for one in folders],
        "rows": str(rows) if rows.is_file() else None,
        "files": found,
    }
    if as_json:
        put(document)
    else:
        for line in _where(document):
            click.echo(plain(line))
    return DONE


@command.command("pack")
@click.argument("rows", metavar="[BENCH|ROWS]", required=False)
@click.option("--unpack", "packed", type=PATH, metavar="FILE", help="Unpack FILE.")
@click.option(
    "--to", type=PATH, required=True, help="out.tsv, out.jsonl or out.parquet; a folder to unpack."
)
@here
@json_option
def pack(rows: str | None, packed: Path | None, to: Path, data: Path | None, as_json: bool) -> int:
    """Pack rows and their pictures into one file, or unpack them.

    Pictures are base64 in TSV and JSONL, bytes in parquet. Unpacking makes rows.jsonl and images/.
    """
    from snellen.data import archive_rows

    if (rows is None) == (packed is None):
        raise UsageError("name the rows to pack (a benchmark or a file), or a FILE with --unpack.")
    if packed is not None:
        done = archive_rows.unpack(packed, to)
    else:
        made = registry.benchmark(rows or "", data=data)
        done = archive_rows.pack(lambda: _with_images(made), to)
    if as_json:
        put({"rows": done.rows, "images": done.images, "to": str(to)})
    else:
        click.echo(plain(f"{done.rows:,} rows and {done.images:,} pictures are in {to}"))
    return DONE


def _with_images(made: Benchmark) -> Iterator[tuple[Row, list[Image]]]:
    for row in made.data:
        sample = made.read(row)
        media = sample.media
        images = [_told(one, row, sample.id) for one in media if isinstance(one, Image)]
        if len(images) < len(media):
            where = f"row {row.place + 1} of {made.data.where}"
            raise DataError(f"{where} has a video: only pictures fit.")
        yield row, images


def _told(image: Image, row: Row, id: str) -> Image:
    """A picture whose messages name its row as well as its file."""
    if not isinstance(image.source, Path):
        return image
    return replace(image, place=f"row {row.place + 1} ({id!r}): {image.place or image.source}")


# -- files


def _folders(data: Path | None, made: Benchmark, files: Sequence[File]) -> Sequence[Path]:
    """The folders that are searched for a benchmark's published files."""
    return locations.folders(data, made.name, [file.name for file in files])


def _files(spec: str, made: Benchmark) -> tuple[File, ...]:
    """The published files of a benchmark, for the variant of its options.

    Raises:
        UsageError: there are none.
    """
    found: tuple[File, ...] = ()
    if "columns" not in made.provenance.options:  # rows of the user's own publish nothing
        module = importlib.import_module(f"snellen.benchmarks.{made.name.replace('-', '_')}")
        found = getattr(module, "FILES_PUBLISHED", ())
        if make := getattr(module, "published", None):
            known = inspect.signature(make).parameters
            found = make(
                **{name: value for name, value in made.provenance.options.items() if name in known}
            )
    if not found:
        raise UsageError(
            f"{made.name} has no published files, so there is nothing to download or verify."
        )
    return found


def _again(benchmark: str, only: Sequence[str], data: Path | None) -> str:
    words = ["snellen", "data", "get", benchmark]
    for name in only:
        words += ["--only", name]
    return shlex.join(words if data is None else [*words, "--data", str(data)])


# -- lines


def _offer(name: str, files: Sequence[File], folder: Path) -> list[str]:
    sizes = [file.size for file in files]
    said = sum(size or 0 for size in sizes)
    total = megabytes(said)
    if None in sizes:
        total = f"more than {total}" if said else "of unknown size"
    lines = [f"{name}: {len(files):,} file{'s' * (len(files) != 1)}, {total}, into {folder}"]
    for file in files:
        size = "" if file.size is None else f", {megabytes(file.size)}"
        lines.append(f"  {file.name}{size}: {download.address(file)}")
        lines += [f"    {file.note}"] if file.note else []
    return lines


def _checked(one: FileCheck) -> dict[str, Any]:
    path = None if one.path is None else str(one.path)
    return {"name": one.name, "state": one.state, "path": path, "why": one.why}


def _where(document: Mapping[str, Any]) -> list[str]:
    lines = [f"{document['benchmark']}: looked for in this order"]
    for one in document["folders"]:
        lines.append(f"  {one['folder']}{'' if one['exists'] else '  (there is no such folder)'}")
    lines.append(f"rows: {document['rows'] or 'not found'}")
    for file in document["files"]:
        path = file["path"] or "not found"
        if file["unpacked"]:
            path = f"unpacked, {file['unpacked']:,} files"
        elif not file["path"] and file["in_hub_cache"]:
            path = f"in the hub's cache: {file['in_hub_cache']}"
        lines.append(f"  {file['name']}: {path}")
        lines.append(f"    {file['url']} ({file['published']})")
    return lines


def megabytes(size: int) -> str:
    """
    >>> [megabytes(size) for size in (812, 131_218, 52_400_000, 6_000_000_000)]
    ['812 bytes', '131.2 kB', '52.4 MB', '6.0 GB']
    """
    if size < 1_000:
        return f"{size} bytes"
    for unit, bytes_ in (("kB", 10**3), ("MB", 10**6)):
        if size < 1_000 * bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size / 10**9:.1f} GB"


class _Drawn:
    """Progress on standard error: on a terminal a line that is redrawn, otherwise a line from time
    to time.

    Called four times a second, and once at the end.
    """

    def __init__(self) -> None:
        self._terminal = can_draw()
        self._began = monotonic()
        self._next = self._began + FIRST

    def __enter__(self) -> _Drawn:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def say(self, text: str) -> None:
        self._clear()
        _say(text)

    def __call__(self, files: Sequence[FileProgress]) -> None:
        text = progress_line(files, monotonic() - self._began)
        if self._terminal:
            # No line may wrap, or a carriage return would not reach its start.
            sys.stderr.write(f"\r\x1b[?7l{text}\x1b[K\x1b[?7h")
            sys.stderr.flush()
        elif text and monotonic() >= self._next:
            self._next = monotonic() + EVERY
            _say(text)

    def _clear(self) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(files: Sequence[FileProgress], seconds: float) -> str:
    """`images.zip 12.3 MB of 52.4 MB  8.1 MB/s  5 s left`; empty if nothing is in progress.

    The rate excludes bytes of earlier calls. The time left is shown if all sizes are known.
    """
    doing = []
    for one in files:
        if one.phase == "coming":
            of = f" of {megabytes(one.size)}" if one.size is not None else ""
            doing.append(f"{one.name} {megabytes(one.done)}{of}")
        elif one.phase == "unpacking":
            doing.append(f"unpacking {one.name} {megabytes(one.unpacked)}")
        elif one.phase == "checking":
            doing.append(f"checking {one.name}")
    coming = [one for one in files if one.phase in ("waiting", "coming")]
    parts = [plain(", ".join(doing))]
    rate = sum(one.done - one.kept for one in files) / max(seconds, 0.001)
    if coming and doing and rate:
        parts.append(f"{megabytes(round(rate))}/s")
        if None not in (sizes := [one.size for one in coming]):
            left = sum(size or 0 for size in sizes) - sum(one.done for one in coming)
            parts.append(f"{duration(left / rate)} left")
    return "  ".join(filter(None, parts))


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr, flush=True)
