"""Converts the parts of a message, and keeps their order. A video is converted to its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from snellen.errors import Rejected
from snellen.media.content import Image, Message, Video

T = TypeVar("T")


def parts_of(
    message: Message,
    text: Callable[[str], T],
    image: Callable[[Image], T],
    video: Callable[[Video], T] | None = None,
) -> list[T]:
    """Convert texts with `text`, and images and frames of videos with `image`. If `video` is
    passed, convert whole videos with `video` instead.

    Raises:
        Rejected: the frames of a video were not decoded.
    """
    parts: list[T] = []
    for part in message.content:
        if isinstance(part, str):
            parts.append(text(part))
        elif isinstance(part, Image):
            parts.append(image(part))
        elif video is not None:
            parts.append(video(part))
        elif part.frames:
            parts += [image(frame.image) for frame in part.frames]
        else:
            raise Rejected(
                f"{part.label or part.source}: no frames of this video were decoded, so none can "
                "be sent."
            )
    return parts
