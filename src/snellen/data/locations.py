"""The folders of data sets: the user's path, the cache folder, or VLMEvalKit's."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from snellen.errors import DataError
from snellen.home import home
from snellen.media.content import Image

SPREADSHEETS = (".xlsx", ".xls")


@dataclass(frozen=True, kw_only=True)
class File:
    """One published file of a data set."""

    name: str
    """Its path in the benchmark's data folder."""
    url: str
    """Its address; on the hub `hf://datasets/ORG/NAME@REVISION/path`, with a commit as the
    revision."""
    md5: str | None = None
    """The published MD5 in hex; None if there is none."""
    sha256: str | None = None
    """The published SHA-256 in hex; None if there is none."""
    size: int | None = None
    """The published size in bytes; None if it is unknown."""
    unpack: bool = False
    """Whether it is an archive to be unpacked into the data folder. `x.zip.part1`, `x.zip.part2`,
    ... are one archive."""
    note: str = ""
    """What a person must know before the download."""


def data_folder(benchmark: str) -> Path:
    """The folder for a benchmark's published files."""
    return home() / "data" / benchmark


def lmu_data() -> Path:
    """VLMEvalKit's folder: `LMUData` in the environment if that folder exists, otherwise
    `~/LMUData`."""
    folder = os.environ.get("LMUData")  # noqa: SIM112  # that is its name
    if folder and Path(folder).expanduser().is_dir():
        return Path(folder).expanduser()
    return Path.home() / "LMUData"


def folders(data: Path | None, benchmark: str, names: Sequence[str]) -> tuple[Path, ...]:
    """The folders in which a benchmark's files are searched, in order: only `data` if the user
    passed it, because another file would not be the one that was meant.

    In VLMEvalKit's folder, which all data sets share, only TSV files are searched, because their
    names identify the data set: `test.jsonl` could belong to any.
    """
    if data is not None:
        return (data,)
    shared = (lmu_data(),) if any(name.endswith(".tsv") for name in names) else ()
    return (data_folder(benchmark), *shared)


def looked_up(folders: Sequence[Path], names: Sequence[str]) -> Path | None:
    """The first file with one of the names in the first folder that has one. In VLMEvalKit's folder
    only TSV files count, unless it is the only folder."""
    for folder in folders:
        shared = folder == lmu_data() and len(folders) > 1
        for name in names:
            if (not shared or name.endswith(".tsv")) and (folder / name).is_file():
                return folder / name
    return None


@dataclass(frozen=True)
class DataFile:
    """A file that is searched when it is first needed, and the folder to which its rows' paths are
    relative.

    Raises:
        DataError: (from `path`, and from all that use it) none of the names is there.
    """

    data: Path | None
    """The path that the user passed; None: the usual folders are searched."""
    benchmark: str
    """The benchmark."""
    names: tuple[str, ...]
    """The names of the file, in the order in which they are searched."""
    published: tuple[File, ...] = ()
    """The published files of the benchmark."""
    spec: str = ""
    """The benchmark as `data get` takes it; empty: its name."""

    @cached_property
    def path(self) -> Path:
        wanted = " or ".join(self.names)
        if self.data is not None and self.data.is_file():
            if self.data.suffix.lower() in SPREADSHEETS:
                raise DataError(
                    f"{self.data} is a spreadsheet, as predictions are kept in. --data names the "
                    f"data set's own file ({wanted}), or its folder."
                )
            return self.data
        if path := looked_up(self._folders, self.names):
            return path
        if self.data is not None and not self.data.exists():
            raise DataError(
                f"{self.data}: there is no such file or folder. --data names where the "
                f"rows of {self.benchmark} are: {wanted}, or the folder with it."
            )
        where = ", nor in ".join(f"{folder}" for folder in self._folders)
        get = (
            f"Get it with `snellen data get {self.spec or self.benchmark}`. "
            if self.published
            else ""
        )
        raise DataError(
            f"{self.benchmark}: no {wanted} in {where}. {get}"
            "Name the file or its folder with --data PATH."
        )

    @cached_property
    def folder(self) -> Path:
        """The folder of the names: `x` for `x/data/test.jsonl`, found as `data/test.jsonl`."""
        parts = self.path.parts
        depths = [len(Path(name).parts) for name in self.names if _ends_with(parts, name)]
        return self.path.parents[max(depths, default=1) - 1]

    def image(self, name: str, label: str | None = None) -> Image:
        """An image that a row names. The name is relative to the folder and must stay inside it."""
        return Image(self.folder / name, label=label or name, within=self.folder)

    @property
    def _folders(self) -> tuple[Path, ...]:
        return folders(self.data, self.benchmark, self.names)

    def __str__(self) -> str:
        try:
            return f"{self.path}"
        except DataError:
            return f"{self._folders[0] / self.names[0]}"


def find(
    data: Path | None,
    benchmark: str,
    names: Sequence[str],
    published: Sequence[File] = (),
    spec: str = "",
) -> DataFile:
    """The file `data`, or the first of `names` in the folder `data`; without `data` in the cache
    folder, or (TSV files) in VLMEvalKit's.

    The file is searched when it is first needed, so that a benchmark can be built without its data.
    If it is missing and there are `published` files, the error says how to download them: by the
    benchmark's name, or by `spec` if the name alone would download others.
    """
    return DataFile(data, benchmark, tuple(names), tuple(published), spec)


def path_of(source: Path | DataFile) -> Path:
    return source.path if isinstance(source, DataFile) else source


def _ends_with(parts: tuple[str, ...], name: str) -> bool:
    wanted = Path(name).parts
    return parts[-len(wanted) :] == wanted
