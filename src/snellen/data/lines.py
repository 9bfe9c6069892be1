"""Reads text files line by line as bytes, and reports their errors."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from snellen.errors import DataError, check_regular

MAX_ROW_BYTES = 100_000_000
MAX_FILE_BYTES = 2_000_000_000
"""The most bytes of a file that is read into memory."""
BLOCK = 1 << 18
UNREADABLE = (OSError, EOFError, zlib.error)  # what reading a file, packed or not, raises

UTF8_MARK = b"\xef\xbb\xbf"
# The longer one first: UTF-32's mark begins with UTF-16's.
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Which of the first four bytes are zero in UTF-16 and UTF-32 without a mark, where the text begins
# with two ASCII characters. No text in UTF-8 has a zero byte there.
ZERO_BYTES: dict[tuple[bool, ...], str] = {
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
}


Line = tuple[bytes, int, int]
"""A line without its `\n`, its number from 1, and its first byte in the file. A `\r` before the
`\n` is kept, because in a quoted cell it is text.

A plain tuple: creating a named one takes as long as reading the line.
"""


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file, unpacked if it is `.gz`, without the UTF-8 byte-order mark.

    Raises:
        DataError: it cannot be opened or read, is not UTF-8 by its mark, or has a line over 100 MB.
    """
    with opened(path) as file:
        readline = file.readline
        offset = 0
        number = 1
        try:
            while raw := readline(MAX_ROW_BYTES + 1):
                start = offset
                offset += len(raw)
                if number == 1:
                    raw = without_mark(raw, path)
                    start = offset - len(raw)
                if len(raw) > MAX_ROW_BYTES:
                    raise too_long(path, number)
                yield raw.removesuffix(b"\n"), number, start
                number += 1
        except UNREADABLE as error:
            raise unreadable(error, path) from error


def packed(path: Path) -> bool:
    return path.suffix == ".gz"


def opened(path: Path) -> BinaryIO:
    try:
        check_regular(path)
        if packed(path):
            return cast(BinaryIO, gzip.open(path, "rb"))
        return open(path, "rb", buffering=BLOCK)
    except OSError as error:
        raise not_opened(error, path) from error


def read(file: BinaryIO, path: Path, size: int) -> bytes:
    try:
        return file.read(size)
    except UNREADABLE as error:
        raise unreadable(error, path) from error


def file_content(path: Path, most: int = MAX_FILE_BYTES) -> bytes:
    """The content of a text file, unpacked if it is `.gz`, without the UTF-8 byte-order mark.

    Raises:
        DataError: it cannot be opened or read, is not UTF-8, or has more than `most` bytes.
    """
    with opened(path) as file:
        raw = read(file, path, most + 1)
    if len(raw) > most:
        raise DataError(
            f"{path} has more than {most / 1e9:g} GB. Keep only the parts that are needed."
        )
    return utf8(raw, path)


def not_opened(error: OSError, path: Path) -> DataError:
    return DataError(f"{path} cannot be opened: {error.strerror or error}.")


def unreadable(error: Exception, path: Path) -> DataError:
    return DataError(
        f"{path} cannot be read to its end: {error}. If it was downloaded, fetch it again."
    )


def without_mark(start: bytes, path: Path) -> bytes:
    """The first bytes of a file without the UTF-8 byte-order mark.

    Raises:
        DataError: the file is UTF-16 or UTF-32 text.
    """
    if encoding := other_encoding(start):
        raise DataError(
            f"{path} is {encoding} text, but Snellen reads UTF-8. "
            f"Convert it: iconv -f {encoding} -t UTF-8."
        )
    return start.removeprefix(UTF8_MARK)


def other_encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32, if the first bytes show one of these; None otherwise."""
    for mark, encoding in OTHER_MARKS.items():
        if start.startswith(mark):
            return encoding
    return ZERO_BYTES.get(tuple(byte == 0 for byte in start[:4]))


def utf8(raw: bytes, path: Path) -> bytes:
    """The content of a text file without the UTF-8 byte-order mark.

    Raises:
        DataError: the text is in another encoding.
    """
    text = without_mark(raw, path)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, len(raw) - len(text), f"{path}") from error
    return text


def not_utf8(error: UnicodeDecodeError, offset: int, where: str) -> DataError:
    """The error for bytes from `offset` on that are not UTF-8; `where` is the row and the file."""
    byte = error.object[error.start]
    return DataError(
        f"{where} is not UTF-8 at byte {offset + error.start} (0x{byte:02x}): "
        f"{error.reason}. Convert the file, for example: iconv -f LATIN1 -t UTF-8."
    )


def too_long(path: Path, number: int) -> DataError:
    return DataError(
        f"{path} has a row of more than {MAX_ROW_BYTES // 10**6} MB at line {number}. "
        "If it holds pictures, save them as files and name these in the rows; "
        "if not, look for a quote that is never closed or line ends that are missing."
    )


def empty(path: Path) -> DataError:
    return DataError(f"{path} has no rows.")
