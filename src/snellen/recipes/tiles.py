"""How InternVL cuts pictures into tiles, and how Qwen3-VL scales pictures."""

from collections.abc import Sequence
from math import ceil, floor, sqrt

import msgspec

from snellen.media.sizes import tile_grid


class Tiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rule by which the pictures of a question are cut into tiles."""

    most: int
    """The maximum number of tiles of a picture, not counting its thumbnail."""
    size: int = 448
    """The width and height of a tile in pixels."""
    total: int | None = None
    """The maximum number of tiles of all pictures together; None: no limit."""
    divided: bool = False
    """Whether `most` is divided equally among the pictures of a question."""
    others: int | None = None
    """The maximum number of tiles of each picture after the first; None: the same as the first."""
    first_doubled: bool = False
    """Whether the first picture is doubled in width and height before it is cut."""

    def counts(self, sizes: Sequence[tuple[int, int]]) -> list[int]:
        """Return the number of tiles of each picture, including the thumbnail.

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
    """Return the number of tiles of a picture, plus one for the thumbnail if there are several
    tiles.

    `media.sizes.tile_grid` chooses the grid.
    """
    columns, rows = tile_grid(width, height, most=most, size=size)
    tiles = columns * rows
    return tiles + 1 if tiles > 1 else 1


def scaled(width: int, height: int, *, least: int, most: int, factor: int = 32) -> tuple[int, int]:
    """Return the size to which a picture is scaled.

    Both sides are multiples of `factor`, and the area is between `least` and `most`.

    Args:
        width: The picture's width in pixels.
        height: The picture's height in pixels.
        least: The smallest area in pixels.
        most: The largest area in pixels.
        factor: The number that must divide both sides.

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
