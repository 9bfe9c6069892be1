"""How InternVL cuts pictures into tiles."""

from collections.abc import Sequence

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
