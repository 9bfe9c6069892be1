"""Prepares requests for workers. Pictures are replaced with references to their files. For a worker
that cannot read the files, videos are decoded before the request is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from snellen.core.model import Request
from snellen.media import video
from snellen.media.content import Image, Part, Video


def referred(request: Request) -> Request:
    """Replace the bytes of pictures that were read from files with references to the files."""

    def reference(part: Part) -> Part:
        if isinstance(part, Image) and part.read_from is not None:
            return replace(part, source=part.read_from)
        return part

    return _with_parts(
        request, [[*map(reference, message.content)] for message in request.messages]
    )


async def with_frames(request: Request) -> Request:
    """Decode the videos of a request in this process, for a worker that cannot read the files."""
    parts: list[list[Part]] = []
    for message in request.messages:
        parts.append([])
        for part in message.content:
            if isinstance(part, Video) and not part.frames:
                part = await asyncio.to_thread(video.shown, part)
            parts[-1].append(part)
    return _with_parts(request, parts)


def _with_parts(request: Request, parts: Sequence[Sequence[Part]]) -> Request:
    """Replace the parts of a request's messages. The request's origin is removed, since replicated
    back ends do not use it."""
    messages = tuple(
        replace(message, content=tuple(content))
        for message, content in zip(request.messages, parts, strict=True)
    )
    return replace(request, messages=messages, origin=None)


def videos_of(request: Request) -> list[Video]:
    return [film for message in request.messages for film in message.videos]
