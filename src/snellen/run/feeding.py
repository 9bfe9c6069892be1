"""Decodes the frames of a streamed video in threads, a few frames ahead of the session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from snellen.media import video as videos
from snellen.media.content import Frame

AHEAD = 8
"""The number of frames that are decoded together, ahead of the session."""

Numbered = tuple[int, Frame]
"""A frame and its index in the video."""


class Feeding:
    """Supplies the frames of one session, without occupying a thread while the session waits."""

    def __init__(
        self,
        streamed: videos.Streamed,
        indices: Sequence[int],
        policy: videos.Policy,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.times = streamed.facts.times
        """The times of all frames of the video, in media seconds."""
        self.media_end = streamed.facts.end
        self.first = indices[0]
        """The index of the first frame that the session gets."""
        self._streamed = streamed
        self._frames = streamed.frames(indices, policy)
        self._threads = threads
        self._ahead: deque[Numbered] = deque()
        self._decoding: asyncio.Future[list[Numbered]] | None = None
        self._last: Numbered | None = None

    async def get(self, index: int) -> Frame:
        """Return the frame with this index, which must not be below the index in an earlier call.

        Raises:
            MediaError: the frame cannot be decoded.
        """
        while self._last is None or self._last[0] < index:
            if not self._ahead:
                self._ahead.extend(await self._next_frames())
            self._last = self._ahead.popleft()
            if len(self._ahead) <= AHEAD // 2:
                self._begin()
        assert self._last[0] == index
        return self._last[1]

    def close(self) -> None:
        """Close the video as soon as no thread is decoding it."""
        if self._decoding is None or self._decoding.done():
            self._streamed.close()
        else:
            self._decoding.add_done_callback(lambda _: self._streamed.close())

    def _begin(self) -> None:
        if self._decoding is None:
            loop = asyncio.get_running_loop()
            self._decoding = loop.run_in_executor(self._threads, self._decode)
            self._decoding.add_done_callback(_retrieve_error)

    async def _next_frames(self) -> list[Numbered]:
        self._begin()
        assert self._decoding is not None
        decoding, self._decoding = self._decoding, None
        try:
            return await asyncio.shield(decoding)
        finally:
            if not decoding.done():
                self._decoding = decoding  # `close` waits for it

    def _decode(self) -> list[Numbered]:
        return [*islice(self._frames, AHEAD)]


def _retrieve_error(decoding: asyncio.Future[list[Numbered]]) -> None:
    """Retrieve an error that no code waits for, since asyncio would otherwise report the error. A
    session that has ended no longer needs its frames."""
    if not decoding.cancelled():
        decoding.exception()
