"""Verifies a file of rows: its digests, its rows, and the pictures and videos to which the rows
refer. This module reads one row at a time."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen import registry
from snellen.data.download import Digests, difference, digests
from snellen.errors import CatalogError, DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Video
from snellen.store import Mirror
from snellen.text.amounts import counted

if TYPE_CHECKING:
    from snellen.core.benchmark import Benchmark
    from snellen.core.sample import Sample


@dataclass
class Count:
    """Counts items, and counts separately the items that are wrong."""

    n: int = 0
    """The number of items."""
    wrong: int = 0
    """The number of wrong items."""
    first: str | None = None
    """The error of the first wrong item."""
    reasons: list[str] = field(default_factory=list)
    """The errors of the first wrong items, at most `MAX_REASONS`."""

    def add(self, why: str) -> None:
        self.wrong += 1
        self.first = self.first or why
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(why)

    def lines(self) -> Iterator[str]:
        """A line for each error after the first, at most `SHOWN` in all. Rows with the same error
        share a line."""
        alike: dict[str, list[str]] = {}
        for reason in self.reasons:
            row = _ROW.match(reason)
            rest = reason if row is None else reason[row.end() :]
            alike.setdefault(rest, []).append(reason if row is None else row[1])
        for number, (rest, rows) in enumerate([*alike.items()][:SHOWN]):
            if number:
                yield f"{rows[0]}{rest}" if rows[0] != rest else rest
            if len(rows) > 1:
                yield f"the same in {len(rows) - 1:,} more: {_some(rows[1:], SHOWN)}"
        if len(alike) > SHOWN or self.wrong > len(self.reasons):
            yield f"and others; --json lists the first {MAX_REASONS:,}"


_ROW = re.compile(r"(row [\d,]+)(?= )")
SHOWN, MAX_REASONS = 20, 1000
"""How many faulty rows or pictures are listed: at most `SHOWN` in the terminal, and at most
`MAX_REASONS` in the JSON document."""
MAX_NAMES = 5
"""The maximum number of items that a line lists."""


@dataclass
class Videos:
    """The videos of questions. Each video file is looked up only once."""

    by: tuple[str, ...] = ()
    """The tags by whose categories the questions are counted."""
    there: dict[Path, bool] = field(default_factory=dict)
    """Whether each video file exists."""
    missing: list[str] = field(default_factory=list)
    """The missing videos."""
    questions: int = 0
    """The number of questions with a video."""
    left: int = 0
    """The number of questions whose videos all exist."""
    of: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of questions in each category, by tag."""
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of questions in each category that fail because a video is missing, by tag."""

    def add(self, sample: Sample) -> None:
        videos = [video for video in sample.media if isinstance(video, Video)]
        # The list makes `all` look at every video, so that each missing one is recorded.
        is_complete = all([self._is_there(video) for video in videos])
        self.questions += 1
        self.left += is_complete
        for tag in self.by:
            category = sample.tags.get(tag, "")
            self.of.setdefault(tag, Counter())[category] += 1
            self.lost.setdefault(tag, Counter())[category] += not is_complete

    def _is_there(self, video: Video) -> bool:
        known = self.there.get(video.source)
        if known is None:
            try:
                known = video.source.is_file() and os.stat(video.source).st_size > 0
            except OSError:
                known = False
            self.there[video.source] = known
            if not known:
                self.missing.append(video.label or str(video.source))
        return known

    def document(self) -> dict[str, Any] | None:
        if not self.there:
            return None
        return {
            "n": len(self.there),
            "missing": self.missing,
            "questions": self.questions,
            "left": self.left,
            "lost": {
                tag: {
                    category: {"lost": n, "of": self.of[tag][category]}
                    for category, n in sorted(lost.items())
                    if n
                }
                for tag, lost in self.lost.items()
            },
        }

    def lines(self) -> Iterator[str]:
        if not self.there:
            return
        if not self.missing:
            yield f"all {len(self.there):,} videos of {self.questions:,} questions exist"
            return
        yield (
            f"{len(self.missing):,} of {len(self.there):,} videos are missing or empty: "
            f"{_some(self.missing)}"
        )
        yield (
            f"without them, {self.questions - self.left:,} of {self.questions:,} questions fail, "
            f"and n is {self.left:,}"
        )
        for tag, lost in self.lost.items():
            less = (
                f"{category or 'none'} {n:,} of {self.of[tag][category]:,}"
                for category, n in lost.most_common()
                if n
            )
            yield f"by {tag}: {_some(list(less))}"


def _some(names: list[str], most: int = MAX_NAMES) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def videos_of(benchmark: Benchmark) -> Videos:
    """The videos of a benchmark's questions.

    Raises:
        DataError: the rows are missing, or a row cannot be read.
    """
    videos = Videos(benchmark.presentation.break_down_by)
    for row in benchmark.data:
        videos.add(benchmark.read(row))
    return videos


@dataclass
class Verified:
    """The result of verifying a file of rows."""

    path: Path
    """The file."""
    file: Digests | None = None
    """The digests of the file; None if the file cannot be read."""
    published: str | None = None
    """The name of the published file with the same digest; None if there is none."""
    digest: str | None = None
    """The digest of the rows, as in a run's identity; None if reading the rows ended with an
    error."""
    rows: Count = field(default_factory=Count)
    """The number of rows, and the number of rows that cannot be read."""
    pictures: Count = field(default_factory=Count)
    """The number of pictures in the rows, and the number of pictures that cannot be read."""
    videos: Videos = field(default_factory=Videos)
    """The videos of the rows."""
    wrong: list[str] = field(default_factory=list)
    """Errors that concern the file as a whole."""

    @property
    def ok(self) -> bool:
        return not (self.wrong or self.rows.wrong or self.pictures.wrong or self.videos.missing)

    def document(self) -> dict[str, Any]:
        return {
            "path": f"{self.path}",
            "ok": self.ok,
            "bytes": self.file and self.file.size,
            "md5": self.file and self.file.md5,
            "sha256": self.file and self.file.sha256,
            "published": self.published,
            "digest": self.digest,
            "rows": vars(self.rows),
            "pictures": vars(self.pictures),
            "videos": self.videos.document(),
            "wrong": self.wrong,
        }

    def lines(self) -> list[str]:
        lines = [f"{self.path}"]
        if self.file is not None:
            lines += [f"  {self.file.size:,} bytes", f"  MD5      {self.file.md5}"]
            lines.append(f"  SHA-256  {self.file.sha256}")
        counts: dict[str, Count] = {}
        if self.rows.n or not self.wrong:  # otherwise, the file was not read as far as its rows
            lines.append(f"  rows     {self.rows.n:,}, digest {self.digest or 'none'}")
            pictures = "pictures"
            if self.rows.wrong:
                others = counted(self.rows.n - self.rows.wrong, "row", "rows")
                pictures += f" in the other {others}"
            counts = {"rows": self.rows, pictures: self.pictures}
        for name, count in counts.items():
            why = f"; the first: {count.first}" if count.wrong else ""
            lines.append(f"  {count.wrong:,} of {count.n:,} {name} cannot be read{why}")
            lines += [f"    {line}" for line in count.lines()]
        lines += [f"  {line}" for line in self.videos.lines()]
        if self.published:
            lines.append(f"  identical to the published {self.published}")
        return [*lines, *(f"  WRONG: {error}" for error in self.wrong)]


def verify(path: Path, data: Path | None) -> Verified:
    """Check a file or folder of rows in the same way as a run does. Pictures are read and checked
    but not decoded. Videos are located but not read.

    Raises:
        CatalogError: there is no such file or benchmark.
    """
    verified = Verified(path)
    if path.is_file():
        verified.file = digests(path, with_md5=True)
    try:
        rows = path if isinstance(path, Mirror) else path.absolute()
        benchmark = _known(path, verified) or registry.own(rows, data, None, None, {})
        _read(benchmark, verified)
        verified.digest = benchmark.data.facts().digest
    except DataError as error:
        verified.wrong.append(str(error))
    return verified


def verify_benchmark(benchmark: Benchmark) -> Verified:
    """Check the rows of a user's own benchmark, in the same way as `verify`."""
    verified = Verified(Path(benchmark.data.where))
    try:
        if verified.path.is_file():
            verified.file = digests(verified.path, with_md5=True)
        _read(benchmark, verified)
        verified.digest = benchmark.data.facts().digest
    except DataError as error:
        verified.wrong.append(str(error))
    return verified


def _known(path: Path, verified: Verified) -> Benchmark | None:
    """The benchmark that published a file with this name; None if there is none. Records in
    `verified` whether this file is identical to the published file."""
    name = path.name.partition(".")[0]
    try:
        if not registry.reads_data(name):
            return None
        benchmark = registry.benchmark(name, data=path)
    except (CatalogError, UsageError):
        return None
    files = () if benchmark.interop.files is None else benchmark.interop.files.published
    file = next((published for published in files if Path(published.name).name == path.name), None)
    if file is None or verified.file is None:
        return None
    if file.md5 or file.sha256:
        why = difference(file, verified.file)
        if why is None:
            verified.published = file.name
        else:
            verified.wrong.append(f"this is not the published {file.name}: {why}")
    return benchmark


def _read(benchmark: Benchmark, verified: Verified) -> None:
    first_rows: dict[str, int] = {}
    doubled = Count()
    verified.videos = Videos(benchmark.presentation.break_down_by)
    for row in benchmark.data:
        verified.rows.n += 1
        try:
            sample = benchmark.read(row)
        except DataError as error:
            verified.rows.add(str(error))
            continue
        before = first_rows.setdefault(sample.id, row.position)
        if before != row.position:
            doubled.add(f"rows {before + 1} and {row.position + 1} have the same id {sample.id!r}")
        verified.videos.add(sample)
        for picture in sample.media:
            if isinstance(picture, Image):
                verified.pictures.n += 1
                try:
                    images.load(picture)
                except MediaError as error:
                    verified.pictures.add(str(error))
    if doubled.wrong:
        verified.wrong.append(
            f"{doubled.wrong:,} rows repeat the id of an earlier row; the first: {doubled.first}. "
            "Ids must be unique: give each row an id of its own."
        )
