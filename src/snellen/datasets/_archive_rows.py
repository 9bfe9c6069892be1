"""Rows and their pictures in one file, and back.

TSV and JSONL: the column `image` has a picture as base64, or a list of several; `image_path` their
names, as VLMEvalKit has it. Parquet: `image` is Hugging Face's struct of bytes and path, `images` a
list of them where a row has several; `image_path` as before. Pictures are packed as a model gets
them: the bytes of the file, but PNG for what servers do not read (TIFF, BMP, moving GIF).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import orjson
import pybase64

from snellen.content import Image
from snellen.datasets._archive import inside_folder
from snellen.datasets._placed import placed
from snellen.datasets._rows import rows_of
from snellen.datasets._table import Row
from snellen.datasets._vlmevalkit import vlmevalkit_tsv
from snellen.errors import UsageError
from snellen.media import images as media

PICTURES = ("image", "images", "image_path")
"""Columns that are written anew: what rows have in them is in the pictures."""
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}
GROUP = 64
"""Rows that are held at once for parquet."""

Pairs = Callable[[], Iterable[tuple[Row, Sequence[Image]]]]
Kind = Literal["text", "int", "float", "bool", "texts", "json"]
"""What a column has: `texts` are lists of texts, `json` is anything else, or several kinds."""
KINDS: Mapping[type, Kind] = {str: "text", int: "int", float: "float", bool: "bool"}


@dataclass(frozen=True, kw_only=True)
class Packed:
    """How many there were."""

    rows: int
    images: int


@dataclass(frozen=True, kw_only=True)
class _Picture:
    name: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class _Full:
    """A row without its columns of pictures, and these."""

    fields: Mapping[str, Any]
    pictures: Sequence[_Picture]


# -- pack


def pack(pairs: Pairs, to: Path) -> Packed:
    """Write rows, each with its images, into a TSV, JSONL or parquet file, by its name's end.

    `pairs` is called twice, since a table has the columns of all its rows. A TSV's cells are text:
    what is no text is JSON there, and what is missing is empty.

    Raises:
        DataError: a row or a picture cannot be read, or the file cannot be written.
        UsageError: the name ends otherwise, or the file is there already.
    """
    write = WRITERS.get(to.suffix)
    if write is None:
        raise UsageError(f"{to}: rows are packed into {', '.join(WRITERS)}, by the name's end.")
    kinds: dict[str, Kind | None] = {}
    rows = images = most = 0
    for row, found in pairs():
        rows += 1
        images += len(found)
        most = max(most, len(found))
        for name, value in _fields(row).items():
            kinds[name] = _kind(kinds.get(name), value)
    full = (_Full(fields=_fields(row), pictures=_pictures(row, found)) for row, found in pairs())
    with _new(to) as part:
        write(part, full, kinds, most)
    return Packed(rows=rows, images=images)


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in PICTURES}


def _pictures(row: Row, images: Sequence[Image]) -> list[_Picture]:
    """A row's pictures with the names that it has for them, else those of files, else its own
    number."""
    names = row.get("image_path") or []
    if isinstance(names, str):
        names = orjson.loads(names) if names.startswith('["') else [names]
    found = []
    for number, image in enumerate(images):
        loaded = media.load(image)
        assert isinstance(loaded.source, bytes) and loaded.mime is not None
        if len(names) == len(images):
            name = names[number]
        elif isinstance(image.source, Path) and image.within is not None:
            name = os.path.relpath(image.source, image.within)
        else:
            behind = f"_{number}" if len(images) > 1 else ""
            name = f"{row.place}{behind}{ENDINGS[loaded.mime]}"
        found.append(_Picture(name=name, data=loaded.source))
    return found


def _kind(kind: Kind | None, value: Any) -> Kind | None:
    """What a column has whose rows so far had `kind`, and now this value."""
    if value is None:
        return kind
    mine = KINDS.get(type(value), "json")
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        mine = "texts"
    if kind in (None, mine):
        return mine
    return "float" if {kind, mine} == {"int", "float"} else "json"


def _one_or_all(values: Sequence[str]) -> str | Sequence[str]:
    return values[0] if len(values) == 1 else values


def _cells(row: _Full) -> dict[str, Any]:
    if not row.pictures:
        return dict(row.fields)
    return {
        **row.fields,
        "image": _one_or_all([pybase64.b64encode(one.data).decode() for one in row.pictures]),
        "image_path": _one_or_all([one.name for one in row.pictures]),
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
        writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            cells = _cells(row)
            writer.writerow([_text(cells.get(name)) for name in names])


def _write_parquet(path: Path, rows: Iterable[_Full], kinds: Kinds, most: int) -> None:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise UsageError(
            "parquet is written with pyarrow, which is not there: pip install 'snellen[parquet]'."
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
        found = [{"bytes": one.data, "path": one.name} for one in row.pictures]
        names = [one.name for one in row.pictures]
        if most == 1:
            return {**values, **({"image": found[0], "image_path": names[0]} if found else {})}
        return {**values, "images": found, "image_path": names}

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
    """Write the rows of a packed file, or of one in VLMEvalKit's form, as `rows.jsonl` into a
    folder, and their pictures beside it in `images/`.

    Raises:
        DataError: a row or a picture cannot be read, or a picture's name leads out of the folder.
        UsageError: `rows.jsonl` is there already.
    """
    table = vlmevalkit_tsv(file) if ".tsv" in file.suffixes else rows_of(file)
    put: dict[str, bytes] = {}
    rows = images = 0
    with _new(folder / "rows.jsonl") as part, open(part, "wb") as out:
        for row in table:
            pictures = _pictures(row, _images(row, file))
            places = [_put(one, row.place, put, folder, file) for one in pictures]
            found = {"image": _one_or_all(places)} if places else {}
            out.write(orjson.dumps({**_fields(row), **found}, default=str) + b"\n")
            rows += 1
            images += len(places)
    return Packed(rows=rows, images=images)


def _images(row: Row, file: Path) -> list[Image]:
    """The pictures in a row as its table gives them: images, or base64."""
    cell = row.get("image") or row.get("images") or []
    where = f"row {row.place + 1} of {file.name}, image"
    return [
        one if isinstance(one, Image) else Image(str(one).encode(), where)
        for one in (cell if isinstance(cell, list | tuple) else [cell])
    ]


def _put(picture: _Picture, place: int, put: dict[str, bytes], folder: Path, file: Path) -> str:
    """Write a picture; gives its place in the folder. Rows may share one, under the same name."""
    path = inside_folder(picture.name, file.name)
    inside = PurePosixPath("images", *path.parts[path.parts[0] == "images" :])
    digest = blake2b(picture.data, digest_size=16).digest()
    if put.setdefault(str(inside), digest) != digest:
        inside = inside.with_name(f"{inside.stem}_{place}{inside.suffix}")
        put[str(inside)] = digest
    target = folder / inside
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(picture.data)
    elif target.read_bytes() != picture.data:
        # It lay there before: to keep it would show other pictures than were packed.
        raise UsageError(f"{target} is there already, another picture: name an empty folder.")
    return str(inside)


@contextmanager
def _new(path: Path) -> Iterator[Path]:
    """A file to write, which gets its name when it is whole."""
    if path.exists():
        raise UsageError(f"{path} is there already: take it away, or name another place.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with placed(path) as part:
        yield part
