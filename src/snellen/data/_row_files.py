"""The table for a path: a file of rows, or a folder with a file of rows or with images."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from snellen.data._json_rows import json_list, jsonl
from snellen.data.locations import DataFile, path_of
from snellen.data.parquet_files import parquet
from snellen.data.sheets import csv, tsv
from snellen.data.spreadsheets import workbook
from snellen.data.table import Drawn, Table
from snellen.errors import DataError

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
    """A table of a file, by its suffix, also with `.gz`, or of a folder.

    Files are JSONL, JSON, TSV, CSV, parquet, and spreadsheets (.xlsx). A folder with one such file
    other than a spreadsheet, or with the parts of one, stands for that file. A folder with images,
    in subfolders or not, is a table of them: `id` and `image` are the path of an image in the
    folder, and `category` is its subfolder, if there are any.

    Raises:
        DataError: the name ends otherwise, or the folder has neither, or several files.
    """
    path = path_of(source)
    if path.is_dir():
        return _of_folder(path, where, revision)
    read = _reader(path)
    if read is None:
        raise DataError(
            f"{path} is not a file of rows by its name: rows are read from {', '.join(READERS)}, "
            "each with or without .gz behind it."
        )
    return read(source, where, revision)


def _reader(path: Path) -> Callable[[Path | DataFile, str | None, str | None], Table] | None:
    return READERS.get(Path(path.name.removesuffix(".gz")).suffix.lower())


def _of_folder(folder: Path, where: str | None, revision: str | None) -> Table:
    files = sorted(
        path
        for path in folder.iterdir()
        # Hidden ones are not the user's: what was fetched of an object store is noted in one.
        # Spreadsheets are often results, so one that holds rows is named itself.
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
            f"{folder} has {len(files)} files of rows, {', '.join(path.name for path in files)}. "
            "Name the one that is meant."
        )
    if next(_images(folder), None) is None:
        raise DataError(
            f"{folder} has no file of rows ({', '.join(READERS)}) and no images in it "
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
    """The images in a folder and in its subfolders, by name, without hidden ones."""
    for path in sorted(folder.rglob("*")):
        image = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in image.parts)
        if path.suffix.lower() in IMAGES and not hidden and path.is_file():
            yield image
