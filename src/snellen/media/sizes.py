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


def in_squares(width: int, height: int, *, factor: int, least: int, most: int) -> tuple[int, int]:
    """The size to which the processors of Qwen-VL models resize a picture. Both sides are multiples
    of `factor`, and the area is between `least` and `most`.

    Args:
        width: The picture's width in pixels.
        height: The picture's height in pixels.
        factor: The number that must divide both sides.
        least: The smallest area in pixels.
        most: The largest area in pixels.

    Source: huggingface/transformers@v5.23.0:src/transformers/models/qwen2_vl/
    image_processing_pil_qwen2_vl.py#L58-L84 (`smart_resize`), and QwenLM/Qwen3-VL@
    96588727e44c78b25ba03ea03b8e12f7e64fd0da:qwen-vl-utils/src/qwen_vl_utils/vision_process.py#
    L56-L81. The second differs for sides of less than half of `factor` or of very narrow pictures.

    >>> in_squares(640, 428, factor=28, least=3_136, most=1_003_520)
    (644, 420)
    """
    across, down = round(width / factor), round(height / factor)
    if across * down * factor**2 > most:
        scale = math.sqrt(width * height / most)
        across, down = (max(1, int(side / scale / factor)) for side in (width, height))
    elif across * down * factor**2 < least:
        scale = math.sqrt(least / (width * height))
        across, down = (math.ceil(side * scale / factor) for side in (width, height))
    return across * factor, down * factor


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
