"""Reads the format and the size of a picture from the first bytes of its file.

This module does not use Pillow, because Pillow is slow to import and notices only during decoding
that a file is cut off.
"""

import struct
from collections.abc import Iterator

PNG_START = b"\x89PNG\r\n\x1a\n"


def kind_of_head(data: bytes) -> str | None:
    """The picture format that the first bytes of a file indicate; None if the format is not
    supported."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(PNG_START):
        return "PNG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "TIFF"
    return "BMP" if data.startswith(b"BM") else None


def is_picture(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a picture in a supported format."""
    kind = kind_of_head(head)
    return kind is not None and (kind != "BMP" or head[6:10] == b"\0\0\0\0")


def jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the marker and offset of each segment up to the first scan (ITU T.81, annex B).

    Raises:
        IndexError: The data ends before the first scan.
    """
    at = 2
    while True:
        marker = data[at + 1]
        if data[at] != 0xFF or marker == 0xFF:  # fill bytes or garbage, which decoders skip too
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a segment
            at += 2
        elif marker == 0xD9:
            raise IndexError("ends before its scan")
        else:
            yield marker, at
            if marker == 0xDA:
                return
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """The width and height of a JPEG; None if a scan comes before the frame header.

    Raises:
        IndexError, struct.error: The data ends before the size.
    """
    for marker, at in jpeg_segments(data):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
    return None


def webp_size(data: bytes) -> tuple[int, int]:
    """The width and height of a WebP. The first chunk of the file contains the size, in one of
    three forms (RFC 9649).

    Raises:
        IndexError, struct.error: The data ends before the size.
    """
    chunk = data[12:16]
    if chunk == b"VP8X" and len(data) >= 30:
        width = 1 + int.from_bytes(data[24:27], "little")
        return width, 1 + int.from_bytes(data[27:30], "little")
    if chunk == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
        return width, height
    raise IndexError("no picture in the first chunk")


def size_by_head(data: bytes) -> tuple[int, int] | None:
    """The width and height of a picture, read from its first bytes. None for BMP, TIFF, and
    animations (except GIF), which are not sent unchanged.

    Raises:
        IndexError, struct.error: The data ends before the size.
    """
    match kind_of_head(data):
        case "JPEG":
            return jpeg_size(data)
        case "PNG":
            return None if _is_animated_png(data) else struct.unpack_from(">II", data, 16)
        case "GIF":
            width, height = struct.unpack_from("<HH", data, 6)
            return width, height
        case "WEBP":
            is_animated = data[12:16] == b"VP8X" and bool(data[20] & 2)
            return None if is_animated else webp_size(data)
    return None


def _is_animated_png(data: bytes) -> bool:
    """Whether the chunk acTL, which marks an animation, comes before the pixels."""
    at = len(PNG_START)
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        if name in (b"acTL", b"IDAT", b"IEND"):
            return bool(name == b"acTL")
        at += 12 + length
