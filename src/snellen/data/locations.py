"""Finds the files of data sets: in the user's path, our data folder, or VLMEvalKit's folder."""

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
    """The file's path in the benchmark's data folder."""
    url: str
    """The file's URL. For a file on Hugging Face's hub, the URL has the form
    `hf://datasets/ORG/NAME@COMMIT/path`."""
    md5: str | None = None
    """The published MD5 in hex; None if there is none."""
    sha256: str | None = None
    """The published SHA-256 in hex; None if there is none."""
    size: int | None = None
    """The published size in bytes; None if it is unknown."""
    unpack: bool = False
    """Whether the file is an archive, or a part of an archive, that is unpacked into the data
    folder. `x.zip.part1`, `x.zip.part2`, and so on are the parts of one archive."""
    note: str = ""
    """Information that the user needs before downloading the file."""


PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of Snellen's own files, which has the bundled rows of benchmarks."""


def data_folder(benchmark: str) -> Path:
    """The folder to which a benchmark's published files are downloaded."""
    return home() / "data" / benchmark


def lmu_data() -> Path:
    """VLMEvalKit's folder: the folder that the environment variable `LMUData` names, if that folder
    exists; otherwise `~/LMUData`."""
    folder = os.environ.get("LMUData")  # noqa: SIM112  # VLMEvalKit spells it so
    if folder and Path(folder).expanduser().is_dir():
        return Path(folder).expanduser()
    return Path.home() / "LMUData"


def folders(data: Path | None, benchmark: str, names: Sequence[str]) -> tuple[Path, ...]:
    """The folders to search for a benchmark's files, in order. If the user passed `data`, only that
    path is searched, because a file elsewhere would not be the one that the user meant.

    VLMEvalKit's folder is included only if one of the files is a TSV file. All data sets share that
    folder, and only the names of TSV files identify the data set: `test.jsonl` could belong to any
    data set.
    """
    if data is not None:
        return (data,)
    shared = (lmu_data(),) if any(name.endswith(".tsv") for name in names) else ()
    return (data_folder(benchmark), *shared)


def looked_up(folders: Sequence[Path], names: Sequence[str]) -> Path | None:
    """Return the first file with one of these names, from the first folder that has such a file. In
    VLMEvalKit's folder, only TSV files count, unless it is the only folder that is searched."""
    for folder in folders:
        shared = folder == lmu_data() and len(folders) > 1
        for name in names:
            if (not shared or name.endswith(".tsv")) and (folder / name).is_file():
                return folder / name
    return None


@dataclass(frozen=True)
class DataFile:
    """A file that is located when it is first needed. Paths in the rows of the file are relative to
    `folder`.

    Raises:
        DataError: When `path` is accessed, no file with one of the `names` exists, or the user
            passed a spreadsheet.
    """

    data: Path | None
    """The path that the user passed; None means that the default folders are searched."""
    benchmark: str
    """The name of the benchmark."""
    names: tuple[str, ...]
    """The possible names of the file, in the order in which they are tried."""
    published: tuple[File, ...] = ()
    """The published files of the benchmark."""
    spec: str = ""
    """The benchmark as it must be passed to `snellen data get`; if empty, the benchmark's name is
    passed."""

    @cached_property
    def path(self) -> Path:
        wanted = " or ".join(self.names)
        if self.data is not None and self.data.is_file():
            if self.data.suffix.lower() in SPREADSHEETS:
                raise DataError(
                    f"{self.data} is a spreadsheet, which usually contains predictions. Pass the "
                    f"data set's own file ({wanted}) or its folder as --data."
                )
            return self.data
        if path := looked_up(self._folders, self.names):
            return path
        if self.data is not None and not self.data.exists():
            raise DataError(
                f"{self.data} does not exist. Pass the file with the rows of {self.benchmark} "
                f"({wanted}) or its folder as --data."
            )
        if self.data is not None and self.data.is_relative_to(PACKAGE):
            there = ", ".join(sorted(path.stem for path in self.data.iterdir() if path.is_file()))
            raise DataError(
                f"{self.spec or self.benchmark} has no bundled rows, so --data synthetic does not "
                f"work. {self.benchmark} has bundled rows for: {there}."
            )
        where = ", nor in ".join(f"{folder}" for folder in self._folders)
        get = (
            f"Get it with `snellen data get {self.spec or self.benchmark}`. "
            if self.published
            else ""
        )
        raise DataError(
            f"{self.benchmark}: no {wanted} in {where}. {get}"
            "If you have it elsewhere, pass the file or its folder as --data PATH."
        )

    @cached_property
    def folder(self) -> Path:
        """The folder that the file's name is relative to: `x` if the file is `x/data/test.jsonl`
        and its name is `data/test.jsonl`."""
        parts = self.path.parts
        depths = [len(Path(name).parts) for name in self.names if _ends_with(parts, name)]
        return self.path.parents[max(depths, default=1) - 1]

    def image(self, name: str, label: str | None = None) -> Image:
        """The image whose file has this name. The name is relative to `folder` and must not lead
        out of it."""
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
    """Find the file with a benchmark's rows. If `data` is a file, it is used. If `data` is a
    folder, the first of `names` that exists in this folder is used. If `data` is None, the
    benchmark's data folder is searched and then, for TSV files, VLMEvalKit's folder.

    The file is located when it is first needed, so that a benchmark can be created without its
    data. If the file is missing and there are `published` files, the error message has the command
    that downloads them. Pass the argument of `snellen data get` as `spec` if the benchmark's name
    alone would download other files.
    """
    return DataFile(data, benchmark, tuple(names), tuple(published), spec)


def path_of(source: Path | DataFile) -> Path:
    return source.path if isinstance(source, DataFile) else source


def _ends_with(parts: tuple[str, ...], name: str) -> bool:
    wanted = Path(name).parts
    return parts[-len(wanted) :] == wanted
