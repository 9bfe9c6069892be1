"""Chooses the table for a path: a file of rows, a folder with such a file, or a folder of
images."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from snellen.data._json_rows import json_list, jsonl
from snellen.data.locations import DataFile, path_of
from snellen.data.parquet_files import parquet
from snellen.data.sheets import csv, tsv
from snellen.data.table import Drawn, Table
from snellen.errors import DataError


def workbook(path: Path | DataFile, where: str | None = None, revision: str | None = None) -> Table:
    """Read a spreadsheet as a table."""
    from snellen.data import spreadsheets  # few files of rows are spreadsheets

    return spreadsheets.workbook(path, where, revision)


READERS: dict[str, Callable[[Path | DataFile, str | None, str | None], Table]] = {
    ".jsonl": jsonl,
    ".json": json_list,
    ".tsv": tsv,
    ".csv": csv,
    ".parquet": parquet,
    ".xlsx": workbook,
}
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def rows_of(
    source: Path | DataFile, where: str | None = None, revision: str | None = None
) -> Table:
    """Read a file or a folder as a table.

    The suffix of a file, before an optional `.gz`, selects the file's format: JSONL, JSON, TSV,
    CSV, parquet, or a spreadsheet (.xlsx). If a folder contains one such file (but not a
    spreadsheet), or the parts of one parquet file, that file is read. A folder of images becomes a
    table with one row per image: `id` and `image` are the path of the image relative to the folder.
    If any image is in a subfolder, the column `category` contains the subfolder of each image.

    Raises:
        DataError: The file has another suffix, the folder has several files of rows, or the folder
            has neither a file of rows nor images.
    """
    path = path_of(source)
    if path.is_dir():
        return _of_folder(path, where, revision)
    read = _reader(path)
    if read is None:
        raise DataError(
            f"{path}: rows cannot be read from a file with this suffix. Use one of "
            f"{', '.join(READERS)}, optionally followed by .gz."
        )
    return read(source, where, revision)


def _reader(path: Path) -> Callable[[Path | DataFile, str | None, str | None], Table] | None:
    return READERS.get(Path(path.name.removesuffix(".gz")).suffix.lower())


def _of_folder(folder: Path, where: str | None, revision: str | None) -> Table:
    files = sorted(
        path
        for path in folder.iterdir()
        # Hidden files are not the user's. For example, Snellen lists the files that came from an
        # object store in a hidden file. Spreadsheets often contain results. The user must pass a
        # spreadsheet that contains rows by its own path.
        if path.is_file()
        and _reader(path)
        and path.suffix != ".xlsx"
        and not path.name.startswith(".")
    )
    if files and all(path.suffix == ".parquet" for path in files):
        return parquet(folder, where, revision)
    if len(files) == 1:
        return rows_of(files[0], where, revision)
    if files:
        raise DataError(
            f"{folder} has {len(files)} files of rows: {', '.join(path.name for path in files)}. "
            "Pass the path of one file."
        )
    if next(_images(folder), None) is None:
        raise DataError(
            f"{folder} contains neither a file of rows ({', '.join(READERS)}) nor images "
            f"({', '.join(IMAGES)})."
        )
    return Drawn(where or str(folder), lambda: _image_rows(folder), revision)


def _image_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    images = list(_images(folder))
    in_folders = any(len(image.parts) > 1 for image in images)
    for image in images:
        name = image.as_posix()
        category = image.parent.as_posix() if len(image.parts) > 1 else ""
        yield {"id": name, "image": name, **({"category": category} if in_folders else {})}


def _images(folder: Path) -> Iterator[Path]:
    """The images in a folder and its subfolders, sorted by path. Hidden files and folders are left
    out."""
    for path in sorted(folder.rglob("*")):
        image = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in image.parts)
        if path.suffix.lower() in IMAGES and not hidden and path.is_file():
            yield image
