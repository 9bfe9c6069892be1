"""Shows a part of a picture."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from snellen.media.views import FULL, PictureView
from snellen.tools.shown import Shown, ToolError

Box = Annotated[
    list[float],
    Meta(
        min_length=4,
        max_length=4,
        description="The left, top, right, and bottom edge of the part, from 0 to 1000: 0 is the "
        "left or top edge of the picture, and 1000 the right or bottom edge.",
    ),
]
PictureNumber = Annotated[
    int,
    Meta(
        ge=1,
        description="The number of the picture, counted from 1 in the order in which the pictures "
        "were shown.",
    ),
]
SMALLEST = 28
"""The minimum width and height of a part, in pixels. Vision encoders divide a picture into patches
of up to this size, and many servers reject smaller pictures."""


def zoom(shown: Shown, *, box: Box, picture: PictureNumber = 1) -> PictureView:
    """Show a part of a picture at the full resolution of the original, to see small details."""
    left, top, right, bottom = box
    if not (0 <= left < right <= FULL and 0 <= top < bottom <= FULL):
        raise ToolError(
            "the box must be [left, top, right, bottom] with 0 <= left < right <= 1000 and "
            f"0 <= top < bottom <= 1000, not {box}"
        )
    full = shown.picture(picture)
    part = full.part(left, top, right, bottom)
    if min(part.size) < min(SMALLEST, *full.size):
        width, height = part.size
        full_width, full_height = full.size
        raise ToolError(
            f"the box covers only {width} x {height} of the {full_width} x {full_height} pixels of "
            f"picture {picture}. A part must have at least {SMALLEST} x {SMALLEST} pixels. Choose "
            "a larger box"
        )
    return part
