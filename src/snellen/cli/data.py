"""snellen data: downloads and verifies published files, and packs rows with their pictures."""

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
from snellen.cli._complete import benchmarks
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.cli.progress_lines import can_draw
from snellen.data import Row, download, file_records, locations, published, verification
from snellen.errors import DataError, UsageError, plain
from snellen.media.content import Image
from snellen.run.progress_text import EVERY, FIRST
from snellen.store import data_at
from snellen.text.amounts import duration

if TYPE_CHECKING:
    from snellen.cli._verify import Verified
    from snellen.core.benchmark import Benchmark
    from snellen.data.download import FileProgress
    from snellen.data.locations import File
    from snellen.data.verification import FileCheck

PATH = click.Path(path_type=Path)
here = click.option(
    "--data", type=PATH, metavar="FOLDER", help="The folder of the files. Default: in the cache."
)


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
    """Download BENCH's published files into its data folder. If the download is interrupted, run
    the same command to resume the download."""
    loaded = registry.benchmark(benchmark)
    files = file_records.only(_files(benchmark, loaded), only)
    folder = data or locations.data_folder(loaded.name)
    for line in _offer(loaded.name, files, folder):
        _say(line)
    if not yes and sys.stdin.isatty():
        click.confirm("Download them?", default=True, abort=True, err=True)
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
        "benchmark": loaded.name,
        "folder": str(folder),
        "files": [
            {
                "name": record.name,
                "url": record.url,
                "size": record.size,
                "sha256": record.sha256,
                "md5": record.md5,
                "when": record.when,
                "unpacked": len(record.members),
            }
            for record in records
        ],
    }
    if as_json:
        put(document)
    else:
        click.echo(plain(f"{loaded.name}: all requested files are in {folder}"))
    return DONE


@command.command("verify")
@click.argument("benchmark", metavar="BENCH|PATH", shell_complete=benchmarks)
@here
@json_option
def verify(benchmark: str, data: Path | None, as_json: bool) -> int:
    """Compare the digests of BENCH's files with the published digests, and with the digests
    recorded at the download.

    For a BENCH with videos, list the missing videos and count the remaining questions. For rows of
    your own (a file or folder at PATH, or the rows of FILE.py:NAME), show the digests, the number
    of rows and pictures that cannot be read, and the missing videos. If the file has the name of a
    published file, check whether it is identical to the published file.
    """
    from snellen.cli._verify import Videos, verify_benchmark, videos_of
    from snellen.cli._verify import verify as verify_rows

    if registry.is_rows(benchmark):
        return _show_verified(verify_rows(data_at(benchmark), data), as_json=as_json)
    if registry.is_own_code(benchmark):
        own = registry.benchmark(benchmark, data=data)
        return _show_verified(verify_benchmark(own), as_json=as_json)
    loaded = registry.benchmark(benchmark)
    files = _files(benchmark, loaded)
    checked = verification.verify(files, _folders(data, loaded, files))
    videos, unread = Videos(), None
    if loaded.procedure.frames is not None:
        try:
            videos = videos_of(registry.benchmark(benchmark, data=data))
        except DataError as error:
            unread = str(error)
    fine = all(check.state in ("ok", "unknown") for check in checked)
    fine = fine and not videos.missing and unread is None
    if as_json:
        put(
            {
                "benchmark": loaded.name,
                "ok": fine,
                "files": [_checked(check) for check in checked],
                "videos": videos.document(),
                "wrong": [unread] if unread else [],
            }
        )
    else:
        width = max(len(check.name) for check in checked)
        for check in checked:
            why = f"  {check.why}" if check.why else ""
            click.echo(plain(f"{check.state:<7}  {check.name:<{width}}  {check.path or ''}{why}"))
        for line in (*videos.lines(), *([f"WRONG: {unread}"] if unread else [])):
            click.echo(plain(line))
    return DONE if fine else FELL_SHORT


def _show_verified(verified: Verified, *, as_json: bool) -> int:
    """Show what was verified about rows. Returns the exit code."""
    if as_json:
        put(verified.document())
    else:
        click.echo("\n".join(map(plain, verified.lines())))
    return DONE if verified.ok else FELL_SHORT


@command.command("where")
@click.argument("benchmark", metavar="BENCH", shell_complete=benchmarks)
@here
@json_option
def where(benchmark: str, data: Path | None, as_json: bool) -> int:
    """List the folders that are searched for BENCH's files, in order, and the files found in each
    folder."""
    loaded = registry.benchmark(benchmark, data=data)
    files = () if loaded.provenance.source is not None else _files(benchmark, loaded)
    folders = _folders(data, loaded, files)
    records = file_records.known(folders[0])
    described = []
    for file in files:
        path = locations.looked_up(folders, [file.name])
        record = records.get(file.name)
        cached = download.in_hub_cache(file)
        described.append(
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
    rows = Path(loaded.data.where)
    document = {
        "benchmark": loaded.name,
        "folders": [
            {"folder": str(candidate), "exists": candidate.is_dir()} for candidate in folders
        ],
        "rows": str(rows) if rows.is_file() else None,
        "files": described,
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
    "--to",
    type=PATH,
    required=True,
    help="The file to write (out.tsv, out.jsonl, or out.parquet), or the folder to unpack into.",
)
@here
@json_option
def pack(rows: str | None, packed: Path | None, to: Path, data: Path | None, as_json: bool) -> int:
    """Pack rows and their pictures into one file, or unpack such a file.

    TSV and JSONL files store pictures as base64, parquet files as bytes. Unpacking creates
    rows.jsonl and the folder images/.
    """
    from snellen.data import archive_rows

    if (rows is None) == (packed is None):
        raise UsageError(
            "Name either the rows to pack (a benchmark or a file), or a FILE with --unpack."
        )
    if packed is not None:
        done = archive_rows.unpack(packed, to)
    else:
        benchmark = registry.benchmark(rows or "", data=data)
        done = archive_rows.pack(lambda: _with_images(benchmark), to)
    if as_json:
        put({"rows": done.rows, "images": done.images, "to": str(to)})
    else:
        click.echo(plain(f"{done.rows:,} rows and {done.images:,} pictures are in {to}"))
    return DONE


def _with_images(benchmark: Benchmark) -> Iterator[tuple[Row, list[Image]]]:
    for row in benchmark.data:
        sample = benchmark.read(row)
        media = sample.media
        images = [
            _with_row(picture, row, sample.id) for picture in media if isinstance(picture, Image)
        ]
        if len(images) < len(media):
            where = f"row {row.position + 1} of {benchmark.data.where}"
            raise DataError(f"{where} has a video. Only rows with pictures can be packed.")
        yield row, images


def _with_row(image: Image, row: Row, id: str) -> Image:
    """The picture, with a label that makes error messages name the picture's row as well as its
    file."""
    if not isinstance(image.source, Path):
        return image
    return replace(image, label=f"row {row.position + 1} ({id!r}): {image.label or image.source}")


# -- files


def _folders(data: Path | None, benchmark: Benchmark, files: Sequence[File]) -> Sequence[Path]:
    """The folders that are searched for a benchmark's published files."""
    return locations.folders(data, benchmark.name, [file.name for file in files])


def _files(spec: str, benchmark: Benchmark) -> tuple[File, ...]:
    """The published files of a benchmark with these options.

    Raises:
        UsageError: the benchmark has no published files.
    """
    files: tuple[File, ...] = ()
    is_own = "columns" in benchmark.provenance.options or benchmark.provenance.source is not None
    if not is_own:  # a user's own rows and benchmarks have no published files
        module = importlib.import_module(f"snellen.benchmarks.{benchmark.name.replace('-', '_')}")
        files = getattr(module, "FILES_PUBLISHED", ())
        if make := getattr(module, "published", None):
            known = inspect.signature(make).parameters
            files = make(
                **{
                    name: value
                    for name, value in benchmark.provenance.options.items()
                    if name in known
                }
            )
    if not files:
        raise UsageError(
            f"{benchmark.name} has no published files, so there is nothing to download or verify."
        )
    return files


def _again(benchmark: str, only: Sequence[str], data: Path | None) -> str:
    words = ["snellen", "data", "get", benchmark]
    for name in only:
        words += ["--only", name]
    return shlex.join(words if data is None else [*words, "--data", str(data)])


# -- lines


def _offer(name: str, files: Sequence[File], folder: Path) -> list[str]:
    sizes = [file.size for file in files]
    known_bytes = sum(size or 0 for size in sizes)
    total = megabytes(known_bytes)
    if None in sizes:
        total = f"more than {total}" if known_bytes else "of unknown size"
    lines = [f"{name}: {len(files):,} file{'s' * (len(files) != 1)}, {total}, into {folder}"]
    for file in files:
        size = "" if file.size is None else f", {megabytes(file.size)}"
        lines.append(f"  {file.name}{size}: {download.address(file)}")
        lines += [f"    {file.note}"] if file.note else []
    return lines


def _checked(check: FileCheck) -> dict[str, Any]:
    path = None if check.path is None else str(check.path)
    return {"name": check.name, "state": check.state, "path": path, "why": check.why}


def _where(document: Mapping[str, Any]) -> list[str]:
    lines = [f"{document['benchmark']}: searched in this order"]
    for folder in document["folders"]:
        lines.append(f"  {folder['folder']}{'' if folder['exists'] else '  (does not exist)'}")
    lines.append(f"rows: {document['rows'] or 'not found'}")
    for file in document["files"]:
        path = file["path"] or "not found"
        if file["unpacked"]:
            path = f"unpacked, {file['unpacked']:,} files"
        elif not file["path"] and file["in_hub_cache"]:
            path = f"in the Hugging Face cache: {file['in_hub_cache']}"
        lines.append(f"  {file['name']}: {path}")
        lines.append(f"    {file['url']} ({file['published']})")
    return lines


def megabytes(size: int) -> str:
    """A size in a suitable unit.

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
    """Shows progress on standard error: on a terminal as a line that is redrawn, otherwise as a new
    line from time to time.

    The caller calls an instance four times a second, and once at the end.
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
            # Wrapping is off, because a carriage return does not reach the start of a wrapped line.
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

    The rate excludes bytes that earlier invocations of the command downloaded. The remaining time
    is shown only if all sizes are known.
    """
    doing = []
    for file in files:
        if file.phase == "coming":
            of = f" of {megabytes(file.size)}" if file.size is not None else ""
            doing.append(f"{file.name} {megabytes(file.done)}{of}")
        elif file.phase == "unpacking":
            doing.append(f"unpacking {file.name} {megabytes(file.unpacked)}")
        elif file.phase == "checking":
            doing.append(f"checking {file.name}")
    coming = [file for file in files if file.phase in ("waiting", "coming")]
    parts = [plain(", ".join(doing))]
    rate = sum(file.done - file.kept for file in files) / max(seconds, 0.001)
    if coming and doing and rate:
        parts.append(f"{megabytes(round(rate))}/s")
        if None not in (sizes := [file.size for file in coming]):
            left = sum(size or 0 for size in sizes) - sum(file.done for file in coming)
            parts.append(f"{duration(left / rate)} left")
    return "  ".join(filter(None, parts))


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr, flush=True)
