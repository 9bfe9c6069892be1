"""Encodes PNG files whose bytes are the same on every machine.

This module does not use Pillow, because Pillow uses zlib, and different builds of zlib compress
differently. This encoder compresses only runs of equal bytes, with Deflate's fixed code. Pictures
with large plain areas give small files. Noise is stored without compression.
"""

from __future__ import annotations

import struct
import zlib  # only for its checksums, which are the same in all builds

import numpy as np
from numpy.typing import NDArray

LONGEST = 258
MOST_STORED = 65_535


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode a picture (height, width, 3), RGB, as PNG. A gray picture becomes a gray PNG."""
    height, width, _ = pixels.shape
    gray = bool((pixels == pixels[:, :, :1]).all())
    rows = pixels[:, :, 0] if gray else pixels.reshape(height, width * 3)
    # Store each row as its difference from the row above (filter 2), so plain areas become zeros.
    above = np.zeros_like(rows)
    above[1:] = rows[:-1]
    filtered = np.empty((height, rows.shape[1] + 1), dtype=np.uint8)
    filtered[:, 0] = 2
    filtered[:, 1:] = rows - above
    data = filtered.tobytes()
    packed = b"\x78\x01" + _deflate(filtered.ravel()) + struct.pack(">I", zlib.adler32(data))
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if gray else 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def _deflate(data: NDArray[np.uint8]) -> bytes:
    """Compress bytes into one Deflate block with fixed codes (RFC 1951, 3.2.6). A run of equal
    bytes is encoded as one byte, followed by instructions to repeat it."""
    starts = np.flatnonzero(np.diff(data, prepend=~data[:1]))
    if len(starts) > len(data) // 2:
        return _stored(data.tobytes())
    lengths = np.diff(starts, append=len(data))
    bits = ["110"]  # the last block, of type 1; the bits are in the order of the stream
    for value, length in zip(data[starts].tolist(), lengths.tolist(), strict=True):
        full, rest = divmod(length - 1, LONGEST)
        bits.append(LITERAL[value])
        bits.append(COPY[LONGEST] * full)
        bits.append(COPY[rest] if rest in COPY else LITERAL[value] * rest)
    bits.append("0000000")
    stream = "".join(bits)
    return int(stream[::-1], 2).to_bytes(-(-len(stream) // 8), "little")


def _stored(data: bytes) -> bytes:
    """Store bytes in Deflate blocks without compression (RFC 1951, 3.2.4). Each block begins with
    its length and the complement of its length."""
    parts = [data[start : start + MOST_STORED] for start in range(0, len(data), MOST_STORED)]
    return b"".join(
        struct.pack("<BHH", part is parts[-1], len(part), len(part) ^ 0xFFFF) + part
        for part in parts
    )


def _literal(value: int) -> str:
    return f"{0x30 + value:08b}" if value < 144 else f"{0x190 + value - 144:09b}"


def _copies() -> dict[int, str]:
    """The codes that repeat a byte 3 to 258 times, keyed by the number of repeats. Each of these
    codes consists of a code for the length, extra bits, and the distance 1 (RFC 1951, 3.2.5)."""
    codes = {}
    length = 3
    for symbol in range(257, 285):
        extra = max(0, (symbol - 261) // 4)
        code = f"{symbol - 256:07b}" if symbol < 280 else f"{0xC0 + symbol - 280:08b}"
        for k in range(1 << extra):
            tail = f"{k:0{extra}b}"[::-1] if extra else ""
            codes[length] = f"{code}{tail}00000"
            length += 1
    codes[LONGEST] = f"{0xC0 + 285 - 280:08b}00000"
    return codes


LITERAL = [_literal(value) for value in range(256)]
COPY = _copies()
