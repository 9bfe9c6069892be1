"""Shows several frames of a part of a video."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from snellen.media import video as videos
from snellen.media.content import Image, Video
from snellen.tools.frame import Time, VideoNumber, visible_part
from snellen.tools.shown import Shown, ToolError

Rate = Annotated[float, Meta(ge=0.01, le=60, description="The number of frames per second.")]
MAX_FRAMES = 32
"""The maximum number of frames in the result of a call."""
MOST_PIXELS = 1 << 20
"""The maximum number of pixels of a frame, if the question's frame policy sets no size."""


def window(
    shown: Shown, *, start: Time, end: Time, fps: Rate = 1, video: VideoNumber = 1
) -> list[str | Image]:
    """Show the frames of a part of a video at a rate of your choice, at most 32 frames, to see what
    happens in detail."""
    medium = shown.video(video)
    with closing(videos.Streamed(medium)) as opened:
        first, last = visible_part(medium, opened.facts)
        if not first <= start < end or start > last:
            raise ToolError(
                f"start and end must be from {first:g} to {last:.2f} seconds, and start must be "
                f"before end, not {start:g} and {end:g}"
            )
        count = max(1, math.ceil((min(end, last) - start) * fps - 1e-9))
        if count > MAX_FRAMES:
            raise ToolError(
                f"from {start:g} to {min(end, last):g} s at {fps:g} frames per second, there would "
                f"be {count} frames; at most {MAX_FRAMES} are shown. Choose a shorter part or a "
                "lower fps"
            )
        times = [start + number / fps for number in range(count)]
        frames = opened.on_display(times, _look(medium))
    return [part for frame in frames for part in (f"{frame.time:.2f} s:", frame.image)]


def _look(medium: Video) -> videos.Policy:
    """The size and format of the frames that a question shows of a video, or a size of 1,048,576
    pixels if the frames are not scaled."""
    look = videos.look_of(videos.policy(medium.policy or videos.DEFAULT))
    is_scaled = look.pixels is not None or look.side is not None
    return look if is_scaled else replace(look, pixels=MOST_PIXELS)
