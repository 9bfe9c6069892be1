"""Decodes the videos of questions in threads, ahead of the requests. Each video is decoded once for
all of its questions, and memory use is limited."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Condition

from snellen.core.model import Request
from snellen.errors import MediaError
from snellen.media import video
from snellen.media.content import Video

THREADS = max(1, min(8, os.cpu_count() or 1))
MOST_BYTES = 300 << 20
"""The maximum size, in bytes, of the encoded frames that are ready for one group's unanswered
questions. A single question may exceed this limit."""


def videos_of(request: Request) -> list[Video]:
    return [
        part for message in request.messages for part in message.content if isinstance(part, Video)
    ]


class Clips:
    """The decoded videos of one group of samples.

    `of` maps each sample to its videos, and `times` is the number of times that each sample is
    asked. Instances must be created in the event loop's thread, which receives the results of the
    decoding threads.
    """

    def __init__(
        self, of: Mapping[str, Sequence[Video]], times: int, threads: ThreadPoolExecutor
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._threads = threads
        self._of = dict(of)
        self._users: Counter[Video] = Counter()
        for videos in of.values():
            self._users.update(dict.fromkeys(videos, times))
        self._ready: dict[Video, asyncio.Future[Video]] = {}
        self._changed = Condition()
        self._held: dict[Video, int] = {}
        self._ended = False
        self.begun = asyncio.Event()
        """Set once a video has been decoded or decoding has failed."""
        by_source: dict[object, list[Video]] = {}
        for clip in self._users:
            by_source.setdefault((clip.source, clip.within), []).append(clip)
        for videos in by_source.values():
            self._start(videos)

    def _start(self, videos: list[Video]) -> None:
        self._ready |= {clip: self._loop.create_future() for clip in videos}
        decoding = self._threads.submit(self._decode, videos)
        decoding.add_done_callback(partial(self._ended_with, videos))

    async def shown(self, request: Request, sample: str) -> Request:
        """Add the frames of a sample's videos to its request.

        Raises:
            MediaError: a video cannot be decoded. UsageError: the package that decodes videos is
                not installed.
        """
        decoded = {}
        for clip in videos_of(request):
            if clip not in self._ready:  # a video of a later turn, or one that is not in `of`
                with self._changed:
                    self._of[sample] = [*self._of.get(sample, ()), clip]
                    self._users[clip] += 1
                self._start([clip])
            decoded[clip] = await asyncio.shield(self._ready[clip])
        return with_videos(request, decoded)

    def release(self, sample: str) -> None:
        """Count one repeat of a sample as done, so that its videos can be dropped once no repeat
        needs them."""
        with self._changed:
            for clip in dict.fromkeys(self._of.get(sample, ())):
                self._users[clip] -= 1
                if self._users[clip] <= 0:
                    self._held.pop(clip, None)
                    self._ready.pop(clip, None)
            self._changed.notify_all()

    def close(self) -> None:
        """Stop decoding, because no question waits for a video any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for ready in self._ready.values():
            ready.cancel()

    # -- in a thread

    def _decode(self, videos: list[Video]) -> None:
        windows = [
            video.Window(start=clip.start, end=clip.end, policy=clip.policy or video.DEFAULT)
            for clip in videos
        ]
        known = video.load(videos[0])
        for number, frames in video.decoded(known, windows, lambda: self._ended):
            clip = videos[number]
            if isinstance(frames, MediaError):
                self._tell(clip, frames)
                continue
            sources = (frame.image.source for frame in frames)
            size = sum(len(source) for source in sources if isinstance(source, bytes))
            if not self._room(clip, size):
                return
            self._tell(clip, replace(clip, digest=known.digest, frames=frames))

    def _ended_with(self, videos: Sequence[Video], decoding: Future[None]) -> None:
        """Pass the error that ended decoding to the videos that were not decoded."""
        error = None if decoding.cancelled() else decoding.exception()
        if error is not None:
            for video in videos:
                self._tell(video, error)

    def _room(self, clip: Video, size: int) -> bool:
        """Wait until there is room in memory; returns False if no question waits any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._has_room(clip, size))
            self._held[clip] = size
            return not self._ended

    def _has_room(self, clip: Video, size: int) -> bool:
        held = self._held
        if not held or sum(held.values()) + size <= MOST_BYTES:
            return True
        # Avoid a deadlock: a sample that has frames of one video and waits for this one cannot
        # release the former before it gets the latter.
        shown = (videos for videos in self._of.values() if clip in videos)
        return any(other in held for videos in shown for other in videos)

    def _tell(self, clip: Video, result: Video | BaseException) -> None:
        with suppress(RuntimeError):  # the loop is closed: no question waits
            self._loop.call_soon_threadsafe(self._set_result, clip, result)

    def _set_result(self, clip: Video, result: Video | BaseException) -> None:
        self.begun.set()
        ready = self._ready.get(clip)
        if ready is None or ready.done():
            return
        if isinstance(result, Video):
            ready.set_result(result)
        else:
            ready.set_exception(result)
            ready.exception()  # an error that no question waits for is not reported


def with_videos(request: Request, decoded: Mapping[Video, Video]) -> Request:
    messages = tuple(
        replace(
            message,
            content=tuple(
                decoded[part] if isinstance(part, Video) else part for part in message.content
            ),
        )
        for message in request.messages
    )
    return replace(request, messages=messages)
