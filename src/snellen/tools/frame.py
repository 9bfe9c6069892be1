"""Shows a frame of a video."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

from msgspec import Meta

from snellen.media import video as videos
from snellen.media.content import Image, Video
from snellen.tools.shown import Shown, ToolError

Time = Annotated[float, Meta(description="A time in seconds from the beginning of the video.")]
VideoNumber = Annotated[
    int,
    Meta(
        ge=1,
        description="The number of the video, counted from 1 in the order in which the videos were "
        "shown.",
    ),
]
LOOK = "every,codec=png,pixels=4194304"
"""The size and format of a frame, as a frame policy."""


def frame(shown: Shown, *, time: Time, video: VideoNumber = 1) -> list[str | Image]:
    """Show the frame of a video at a time, at the full resolution of the video."""
    medium = shown.video(video)
    with closing(videos.Streamed(medium)) as opened:
        start, end = visible_part(medium, opened.facts)
        if not start <= time <= end or (medium.end is not None and time >= medium.end):
            raise ToolError(f"the time must be from {start:g} to {end:.2f} seconds, not {time:g}")
        (shown_frame,) = opened.on_display([time], videos.policy(LOOK))
    return [f"The frame at {shown_frame.time:.2f} s:", shown_frame.image]


def visible_part(medium: Video, facts: videos.VideoFacts) -> tuple[float, float]:
    """The start and end of the part of a video that a question shows, in seconds. No later frame
    may be shown."""
    last = facts.times[-1]
    return medium.start, last if medium.end is None else min(medium.end, last)
