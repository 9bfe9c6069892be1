"""Shows a part of a picture, with the declaration of Qwen's own tool.

QwenLM/Qwen-Agent@31a4d36d123688581a9e9744427272b33ce940e0:qwen_agent/tools/
image_zoom_in_qwen3vl.py has the declaration (#L31-L61) and the tool (#L95-L174). As there, a box
that leaves the picture is cut at its edges, a part that is narrower or lower than 32 pixels is
enlarged around its center, and a picture with fewer than 262,144 pixels is scaled up. Qwen's tool
also scales both sides to multiples of 32 pixels, which most processors of Qwen's models do anyway.
"""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta

from snellen.media import images
from snellen.media.content import Image
from snellen.media.views import FULL, rendered
from snellen.tools.shown import Shown, ToolError

Box = Annotated[
    list[float],
    Meta(
        min_length=4,
        max_length=4,
        description="The bounding box of the region to zoom in, as [x1, y1, x2, y2], where (x1, "
        "y1) is the top-left corner and (x2, y2) is the bottom-right corner",
    ),
]
Label = Annotated[
    str, Meta(description="The name or label of the object in the specified bounding box")
]
Index = Annotated[float, Meta(description="The index of the zoomed-in image (starting from 0)")]
SMALLEST = 32
"""The minimum width and height of a part, in pixels."""
MIN_PIXELS, MAX_PIXELS = 256 * 32 * 32, 1 << 22
"""The minimum and maximum number of pixels of the result."""


def image_zoom_in_tool(shown: Shown, *, bbox_2d: Box, label: Label, img_idx: Index) -> Image:
    """Zoom in on a specific region of an image by cropping it based on a bounding box (bbox) and an
    optional object label"""
    if img_idx not in range(len(shown.pictures)):
        raise ToolError(
            f"img_idx must be a whole number from 0 to {len(shown.pictures) - 1}, not {img_idx:g}"
        )
    picture = shown.picture(int(img_idx) + 1)
    left, top, right, bottom = (min(max(0.0, edge), FULL) for edge in bbox_2d)
    has_area = left < right and top < bottom
    # An edge very close to another is on the same pixel.
    if not (has_area and all(picture.part(left, top, right, bottom).size)):
        raise ToolError(
            "bbox_2d must be [x1, y1, x2, y2] with x1 < x2 and y1 < y2, from 0 to 1000, and must "
            f"show a part of the image, not {bbox_2d}"
        )
    part = picture.part(*_enlarged((left, top, right, bottom), picture.size))
    return images.larger(rendered(part, max_pixels=MAX_PIXELS), min_pixels=MIN_PIXELS)


def _enlarged(
    box: tuple[float, float, float, float], size: tuple[int, int]
) -> tuple[float, float, float, float]:
    """The box, or a larger one around its center if a side has fewer than 32 pixels. Unless both
    sides of the larger box have more than 32 pixels, the box stays as it is (#L124)."""
    # Computed as in #L158 and #L102-L122, since the result depends on the rounding of floats.
    width, height = size
    left, right = (edge / 1000.0 * width for edge in box[::2])
    top, bottom = (edge / 1000.0 * height for edge in box[1::2])
    shorter = min(bottom - top, right - left)
    if not 0 < shorter < SMALLEST:
        return box
    x1, x2 = _range(left, right, width, SMALLEST / shorter)
    y1, y2 = _range(top, bottom, height, SMALLEST / shorter)
    if min(x2 - x1, y2 - y1) <= SMALLEST:
        return box
    return x1 * FULL / width, y1 * FULL / height, x2 * FULL / width, y2 * FULL / height


def _range(start: float, end: float, length: int, ratio: float) -> tuple[int, int]:
    """A longer interval around the center of an interval, in pixels."""
    center, half = (start + end) / 2, math.ceil((end - start) * ratio * 0.5)
    return max(0, math.floor(center - half)), min(length, math.ceil(center + half))
