"""Prepares requests for a worker: media become references, or are decoded for workers without
files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from snellen.core.model import Request
from snellen.media import video
from snellen.media.content import Image, Part, Video


def referred(request: Request) -> Request:
    """The request with references instead of bytes for pictures that were read from files."""

    def reference(part: Part) -> Part:
        if isinstance(part, Image) and part.read_from is not None:
            return replace(part, source=part.read_from)
        return part

    return _with_parts(
        request, [[*map(reference, message.content)] for message in request.messages]
    )


async def with_frames(request: Request) -> Request:
    """The request for a worker without files: the frames of its videos are decoded here."""
    parts: list[list[Part]] = []
    for message in request.messages:
        parts.append([])
        for part in message.content:
            if isinstance(part, Video) and not part.frames:
                part = await asyncio.to_thread(video.shown, part)
            parts[-1].append(part)
    return _with_parts(request, parts)


def _with_parts(request: Request, parts: Sequence[Sequence[Part]]) -> Request:
    """The request with new parts, without its origin, which replicated back ends do not read."""
    messages = tuple(
        replace(message, content=tuple(content))
        for message, content in zip(request.messages, parts, strict=True)
    )
    return replace(request, messages=messages, origin=None)


def videos_of(request: Request) -> list[Video]:
    return [film for message in request.messages for film in message.videos]
