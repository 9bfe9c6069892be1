"""Reads TSV files in VLMEvalKit's format. Pictures in the rows become references to their bytes in
the file."""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import cast

import orjson

from snellen.data.lines import opened, packed
from snellen.data.locations import DataFile
from snellen.data.row_index import Fields, Learnt, RowEntry, RowIndex
from snellen.data.sheets import MISSING, PictureSpan, Record, Tsv
from snellen.data.table import Row
from snellen.errors import DataError
from snellen.media import forms
from snellen.media.content import Image, Slice

PICTURE = 64
"""The maximum length, in characters, of an `image` cell that is the index of another row. A longer
cell is a picture, as in
open-compass/VLMEvalKit@050726559997d4642f3ae483391be97d49868f8c:vlmeval/dataset/image_base.py,
ImageBaseDataset.__init__."""
SHARED = ("COCO", "CRPE", "MMBench", "MMMU", "MMNIAH", "OCRVQA", "QSpatial")
"""Picture folders that several data sets share. A data set uses one of these folders if the data
set's name begins with the folder's name, as in img_root_map in image_base.py."""
_STRING = r"""\s*+(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")\s*+"""
_LIST = re.compile(rf"\[(?:{_STRING}(?:,{_STRING})*+)?,?\s*+\]", re.DOTALL)
_ITEM = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def vlmevalkit_tsv(path: Path | DataFile, revision: str | None = None) -> "VlmEvalKitTsv":
    """Read a TSV file in VLMEvalKit's format as a table.

    Cells are text, except `image`, which is a tuple of references to pictures. The tuple is empty
    if the row has no picture. A picture is the base64 text in the cell or, if the cell is the
    `index` of another row, the picture of that row. If there is no column `image`, the pictures are
    the files named in the column `image_path`.

    Iterating raises DataError in the same cases as for `tsv`, and also if the `image` of a row is
    not a picture and is not the `index` of a row that has a picture.
    """
    return VlmEvalKitTsv(path, None, revision)


class VlmEvalKitTsv(Tsv):
    """A TSV file whose pictures are not read with the rows. Each row stores only the positions of
    its pictures."""

    KIND = "vlmevalkit"

    def __iter__(self) -> Iterator[Row]:
        path = self._path
        if packed(path):
            for row in super().__iter__():
                row["image"] = self._images(row, b"", None, path)
                yield row
            return
        index = self.index()
        with opened(path) as file:
            for position, entry in enumerate(index):
                yield self._row(self._bytes(file.fileno(), entry), entry, position, path, index)

    def _scan(self, path: Path, learnt: Learnt) -> Iterator[Fields]:
        pictures = _Pictures(learnt)
        yield from self._entries(path, learnt, pictures.span)
        learnt.lenders = pictures.lenders()
        # A cell that pandas reads as missing means, in this column too, that there is no picture.
        learnt.missing.pop("image", None)

    def _bytes(self, descriptor: int, entry: RowEntry) -> bytes:
        """Read the bytes of the row, except those of its picture."""
        if not entry.skip:
            return super()._bytes(descriptor, entry)
        behind = entry.at + entry.skip
        return os.pread(descriptor, entry.at, entry.offset) + os.pread(
            descriptor, entry.length - behind, entry.offset + behind
        )

    def _row(self, raw: bytes, entry: RowEntry, position: int, path: Path, index: RowIndex) -> Row:
        row = super()._row(raw, entry, position, path, index)
        if entry.skip:
            row["image"] = (_picture(entry, position, path),)
        else:
            row["image"] = self._images(row, raw, entry, path)
        return row

    def _images(
        self, row: Row, raw: bytes, entry: RowEntry | None, path: Path
    ) -> tuple[Image, ...]:
        """The images of a row whose bytes were all read. If the file is gzipped, `entry` is None,
        and the pictures stay in memory."""
        where = _where(row.position, path)
        if "image" not in row:
            return _files(row.get("image_path", ""), where, path)
        cell = row["image"]
        if not cell or cell.encode() in MISSING:
            return ()
        if cell.startswith("["):
            sources = _sources(strings(cell, where), raw, entry, path)
            return tuple(Image(source, f"{where} {n}") for n, source in enumerate(sources, 1))
        if len(cell) > PICTURE:
            return (Image(cell.encode(), where),)
        if entry is None:
            raise DataError(
                f"{where} is {cell!r}, the index of another row with the picture. The picture of "
                "another row can be read only if the file is not gzipped. Decompress it: "
                f"gunzip {path}."
            )
        return self._borrowed(cell, where, path)

    def _borrowed(self, name: str, where: str, path: Path) -> tuple[Image, ...]:
        index = self.index()
        position = index.learnt.lenders.get(name)
        if position is not None:
            entry = index.entry(position)
            images = (
                (_picture(entry, position, path),) if entry.skip else self.at(position)["image"]
            )
            if images:
                return tuple(images)
        raise DataError(
            f"{where} is {name!r}, which is neither a picture in base64 nor the index of a row "
            "with a picture. If it is the name of a file, rename the column to image_path."
        )


class _Pictures:
    """Finds the pictures in the rows of a table, and the rows whose pictures are used by other
    rows."""

    def __init__(self, learnt: Learnt) -> None:
        self._learnt = learnt
        self._position_of: dict[bytes, int] = {}
        self._borrows: dict[int, bytes] = {}

    @cached_property
    def _columns(self) -> tuple[int | None, int | None]:
        """The positions of the columns `index` and `image`; None for a missing column. Access this
        property only after the header has been read."""
        names = self._learnt.names
        index, image = (names.index(n) if n in names else None for n in ("index", "image"))
        return index, image

    def span(self, record: Record, cells: list[bytes], position: int) -> PictureSpan:
        """The start and length of the base64 picture in the row; 0, 0 if the row has no such
        picture."""
        index, image = self._columns
        if image is None:
            return 0, 0
        if index is not None:
            self._position_of[cells[index]] = position
        cell = cells[image]
        if cell.startswith(b"[") or not cell or cell in MISSING:
            return 0, 0
        if len(cell) <= PICTURE:
            self._borrows[position] = cell
            return 0, 0
        if record.spans is None:
            return sum(map(len, cells[:image])) + image, len(cell)
        start, end, doubled = record.spans[image]
        return (0, 0) if doubled else (start, end - start)

    def lenders(self) -> dict[str, int]:
        """Some rows have the `index` of another row in place of a picture. Map each such `index` to
        the position of the row that contains the picture. If the row with that `index` refers to
        yet another row, the references are followed."""
        lenders = {}
        for name in set(self._borrows.values()):
            position = self._position_of.get(name)
            passed = set()
            while position in self._borrows and position not in passed:
                passed.add(position)
                position = self._position_of.get(self._borrows[position])
            if position is not None and position not in passed:
                lenders[name.decode(errors="replace")] = position
        return lenders


def _where(position: int, path: Path) -> str:
    return f"row {position + 1} of {path.name}, image"


def _picture(entry: RowEntry, position: int, path: Path) -> Image:
    source = _slice(path, entry.offset + entry.at, entry.skip)
    return Image(source, _where(position, path))


def _slice(path: Path, offset: int, length: int) -> Slice:
    return Slice(path=path, offset=offset, length=length, encoding="base64")


def _sources(
    texts: list[str], raw: bytes, entry: RowEntry | None, path: Path
) -> Iterator[Slice | bytes]:
    """Yield the position, in the file, of each base64 text from a row's list of pictures. If the
    file is gzipped, or if the row does not contain the text unchanged, yield the text's bytes
    instead."""
    at = 0
    for text in texts:
        wanted = text.encode()
        start = raw.find(wanted, at)
        if entry is None or start < 0:
            yield wanted
        else:
            at = start + len(wanted)
            yield _slice(path, entry.offset + start, len(wanted))


def _files(cell: str, where: str, path: Path) -> tuple[Image, ...]:
    names = strings(cell, where) if cell.startswith("[") else [cell] if cell else []
    folder = _folder(path)
    shown = [forms.medium(name, where, kind="image", folder=folder) for name in names]
    return cast(tuple[Image, ...], tuple(shown))


def strings(cell: str, where: str) -> list[str]:
    """The strings of a list that is written as JSON or as a Python literal."""
    try:
        read = orjson.loads(cell)
    except orjson.JSONDecodeError:
        if not _LIST.fullmatch(cell.strip()):
            raise DataError(
                f"{where} begins like a list but is not a list of quoted strings: {cell[:40]!r}. "
                "Write it as JSON."
            ) from None
        read = [_ESCAPED.sub(r"\1", quoted or other) for quoted, other in _ITEM.findall(cell)]
    if not all(isinstance(text, str) for text in read):
        raise DataError(
            f"{where} is a list with elements that are not strings: {cell[:40]!r}. "
            "Put each element in quotes."
        )
    return list(read)


def _folder(path: Path) -> Path:
    """The folder that file names in the rows are relative to. The result is the data set's folder
    in `images/`, next to the TSV file, if that folder exists; otherwise, it is the folder of the
    TSV file."""
    name = path.name.removesuffix(".gz").removesuffix(".tsv").removesuffix("_local")
    shared = next((folder for folder in SHARED if name.startswith(folder)), name)
    if re.fullmatch("MMBench_(DEV|TEST)_(EN|CN)_V11", name):
        shared = "MMBench_V11"
    folders = (path.parent / "images" / folder for folder in (name, shared))
    return next((folder for folder in folders if folder.is_dir()), path.parent)
