"""A file of rows as it lies there: its digests, its rows and their pictures, one row at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen import catalog
from snellen.benchmark import Benchmark
from snellen.content import Image
from snellen.datasets import published
from snellen.datasets.published import Digests
from snellen.errors import CatalogError, DataError, MediaError, UsageError
from snellen.media import images


@dataclass
class Count:
    """How many there were, how many of them were wrong, and what was wrong with the first."""

    n: int = 0
    wrong: int = 0
    first: str | None = None

    def add(self, why: str) -> None:
        self.wrong += 1
        self.first = self.first or why


@dataclass
class Verified:
    """`digest` is that of the rows, as a run's identity has it; None where they break off. `wrong`
    is what is wrong with the whole; `published` the name under which the file's MD5 is known."""

    path: Path
    file: Digests | None = None
    published: str | None = None
    digest: str | None = None
    rows: Count = field(default_factory=Count)
    pictures: Count = field(default_factory=Count)
    wrong: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not (self.wrong or self.rows.wrong or self.pictures.wrong)

    def document(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "ok": self.ok,
            "bytes": self.file and self.file.size,
            "md5": self.file and self.file.md5,
            "sha256": self.file and self.file.sha256,
            "published": self.published,
            "digest": self.digest,
            "rows": vars(self.rows),
            "pictures": vars(self.pictures),
            "wrong": self.wrong,
        }

    def lines(self) -> list[str]:
        lines = [str(self.path)]
        if self.file is not None:
            lines += [f"  {self.file.size:,} bytes", f"  MD5      {self.file.md5}"]
            lines.append(f"  SHA-256  {self.file.sha256}")
        lines.append(f"  rows     {self.rows.n:,}, digest {self.digest or 'none'}")
        for name, count in (("rows", self.rows), ("pictures", self.pictures)):
            why = f"; the first: {count.first}" if count.wrong else ""
            lines.append(f"  {count.wrong:,} of {count.n:,} {name} cannot be read{why}")
        if self.published:
            lines.append(f"  it is {self.published} as published")
        return [*lines, *(f"  WRONG: {one}" for one in self.wrong)]


def verify(path: Path, data: Path | None) -> Verified:
    """What a run would find in a file or folder of rows. Pictures are read and looked at as before
    they are sent, not decoded.

    Raises:
        CatalogError: there is nothing of that name.
    """
    found = Verified(path)
    if path.is_file():
        found.file = published.digests(path, with_md5=True)
    try:
        made = _known(path, found) or catalog.benchmark(str(path.absolute()), data=data)
        _read(made, found)
        found.digest = made.data.facts().digest
    except DataError as error:
        found.wrong.append(str(error))
    return found


def _known(path: Path, found: Verified) -> Benchmark | None:
    """The benchmark whose published file has this name."""
    name = path.name.partition(".")[0]
    try:
        if not catalog.reads_data(name):
            return None
        made = catalog.benchmark(name, data=path)
    except (CatalogError, UsageError):
        return None
    files = () if made.files is None else made.files.published
    file = next((one for one in files if Path(one.name).name == path.name), None)
    if file is None or found.file is None:
        return None
    if file.md5 or file.sha256:
        why = published.difference(file, found.file)
        if why is None:
            found.published = file.name
        else:
            found.wrong.append(f"it is not the published {file.name}: {why}")
    return made


def _read(made: Benchmark, found: Verified) -> None:
    places: dict[str, int] = {}
    doubled = Count()
    for row in made.data:
        found.rows.n += 1
        try:
            sample = made.read(row)
        except DataError as error:
            found.rows.add(str(error))
            continue
        before = places.setdefault(sample.id, row.place)
        if before != row.place:
            doubled.add(f"rows {before + 1} and {row.place + 1} have the same id {sample.id!r}")
        for one in sample.media:
            if isinstance(one, Image):
                found.pictures.n += 1
                try:
                    images.load(one)
                except MediaError as error:
                    found.pictures.add(str(error))
    if doubled.wrong:
        found.wrong.append(
            f"{doubled.wrong:,} rows have the id of an earlier one; the first: {doubled.first}. "
            "Ids must be unique: give each row its own."
        )
