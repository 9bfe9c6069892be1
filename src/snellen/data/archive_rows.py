"""Packs rows and their pictures into one file, and unpacks such files.

In TSV and JSONL files, the column `image` contains one picture as base64 text, or a list of such
texts, and `image_path` contains the name of each picture, as in VLMEvalKit. In parquet files,
`image` is Hugging Face's struct of bytes and path; if any row has several pictures, `images` is a
list of such structs. Pictures are packed in the form in which models receive them: the bytes of the
file, or PNG for formats that servers do not read (TIFF, BMP, animated GIF).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import orjson
import pybase64

from snellen.data._placed import placed
from snellen.data._row_files import rows_of
from snellen.data._vlmevalkit import strings, vlmevalkit_tsv
from snellen.data.archive import inside_folder
from snellen.data.table import Row
from snellen.errors import DataError, UsageError, install
from snellen.media import images as media
from snellen.media.content import Image

PICTURES = ("image", "images", "image_path")
"""The columns that refer to pictures. Packing replaces them."""
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}
GROUP = 64
"""The number of rows in memory while parquet is written."""

Pairs = Callable[[], Iterable[tuple[Row, Sequence[Image]]]]
Kind = Literal["text", "int", "float", "bool", "texts", "json"]
"""The kind of a column. The kind `texts` means lists of strings, and the kind `json` means any
other type or a mixture of types."""
KINDS: Mapping[type, Kind] = {str: "text", int: "int", float: "float", bool: "bool"}


@dataclass(frozen=True, kw_only=True)
class Packed:
    """The numbers of rows and images that were packed or unpacked."""

    rows: int
    """The number of rows."""
    images: int
    """The number of images."""


@dataclass(frozen=True, kw_only=True)
class _Picture:
    """The name and bytes of a picture, and whether the name comes from the data set."""

    name: str
    data: bytes
    has_own_name: bool


@dataclass(frozen=True, kw_only=True)
class _Full:
    """The fields of a row without its picture columns, and its pictures."""

    fields: Mapping[str, Any]
    pictures: Sequence[_Picture]


# -- pack


def pack(pairs: Pairs, to: Path) -> Packed:
    """Write rows, each with its images, to a TSV, JSONL, or parquet file, depending on the suffix.

    `pairs` is called twice: first to collect the columns of all rows, then to write the rows. In a
    TSV file, values other than text are written as JSON, and missing values are empty.

    Raises:
        DataError: A row or a picture cannot be read, a column contains bytes that cannot be packed,
            or the file cannot be written.
        UsageError: The file has another suffix, or already exists.
    """
    write = WRITERS.get(to.suffix)
    if write is None:
        raise UsageError(
            f"{to}: rows cannot be packed into a file with this suffix. Use one of "
            f"{', '.join(WRITERS)}."
        )
    kinds: dict[str, Kind | None] = {}
    rows = images = most = 0
    for row, pictures in pairs():
        rows += 1
        images += len(pictures)
        most = max(most, len(pictures))
        for name, value in _fields(row).items():
            kinds[name] = _kind(kinds.get(name), value)
    full = (
        _Full(fields=_fields(row), pictures=_pictures(pictures, _names(row), str(row.position)))
        for row, pictures in pairs()
    )
    with _new(to) as part:
        write(part, full, kinds, most)
    return Packed(rows=rows, images=images)


def _fields(row: Row, but: Collection[str] = PICTURES) -> dict[str, Any]:
    """The fields of a row, except those whose names are in `but`.

    Raises:
        DataError: A field contains a picture or other bytes, which cannot be written as text.
    """
    fields = {name: value for name, value in row.items() if name not in but}
    for name, value in fields.items():
        if _has_bytes(value):
            raise DataError(
                f"row {row.position + 1} has a picture or other bytes in its column {name!r}. Only "
                "the columns image and images may contain bytes. Rename the column, or remove it."
            )
    return fields


def _has_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_bytes, value))
    return isinstance(value, bytes | Image)


def _names(row: Row) -> list[str | None]:
    """The names of a row's pictures; None in place of a value that is not a file name.

    Raises:
        DataError: A list of names is not valid.
    """
    names = row.get("image_path")
    if isinstance(names, str) and names.startswith(('["', "['")):
        names = strings(names, f"row {row.position + 1}, image_path")
    return [
        name if isinstance(name, str) and PurePosixPath(name).name else None
        for name in (names if isinstance(names, list) else [names])
    ]


def _pictures(images: Sequence[Image], names: Sequence[str | None], ours: str) -> list[_Picture]:
    """Load images and name them. If there are as many `names` as images, these names are used. An
    image without a name gets the relative path of its file. If the image has no file, its name
    begins with the text in `ours`."""
    if len(names) != len(images):
        names = [None] * len(images)
    pictures = []
    for number, (image, name) in enumerate(zip(images, names, strict=True)):
        loaded = media.load(image)
        assert isinstance(loaded.source, bytes) and loaded.mime is not None
        if name is None and isinstance(image.source, Path) and image.within is not None:
            name = os.path.relpath(image.source, image.within)
        behind = f"_{number}" if len(images) > 1 else ""
        pictures.append(
            _Picture(
                name=name or f"{ours}{behind}{ENDINGS[loaded.mime]}",
                data=loaded.source,
                has_own_name=name is not None,
            )
        )
    return pictures


def _kind(kind: Kind | None, value: Any) -> Kind | None:
    """Return the new kind of a column when `value` is added. `kind` is the column's old kind."""
    if value is None:
        return kind
    mine = KINDS.get(type(value), "json")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        mine = "texts"
    if kind in (None, mine):
        return mine
    return "float" if {kind, mine} == {"int", "float"} else "json"


def _single_or_all(values: Sequence[str]) -> str | Sequence[str]:
    return values[0] if len(values) == 1 else values


def _cells(row: _Full) -> dict[str, Any]:
    if not row.pictures:
        return dict(row.fields)
    return {
        **row.fields,
        "image": _single_or_all(
            [pybase64.b64encode(picture.data).decode() for picture in row.pictures]
        ),
        "image_path": _single_or_all([picture.name for picture in row.pictures]),
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


Kinds = Mapping[str, Kind | None]


def _write_jsonl(path: Path, rows: Iterable[_Full], kinds: Kinds, most: int) -> None:
    with open(path, "wb") as out:
        for row in rows:
            out.write(orjson.dumps(_cells(row), default=str) + b"\n")


def _write_tsv(path: Path, rows: Iterable[_Full], kinds: Kinds, most: int) -> None:
    names = [*kinds, *(("image", "image_path") if most else ())]
    with open(path, "w", encoding="utf-8", newline="") as out:
        bare = csv.writer(out, "excel-tab", lineterminator="\n")
        quoted = csv.writer(out, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_ALL)
        header = {name: name for name in names}
        for cells in chain([header], map(_cells, rows)):
            texts = [_text(cells.get(name)) for name in names]
            # Before Python 3.13, csv does not quote cells with a carriage return. In a row with a
            # carriage return, all cells are therefore quoted. With quotes in every row, reading
            # would take three times as long.
            (quoted if any("\r" in text for text in texts) else bare).writerow(texts)


def _write_parquet(path: Path, rows: Iterable[_Full], kinds: Kinds, most: int) -> None:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise UsageError(
            f"pyarrow is needed to write parquet and is not installed: {install('parquet')}."
        ) from error
    types = {
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "json": pa.string(),
    }
    columns = {name: types[kind or "text"] for name, kind in kinds.items()}
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if most == 1:
        columns |= {"image": picture, "image_path": pa.string()}
    elif most:
        columns |= {"images": pa.list_(picture), "image_path": types["texts"]}
    schema = pa.schema([*columns.items()])

    def cells(row: _Full) -> dict[str, Any]:
        values = {
            name: _text(value) if kinds[name] == "json" and value is not None else value
            for name, value in row.fields.items()
        }
        pictures = [{"bytes": picture.data, "path": picture.name} for picture in row.pictures]
        names = [picture.name for picture in row.pictures]
        if most == 1:
            return {
                **values,
                **({"image": pictures[0], "image_path": names[0]} if pictures else {}),
            }
        return {**values, "images": pictures, "image_path": names}

    left = iter(rows)
    with ParquetWriter(path, schema) as writer:
        while group := [cells(row) for row in islice(left, GROUP)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


WRITERS: Mapping[str, Callable[[Path, Iterable[_Full], Kinds, int], None]] = {
    ".tsv": _write_tsv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}


# -- unpack


def unpack(file: Path, folder: Path) -> Packed:
    """Unpack a packed file or a file in VLMEvalKit's format: write its rows to `rows.jsonl` in the
    folder, and the pictures of all columns to `images/`.

    Raises:
        DataError: A row or a picture cannot be read, or a picture's name leads out of the folder.
        UsageError: `rows.jsonl`, or a different picture of the same name, already exists.
    """
    table = vlmevalkit_tsv(file) if ".tsv" in file.suffixes else rows_of(file)
    written = _Written(folder, file)
    rows = images = 0
    with _new(folder / "rows.jsonl") as part, open(part, "wb") as out:
        for row in table:
            shown = _images(row, file)
            cells = _fields(row, {*PICTURES, *shown})
            for column, column_images in shown.items():
                names = _names(row) if column == "image" else []
                ours = f"{row.position}" if column == "image" else f"{row.position}_{column}"
                pictures = _pictures(column_images, names, ours)
                cells[column] = _single_or_all(
                    [written.put(picture, row.position) for picture in pictures]
                )
                images += len(pictures)
            out.write(orjson.dumps(cells, default=str) + b"\n")
            rows += 1
    return Packed(rows=rows, images=images)


def _images(row: Row, file: Path) -> dict[str, list[Image]]:
    """The pictures of a row, keyed by column. Bytes and base64 count as pictures only in the
    columns `image` and `images`; `Image` objects count in any column. If the column `image` has no
    pictures, `images` is renamed to `image`."""
    by_column: dict[str, list[Image]] = {}
    for name, cell in row.items():
        cells = cell if isinstance(cell, list | tuple) else [cell]
        if name in ("image", "images") or any(isinstance(item, Image) for item in cells):
            where = f"row {row.position + 1} of {file.name}, {name}"
            by_column[name] = [_image(item, where) for item in cells if item]
    if not by_column.get("image") and by_column.get("images"):
        by_column["image"] = by_column.pop("images")
    return {name: images for name, images in by_column.items() if images}


def _image(cell: Any, where: str) -> Image:
    if isinstance(cell, Image):
        return cell
    return Image(cell if isinstance(cell, bytes) else str(cell).encode(), where)


class _Written:
    """Writes pictures as files in a folder. If the data set does not name pictures, identical
    pictures are written only once."""

    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self._file = file
        self._digests: dict[str, bytes] = {}
        self._places: dict[bytes, str] = {}

    def put(self, picture: _Picture, row: int) -> str:
        """Write a picture of a row, and return its path relative to the folder."""
        digest = blake2b(picture.data, digest_size=16).digest()
        if not picture.has_own_name and digest in self._places:
            return self._places[digest]
        path = inside_folder(picture.name, self._file.name)
        if path.parts[0] != "images" or len(path.parts) == 1:
            path = PurePosixPath("images", path)
        for candidate in _spellings(path, row):
            inside = str(candidate)
            if self._digests.setdefault(inside, digest) == digest:
                break
        self._places.setdefault(digest, inside)
        target = self._folder / inside
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(picture.data)
        elif target.read_bytes() != picture.data:
            # The file is from before this call. If it stayed, the row would show a wrong picture.
            raise UsageError(
                f"{target} already exists and is a different picture. Choose an empty folder."
            )
        return inside


def _spellings(path: PurePosixPath, row: int) -> Iterator[PurePosixPath]:
    """Yield possible paths of a picture. The caller uses the first path that no other picture
    has."""
    yield path
    stem = f"{path.stem}_{row}"
    yield path.with_name(f"{stem}{path.suffix}")
    for number in count(2):
        yield path.with_name(f"{stem}_{number}{path.suffix}")


@contextmanager
def _new(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a new file, which is renamed to `path` when it is complete."""
    if path.exists():
        raise UsageError(f"{path} already exists. Delete it, or choose another path.")
    with placed(path) as part:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
