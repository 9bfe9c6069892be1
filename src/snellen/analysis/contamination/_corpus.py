"""Reads training data of any layout one row at a time, with the texts and pictures of each row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import orjson

from snellen.analysis.contamination._read import Troubles, writable
from snellen.data import Table, csv, json_list, parquet, tsv, without_mark
from snellen.data.lines import UNREADABLE, opened, unreadable
from snellen.errors import DataError, UsageError
from snellen.media.content import Image

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
READERS: Mapping[str, Callable[[Path], Table]] = {
    ".json": json_list,
    ".parquet": parquet,
    ".tsv": tsv,
    ".csv": csv,
}
ROWS = (".jsonl", *READERS)
TEXTS = (".txt", ".md")
MAX_ROW_BYTES = 100_000_000
LONGEST_TEXT = 1_000_000
"""The maximum number of characters that are read from a text."""
PARAGRAPH = 200
"""The maximum number of lines of plain text in one row. Rows also end at blank lines."""
DEEPEST = 12
MOST_TEXTS, MOST_PICTURES = 10_000, 1_000
"""The maximum number of texts, and the maximum number of pictures, that are read from one row."""
MAX_NEIGHBORS = 50
IMAGE_FIELDS = ("image", "images", "img", "image_path", "image_paths", "picture", "pictures")
BASE64 = 500
"""The maximum length, in characters, of a path in a field for pictures. A longer text without
spaces is a picture in base64."""
ADDRESSES = ("http://", "https://", "s3://", "gs://")


@dataclass(frozen=True)
class Passage:
    """A text of the corpus, with the neighboring texts that may contain an answer."""

    text: str
    """The text itself."""
    neighbors: tuple[str, ...] = ()
    """Texts that may contain the answer if `text` is a question: the next turn of a conversation,
    or other fields of the same object."""


@dataclass
class CorpusRow:
    """A row of the corpus."""

    where: str
    """The file, and the line or row number in it."""
    passages: list[Passage] = field(default_factory=list)
    """The texts of the row."""
    pictures: list[Image] = field(default_factory=list)
    """The pictures of the row."""


def rows(
    paths: Iterable[Path], folder: Path | None, troubles: Troubles
) -> Iterator[CorpusRow | None]:
    """Yield the rows of files and folders. After the last row of each file, yield None. A picture
    that no row refers to becomes a row of its own. Pictures that rows refer to are looked up in
    `folder`, or by default next to the file with the rows.

    Raises:
        UsageError: a path does not exist.
    """
    for path in dict.fromkeys(paths):
        if not path.is_dir() and not path.is_file():
            raise UsageError(f"{path}: there is no such file or folder. Check --corpus.")
        picture_paths: set[Path] = set()
        below = list(_below(path, troubles)) if path.is_dir() else [path]
        roots = [folder] if folder else [path if path.is_dir() else path.parent]
        empty = True
        for file in below:
            if _kind(file) in (*ROWS, *TEXTS):
                base = roots if folder or file.parent in roots else [file.parent, *roots]
                try:
                    for row in _of_file(file, base, troubles):
                        picture_paths.update(
                            picture.source
                            for picture in row.pictures
                            if isinstance(picture.source, Path)
                        )
                        empty = False
                        yield row
                except DataError as error:
                    troubles.add("files that were read only in part", str(error))
                yield None
        for file in below:
            if _kind(file) in IMAGES:
                empty = False
                if file not in picture_paths:
                    yield CorpusRow(writable(str(file)), pictures=[Image(file, label=str(file))])
                    yield None
            elif _kind(file) not in (*ROWS, *TEXTS):
                troubles.add("files of an unsupported type", str(file))
        if empty:
            troubles.add("corpora without readable files", str(path))


def _below(folder: Path, troubles: Troubles) -> Iterator[Path]:
    """All files in a folder and its subfolders, sorted by name. Hidden files and linked folders are
    left out."""

    def not_read(error: OSError) -> None:
        troubles.add("folders that cannot be read", str(error))

    for base, folders, names in os.walk(folder, onerror=not_read):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            if os.path.isfile(os.path.join(base, name)):
                yield Path(base, name)
            else:  # reading a pipe would block
                troubles.add("files of an unsupported type", os.path.join(base, name))


def _kind(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _of_file(path: Path, folders: Sequence[Path], troubles: Troubles) -> Iterator[CorpusRow]:
    match _kind(path):
        case ".jsonl":
            values: Iterator[tuple[str, Any]] = _jsonl(path, troubles)
        case ".txt" | ".md":
            values = _paragraphs(path)
        case kind:
            values = ((f"{path} row {row.position + 1}", row) for row in READERS[kind](path))
    for where, value in values:
        row = CorpusRow(writable(where))
        for passage in islice(_passages(value), MOST_TEXTS):
            row.passages.append(Passage(passage.text[:LONGEST_TEXT], passage.neighbors))
        for picture in islice(_pictures(value), MOST_PICTURES):
            image = _image(picture, where, folders)
            if image is None:
                troubles.add("URLs of pictures, which are not downloaded", f"{where}: {picture!r}")
            else:
                row.pictures.append(image)
        yield row


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; a `.gz` file is decompressed. If a line is longer than
    MAX_ROW_BYTES bytes, only the first MAX_ROW_BYTES bytes are yielded, and the caller must not use
    these bytes as a row."""
    try:
        with opened(path) as file:
            is_first = True
            while line := file.readline(MAX_ROW_BYTES):
                yield without_mark(line, path) if is_first else line
                is_first = False
                while len(line) == MAX_ROW_BYTES and not line.endswith(b"\n"):
                    line = file.readline(MAX_ROW_BYTES)
    except UNREADABLE as error:
        raise unreadable(error, path) from error


def _jsonl(path: Path, troubles: Troubles) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(_lines(path), 1):
        if line.isspace():
            continue
        where = f"{path} line {number}"
        if len(line) == MAX_ROW_BYTES:
            troubles.add(f"lines of {MAX_ROW_BYTES // 1_000_000} MB or more", where)
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            troubles.add("lines that are not JSON in UTF-8", f"{where}: {error}")
            continue
        yield where, value


def _paragraphs(path: Path) -> Iterator[tuple[str, Any]]:
    held: list[str] = []
    first = 1
    for number, line in enumerate(_lines(path), 1):
        text = line.decode("utf-8", "replace").strip()
        if text:
            first = first if held else number
            held.append(text)
        if held and (not text or len(held) == PARAGRAPH):
            yield f"{path} line {first}", {"text": " ".join(held), "lines": "\n".join(held)}
            held = []
    if held:
        yield f"{path} line {first}", {"text": " ".join(held), "lines": "\n".join(held)}


# -- the texts and pictures of a row, in any fields


def _passages(value: object, name: str = "", depth: int = 0) -> Iterator[Passage]:
    """Yield every text of a row. The neighbors of a text are the other texts of the same object, or
    the next turn of the conversation."""
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        texts = [
            item
            for key, item in value.items()
            if isinstance(item, str) and not _names(item, str(key))
        ]
        for text in texts:
            others = (other for other in texts if other is not text)
            yield Passage(text, tuple(islice(others, MAX_NEIGHBORS)))
        for key, item in value.items():
            if not isinstance(item, str):
                yield from _passages(item, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        turns = [*(_turn(item, name) for item in value), None]
        for item, (turn, after) in zip(value, pairwise(turns), strict=True):
            if turn is None:
                yield from _passages(item, name, depth + 1)
            else:
                yield Passage(turn, () if after is None else (after,))
    elif isinstance(value, str) and not _names(value, name):
        yield Passage(value)


def _turn(value: object, name: str) -> str | None:
    """The text of a turn in a conversation; None if `value` is not a turn. In LLaVA's
    conversations, the text is in the field `value`. In chat messages, the text is in `content`,
    which may be a list of parts."""
    if isinstance(value, str):
        return None if _names(value, name) else value
    if not isinstance(value, Mapping):
        return None
    text = value.get("value", value.get("content"))
    if isinstance(text, list | tuple):
        parts = [part.get("text") for part in text if isinstance(part, Mapping)]
        text = "\n".join(part for part in parts if isinstance(part, str))
    return text if isinstance(text, str) and text else None


def _pictures(value: object, name: str = "", depth: int = 0) -> Iterator[Image | str | bytes]:
    """Yield every picture of a row, which may be an image, bytes, or a text that contains a path, a
    URL, or base64."""
    if depth > DEEPEST:
        return
    if isinstance(value, Image | bytes):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _pictures(item, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _pictures(item, name, depth + 1)
    elif isinstance(value, str) and _names(value, name):
        yield value


def _names(text: str, field_name: str) -> bool:
    """Whether a text is the path or URL of a picture, or a picture in base64."""
    if text.startswith("data:image/"):
        return True
    if len(text) > BASE64:
        return field_name.lower() in IMAGE_FIELDS and " " not in text[:BASE64]
    return text.lower().endswith(IMAGES) and "\n" not in text


def _image(picture: Image | str | bytes, where: str, folders: Sequence[Path]) -> Image | None:
    """Return the picture as an image that can be opened; None for a URL, which is not
    downloaded."""
    if isinstance(picture, Image):
        return picture
    if isinstance(picture, bytes):
        return Image(picture, label=f"a picture of {where}")
    if picture.startswith(ADDRESSES):
        return None
    if len(picture) > BASE64 or picture.startswith("data:"):
        return Image(picture.encode("utf-8", "replace"), label=f"a picture of {where}")
    candidates = [(folder, folder / picture) for folder in folders]
    folder, path = next(((a, b) for a, b in candidates if _is_file(b)), candidates[0])
    return Image(path, label=picture, within=folder)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name: opening it reports that
        return False
