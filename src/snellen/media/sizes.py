"""Computes sizes of scaled pictures. The aspect ratio is kept."""

import math


def within(size: tuple[int, int], max_side: int | None, max_pixels: int | None) -> tuple[int, int]:
    """The largest size with the same aspect ratio that is within the limits and not larger than
    `size`. Both sides have at least one pixel."""
    short, long = sorted(size)
    new_short, new_long = short, long
    if max_side is not None and new_long > max_side:
        new_short, new_long = max(1, round(short * max_side / long)), max_side
    if max_pixels is not None and new_short * new_long > max_pixels:
        new_short = max(1, math.isqrt(max_pixels * short // long))
        new_long = min(max_pixels // new_short, round(new_short * long / short))
    return (new_short, new_long) if size[0] < size[1] else (new_long, new_short)


def at_least(size: tuple[int, int], min_pixels: int | None) -> tuple[int, int]:
    """The smallest size that has the same aspect ratio and at least `min_pixels` pixels; `size`
    itself if it has enough pixels.

    >>> at_least((60, 40), 9_600), at_least((60, 40), 2_400)
    ((120, 80), (60, 40))
    """
    width, height = size
    if min_pixels is None or width * height >= min_pixels:
        return size
    scale = math.sqrt(min_pixels / (width * height))
    return math.ceil(width * scale), math.ceil(height * scale)
