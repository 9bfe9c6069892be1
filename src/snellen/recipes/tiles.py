"""How InternVL cuts a picture into tiles, and how Qwen3-VL scales one."""

from collections.abc import Sequence
from math import ceil, floor, sqrt

import msgspec

from snellen.media.sizes import tile_grid


class Tiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rule by which the pictures of a question are cut."""

    most: int
    """The largest number of tiles of a picture, without its thumbnail."""
    size: int = 448
    """The width and height of a tile in pixels."""
    total: int | None = None
    """The largest number of tiles of all pictures together; None for no such limit."""
    divided: bool = False
    """Whether the pictures share `most`."""
    others: int | None = None
    """The largest number of tiles of each picture after the first; None: as the first."""
    first_doubled: bool = False
    """Whether the first picture is doubled in width and height before it is cut."""

    def counts(self, sizes: Sequence[tuple[int, int]]) -> list[int]:
        """The number of tiles of each picture, with its thumbnail.

        Args:
            sizes: The width and height of each picture in pixels.
        """
        most = self.most
        if self.divided:
            most = max(1, most // max(1, len(sizes)))
        if self.total is not None:
            most = max(1, min(most, self.total // max(1, len(sizes))))
        return [
            tile_count(
                *((width * 2, height * 2) if self.first_doubled and not i else (width, height)),
                most=most if self.others is None or not i else self.others,
                size=self.size,
            )
            for i, (width, height) in enumerate(sizes)
        ]


def tile_count(width: int, height: int, *, most: int, size: int = 448) -> int:
    """The number of tiles of a picture, with the thumbnail that comes with several tiles.

    The grid is that of `media.sizes.tile_grid`.
    """
    columns, rows = tile_grid(width, height, most=most, size=size)
    tiles = columns * rows
    return tiles + 1 if tiles > 1 else 1


def scaled(width: int, height: int, *, least: int, most: int, factor: int = 32) -> tuple[int, int]:
    """The size of a picture whose sides are multiples of `factor`, and whose area is in bounds.

    Args:
        width: Its width in pixels.
        height: Its height in pixels.
        least: The smallest area in pixels.
        most: The largest area in pixels.
        factor: What divides the sides.

    Source: `smart_resize` of qwen_vl_utils, QwenLM/Qwen3-VL.
    """
    sides = [round(side / factor) * factor for side in (width, height)]
    if sides[0] * sides[1] > most:
        by = sqrt(width * height / most)
        sides = [max(factor, floor(side / by / factor) * factor) for side in (width, height)]
    elif sides[0] * sides[1] < least:
        by = sqrt(least / (width * height))
        sides = [ceil(side * by / factor) * factor for side in (width, height)]
    return sides[0], sides[1]
