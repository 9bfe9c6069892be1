"""Lines of a text file as bytes, one at a time, and what is wrong with them."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from snellen.errors import DataError

MAX_ROW_BYTES = 100_000_000
BLOCK = 1 << 20

UTF8_MARK = b"\xef\xbb\xbf"
# The longer one first: UTF-32's mark begins with UTF-16's.
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class Line(NamedTuple):
    """A line with its line end, its number from 1, and the byte of the file where it starts."""

    raw: bytes
    number: int
    offset: int


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file, `.gz` unpacked, without a UTF-8 byte-order mark.

    Raises:
        DataError: it cannot be opened or read, is not UTF-8 by its mark, or has a line over 100 MB.
    """
    with opened(path) as file:
        offset = 0
        number = 1
        while raw := read(file, path, MAX_ROW_BYTES + 1, line=True):
            start = offset
            offset += len(raw)
            if number == 1:
                raw = without_mark(raw, path)
                start = offset - len(raw)
            if len(raw) > MAX_ROW_BYTES:
                raise too_long(path, number)
            yield Line(raw, number, start)
            number += 1


def opened(path: Path) -> BinaryIO:
    try:
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        return open(path, "rb", buffering=BLOCK)
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror or error}.") from error


def read(file: BinaryIO, path: Path, size: int, *, line: bool = False) -> bytes:
    try:
        return file.readline(size) if line else file.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} cannot be read to its end: {error}. If it was downloaded, fetch it again."
        ) from error


def without_mark(start: bytes, path: Path) -> bytes:
    """The first bytes of a file without UTF-8's byte-order mark."""
    for mark, encoding in OTHER_MARKS.items():
        if start.startswith(mark):
            raise DataError(
                f"{path} is {encoding} text from its first byte on; UTF-8 is needed. "
                f"Convert it: iconv -f {encoding} -t UTF-8."
            )
    return start.removeprefix(UTF8_MARK)


def without_end(raw: bytes) -> bytes:
    """A line without its line end, `\\n` or `\\r\\n`."""
    return raw.removesuffix(b"\n").removesuffix(b"\r")


def not_utf8(error: UnicodeDecodeError, path: Path, offset: int, place: str) -> DataError:
    """The bytes of a file, read from `offset`, are not UTF-8; `place` is the row, or the header."""
    byte = error.object[error.start]
    return DataError(
        f"{place} of {path} is not UTF-8 at byte {offset + error.start} (0x{byte:02x}): "
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
