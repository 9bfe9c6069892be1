"""Reads text files as lines of bytes, and creates the errors for unreadable files."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from snellen.errors import DataError, check_regular

MAX_ROW_BYTES = 100_000_000
MAX_FILE_BYTES = 2_000_000_000
"""The maximum size, in bytes, of a file that is read as a whole."""
BLOCK = 1 << 18
# The errors that reading a file can raise, gzipped or not.
UNREADABLE = (OSError, EOFError, zlib.error)

UTF8_MARK = b"\xef\xbb\xbf"
# UTF-32 is first because its little-endian mark begins with that of UTF-16.
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Which of the first four bytes are zero in UTF-16 and UTF-32 text without a mark that begins with
# two ASCII characters. UTF-8 text has no zero byte there.
ZERO_BYTES: dict[tuple[bool, ...], str] = {
    (False, True, True, True): "UTF-32LE",
    (True, True, True, False): "UTF-32BE",
    (False, True, False, True): "UTF-16LE",
    (True, False, True, False): "UTF-16BE",
}


Line = tuple[bytes, int, int]
"""A line without its `\n`, the line's number (from 1), and its byte offset in the file. A `\r`
before the `\n` is kept because it is text in a quoted cell.

The type is a plain tuple because creating a named tuple takes as long as reading the line.
"""


def lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file without the UTF-8 byte-order mark. A `.gz` file is decompressed.

    Raises:
        DataError: The file cannot be opened or read, is UTF-16 or UTF-32, or has a line of more
            than 100 MB.
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
    """Read a text file without the UTF-8 byte-order mark. A `.gz` file is decompressed.

    Raises:
        DataError: The file cannot be opened or read, is not UTF-8, or has more than `most` bytes.
    """
    with opened(path) as file:
        raw = read(file, path, most + 1)
    if len(raw) > most:
        raise DataError(
            f"{path} is larger than {most / 1e9:g} GB. Reduce it to the parts that you need."
        )
    return utf8(raw, path)


def not_opened(error: OSError, path: Path) -> DataError:
    return DataError(f"{path} cannot be opened: {error.strerror or error}.")


def unreadable(error: Exception, path: Path) -> DataError:
    return DataError(
        f"{path} cannot be read to its end: {error}. If it was downloaded, download it again."
    )


def without_mark(start: bytes, path: Path) -> bytes:
    """Remove the UTF-8 byte-order mark from the first bytes of a file.

    Raises:
        DataError: The file is UTF-16 or UTF-32 text.
    """
    if encoding := other_encoding(start):
        raise DataError(
            f"{path} is {encoding} text, but Snellen reads UTF-8. "
            f"Convert it: iconv -f {encoding} -t UTF-8."
        )
    return start.removeprefix(UTF8_MARK)


def other_encoding(start: bytes) -> str | None:
    """The UTF-16 or UTF-32 encoding that the first bytes of a file indicate; None if they indicate
    neither."""
    for mark, encoding in OTHER_MARKS.items():
        if start.startswith(mark):
            return encoding
    return ZERO_BYTES.get(tuple(byte == 0 for byte in start[:4]))


def utf8(raw: bytes, path: Path) -> bytes:
    """Remove the UTF-8 byte-order mark from the content of a text file.

    Raises:
        DataError: The text has another encoding.
    """
    text = without_mark(raw, path)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, len(raw) - len(text), f"{path}") from error
    return text


def not_utf8(error: UnicodeDecodeError, offset: int, where: str) -> DataError:
    """The error for bytes that are not UTF-8. `offset` is the position, in the file, of the bytes
    that were decoded, and `where` names the row and the file."""
    byte = error.object[error.start]
    return DataError(
        f"{where} is not UTF-8 at byte {offset + error.start} (0x{byte:02x}): "
        f"{error.reason}. Convert the file, for example: iconv -f LATIN1 -t UTF-8."
    )


def too_long(path: Path, number: int) -> DataError:
    return DataError(
        f"{path} has a row of more than {MAX_ROW_BYTES // 10**6} MB at line {number}. "
        "If it contains pictures, save them as files and put the names of the files in the rows. "
        "If it contains no pictures, look for a quote that is never closed or for missing line "
        "ends."
    )


def empty(path: Path) -> DataError:
    return DataError(f"{path} has no rows. Check that it is the right file, and complete.")
