"""Computes sizes of scaled pictures, whose aspect ratio is kept, and grids of tiles."""

import math
from collections.abc import Iterator
from functools import lru_cache


def within(size: tuple[int, int], max_side: int | None, max_pixels: int | None) -> tuple[int, int]:
    """The largest size with the same aspect ratio that is within the limits and not larger than
    `size`. Width and height are at least one pixel."""
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


def tile_grid(
    width: int, height: int, *, most: int, least: int = 1, size: int = 448
) -> tuple[int, int]:
    """The number of columns and rows of the grid of tiles that InternVL cuts a picture into.

    The chosen grid has the aspect ratio closest to the picture's. If two grids are equally close,
    the larger grid wins if the picture has more than half as many pixels as this grid.

    Args:
        width: The picture's width in pixels.
        height: The picture's height in pixels.
        most: The largest number of tiles.
        least: The smallest number of tiles.
        size: The width and height of a tile in pixels.

    Source: OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:
    internvl_chat/internvl/train/dataset.py, `dynamic_preprocess`.
    """
    closest = (1, 1)
    smallest = float("inf")
    for columns, rows in _grids(most, least):
        distance = abs(width / height - columns / rows)
        if distance < smallest:
            smallest, closest = distance, (columns, rows)
        elif distance == smallest and width * height > 0.5 * size * size * columns * rows:
            closest = (columns, rows)
    return closest


@lru_cache
def _grids(most: int, least: int) -> tuple[tuple[int, int], ...]:
    """All grids of `least` to `most` tiles, in ascending order of the number of tiles."""

    def grids() -> Iterator[tuple[int, int]]:
        for n in range(1, most + 1):
            for columns in range(1, n + 1):
                for rows in range(1, n + 1):
                    if least <= columns * rows <= most:
                        yield columns, rows

    return tuple(sorted(set(grids()), key=lambda grid: grid[0] * grid[1]))
