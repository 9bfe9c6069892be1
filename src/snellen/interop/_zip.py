"""Reads JSON documents from a zip file whose members may be compressed with Zstandard."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import orjson

from snellen.errors import DataError, UsageError, install

ZSTANDARD = 93
"""The number of the compression method Zstandard in zip files (APPNOTE.TXT 4.4.5)."""
LARGEST = 1 << 28
"""The maximum size of a document in bytes. Parsed JSON can take 32 times as much memory."""
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, UnicodeDecodeError),
    *(NotImplementedError, RuntimeError),  # another method; encrypted
)
"""The exceptions that `zipfile` raises for a document that it cannot read."""
LOCAL_HEADER = struct.Struct("<26xHH")
"""The last fields of a local file header: the lengths of the name and of the extra field."""


def document(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """Read a JSON document from the archive.

    Raises:
        DataError: the document is damaged, not JSON, or larger than 256 MiB.
        UsageError: the document needs an extra that is not installed.
    """
    info = archive.getinfo(name)
    if info.file_size > LARGEST:
        raise DataError(f"{path}: {name} has {info.file_size:,} bytes, more than {LARGEST:,}.")
    try:
        raw = archive.read(name) if info.compress_type != ZSTANDARD else _zstandard(path, info)
        return orjson.loads(raw)
    except DAMAGED as error:
        raise DataError(f"{path}: {name} is damaged: {error}.") from error
    except orjson.JSONDecodeError:
        return _lenient(path, name, raw)


def _lenient(path: Path, name: str, raw: bytes) -> Any:
    """Parse JSON that may contain NaN and the infinities, as Python writes them. NaN and the
    infinities are read as None."""
    import json

    try:
        return json.loads(raw, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: {name} cannot be parsed as JSON: {error}. If the file was downloaded, "
            "download it again."
        ) from error


def _zstandard(path: Path, info: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path} is compressed with Zstandard, which needs an extra: {install('inspect')}."
        ) from error
    with open(path, "rb") as file:
        _to_data(file, info)
        compressed = file.read(info.compress_size)
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(compressed, read_across_frames=True)
        raw: bytes = reader.read(info.file_size + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
    if len(raw) != info.file_size or zlib.crc32(raw) != info.CRC:
        raise zipfile.BadZipFile("its checksum differs")
    return raw


def _to_data(file: IO[bytes], info: zipfile.ZipInfo) -> None:
    """Move to the first byte of the compressed data."""
    file.seek(info.header_offset)
    header = file.read(LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size:
        raise zipfile.BadZipFile("its header is cut off")
    file.seek(sum(LOCAL_HEADER.unpack(header)), 1)
