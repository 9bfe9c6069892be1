"""Bounds the memory that requests with many frames take while they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from snellen.core.model import Request

MOST_BYTES = 640 << 20
"""The maximum size of the frames in all requests that are sent at the same time, as base64, in
bytes. A single request may exceed this limit."""


class RequestRoom:
    """Lets requests wait until there is memory for their frames. Requests without videos do not
    wait."""

    def __init__(self, most: int | None = None) -> None:
        self._most = MOST_BYTES if most is None else most
        self._total = 0
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def reserved(self, request: Request) -> AsyncIterator[None]:
        size = size_of_frames(request) * 4 // 3
        if not size:
            yield
            return
        while self._total and self._total + size > self._most:
            released = asyncio.get_running_loop().create_future()
            self._waiting.append(released)
            await released
        self._total += size
        try:
            yield
        finally:
            self._total -= size
            waiting, self._waiting = self._waiting, []
            for released in waiting:
                if not released.done():  # it is done if its task was canceled
                    released.set_result(None)


def size_of_frames(request: Request) -> int:
    """The size of the decoded frames of a request's videos, in bytes."""
    return sum(
        len(frame.image.source)
        for message in request.messages
        for film in message.videos
        for frame in film.frames
        if isinstance(frame.image.source, bytes)
    )
