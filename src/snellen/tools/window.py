"""Shows several frames of a part of a video."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from snellen.media import video as videos
from snellen.media.content import Image
from snellen.tools.frame import Time, VideoNumber, visible_part
from snellen.tools.shown import Shown, ToolError

Rate = Annotated[float, Meta(ge=0.01, le=60, description="The number of frames per second.")]
MAX_FRAMES = 32
"""The maximum number of frames in the result of a call."""
LOOK = videos.Policy(kind="every", pixels=1 << 20)
"""The size and format of frames if the question's frame policy sets no size."""


def window(
    shown: Shown, *, start: Time, end: Time, fps: Rate = 1, video: VideoNumber = 1
) -> list[str | Image]:
    """Show the frames of a part of a video at a rate of your choice, at most 32 frames, to see what
    happens in detail."""
    medium = shown.video(video)
    first, last = visible_part(medium)
    if not first <= start < end or start > last:
        raise ToolError(
            f"start and end must be from {first:g} to {last:.2f} seconds, and start must be before "
            f"end, not {start:g} and {end:g}"
        )
    count = max(1, math.ceil((min(end, last) - start) * fps - 1e-9))
    if count > MAX_FRAMES:
        raise ToolError(
            f"from {start:g} to {min(end, last):g} s at {fps:g} frames per second, there would be "
            f"{count} frames; at most {MAX_FRAMES} are shown. Choose a shorter part or a lower fps"
        )
    own = videos.policy(medium.policy or videos.DEFAULT)
    look = videos.look_of(own)
    if look.pixels is None and look.side is None:
        look = replace(look, pixels=LOOK.pixels)
    parts: list[str | Image] = []
    for frame in videos.on_display(medium, [start + k / fps for k in range(count)], str(look)):
        parts += [f"{frame.time:.2f} s:", frame.image]
    return parts
