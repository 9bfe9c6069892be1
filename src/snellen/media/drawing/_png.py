"""PNG files whose bytes are the same everywhere.

By hand, since builds of zlib, which Pillow uses, compress differently. Runs of one byte are
compressed here, in Deflate's fixed code. Pictures with large even areas come out small; noise is
stored as it is.
"""

from __future__ import annotations

import struct
import zlib  # its checksums alone, which are defined to the bit

import numpy as np
from numpy.typing import NDArray

LONGEST = 258
MOST_STORED = 65_535


def png(pixels: NDArray[np.uint8]) -> bytes:
    """The PNG file of a picture (height, width, 3), RGB. A gray picture becomes a gray PNG."""
    height, width, _ = pixels.shape
    gray = bool((pixels == pixels[:, :, :1]).all())
    rows = pixels[:, :, 0] if gray else pixels.reshape(height, width * 3)
    # Each row as its difference from the one above (filter 2): even areas become zeros.
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
    """RFC 1951: one block of fixed codes (3.2.6); a run is its byte, then copies of it."""
    starts = np.flatnonzero(np.diff(data, prepend=~data[:1]))
    if len(starts) > len(data) // 2:
        return _stored(data.tobytes())
    lengths = np.diff(starts, append=len(data))
    bits = ["110"]  # the last block, of kind 1; bits stand in the order in which they are sent
    for value, length in zip(data[starts].tolist(), lengths.tolist(), strict=True):
        full, rest = divmod(length - 1, LONGEST)
        bits.append(LITERAL[value])
        bits.append(COPY[LONGEST] * full)
        bits.append(COPY[rest] if rest in COPY else LITERAL[value] * rest)
    bits.append("0000000")
    stream = "".join(bits)
    return int(stream[::-1], 2).to_bytes(-(-len(stream) // 8), "little")


def _stored(data: bytes) -> bytes:
    """RFC 1951, 3.2.4: blocks of bytes as they are, each behind its length and that inverted."""
    parts = [data[start : start + MOST_STORED] for start in range(0, len(data), MOST_STORED)]
    return b"".join(
        struct.pack("<BHH", part is parts[-1], len(part), len(part) ^ 0xFFFF) + part
        for part in parts
    )


def _literal(value: int) -> str:
    return f"{0x30 + value:08b}" if value < 144 else f"{0x190 + value - 144:09b}"


def _copies() -> dict[int, str]:
    """What repeats a byte 3 to 258 times: the length's code, extra bits, distance 1 (3.2.5)."""
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
