"""The maximum size of pictures.

A file of a few kilobytes may contain more pixels than fit into memory (a decompression bomb), so a
larger picture is refused before it is decoded. Users who trust their pictures can raise the limit.
"""

from __future__ import annotations

import math
import os

from snellen.errors import MediaError, UsageError

VARIABLE = "SNELLEN_MAX_MEGAPIXELS"
"""The environment variable with the maximum number of pixels of a picture, in millions."""
DEFAULT_PIXELS = 178_956_970
"""The maximum number of pixels if the variable is not set. It equals Pillow's limit for
decompression bombs."""
DEFAULT_BYTES = 1 << 29
"""The maximum size of a file if the variable is not set. It equals the size of a 24-bit BMP with
`DEFAULT_PIXELS`."""
DECODED_BYTES = 4
"""The number of bytes that a decoded pixel takes in Pillow, unless the picture is gray."""


def max_pixels() -> int:
    """The maximum number of pixels of a picture.

    Raises:
        UsageError: the variable does not contain a number above 0.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return DEFAULT_PIXELS
    try:
        pixels = float(text) * 1e6
    except ValueError:
        pixels = math.nan
    if not 1 <= pixels < math.inf:
        raise UsageError(
            f"{VARIABLE} is {text!r}. Set it to a number of megapixels, such as 300, or unset it."
        )
    return int(pixels)


def max_bytes() -> int:
    """The maximum size of a picture's file in bytes, which grows with `max_pixels`."""
    return max(DEFAULT_BYTES, 3 * max_pixels())


def check_size(name: str, width: int, height: int) -> None:
    """Refuse a picture without pixels, or with more than `max_pixels`.

    Raises:
        MediaError: The picture has no pixels or too many. `name` is the picture's name in the
            message.
    """
    if width < 1 or height < 1:
        raise MediaError(f"{name} is {width} x {height} pixels, so it shows nothing.")
    pixels, most = width * height, max_pixels()
    if pixels > most:
        raise MediaError(
            f"{name} is {width} x {height} pixels, {pixels:,} in all; at most {most:,} "
            f"are read. Save a smaller copy. If you trust the file, set {VARIABLE}="
            f"{math.ceil(pixels / 1e6)}; decoding the file takes up to "
            f"{DECODED_BYTES * pixels / 1e9:,.1f} GB of memory."
        )


def check_bytes(name: str, size: int) -> None:
    """Refuse a file of more than `max_bytes`.

    Raises:
        MediaError: The file is too large. `name` is the picture's name in the message.
    """
    if size > (most := max_bytes()):
        raise MediaError(
            f"{name} has {size:,} bytes; at most {most:,} are read. Save a smaller copy."
        )
