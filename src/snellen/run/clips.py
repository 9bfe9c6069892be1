"""Decodes the videos of questions in threads, ahead of the requests. Each video is decoded once for
all of its questions, and the frames of all groups share one bound of memory."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from snellen.core.model import Request
from snellen.errors import MediaError
from snellen.media import video
from snellen.media.content import Frame, Video
from snellen.media.frame_cache import FrameCache
from snellen.media.frame_pool import FramePool

THREADS = max(1, min(8, os.cpu_count() or 1))
MOST_BYTES = 448 << 20
"""The maximum size, in bytes, of all encoded frames of a run. The frames of a single question may
exceed this limit."""


@dataclass(frozen=True, kw_only=True)
class VideoDecoding:
    """What the groups of a run share to decode videos."""

    threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, "decode")
    )
    """The threads that decode."""
    pool: FramePool = field(default_factory=lambda: FramePool(MOST_BYTES))
    """The memory for frames."""
    cache: FrameCache | None = None
    """Where frames are kept for later runs; None if they are not kept."""


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
        self, of: Mapping[str, Sequence[Video]], times: int, decoding: VideoDecoding
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._decoding = decoding
        self._share = decoding.pool.share(self._can_release)
        self._of = dict(of)
        self._unanswered = dict.fromkeys(of, times)
        self._users: Counter[Video] = Counter()
        for videos in of.values():
            self._users.update(dict.fromkeys(videos, times))
        self._ready: dict[Video, asyncio.Future[Video]] = {}
        self._changed = decoding.pool.changed
        self._held: dict[Video, tuple[Frame, ...]] = {}
        self._ended = False
        self.begun = asyncio.Event()
        """Set once a video has been decoded or decoding has failed."""
        by_source: dict[object, list[Video]] = {}
        for clip in self._users:
            by_source.setdefault((clip.source, clip.within), []).append(clip)
        for videos in by_source.values():
            self._start(videos, decoding.threads)

    def _start(self, videos: list[Video], threads: ThreadPoolExecutor) -> None:
        self._ready |= {clip: self._loop.create_future() for clip in videos}
        decoding = threads.submit(self._decode, videos)
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
                    self._unanswered.setdefault(sample, 1)
                    self._users[clip] += 1
                # The shared threads may all wait for memory that this sample's other frames take.
                own_thread = ThreadPoolExecutor(1, "decode")
                self._start([clip], own_thread)
                own_thread.shutdown(wait=False)
            decoded[clip] = await asyncio.shield(self._ready[clip])
        return with_videos(request, decoded)

    def release(self, sample: str) -> None:
        """Count one repeat of a sample as done, so that its videos can be dropped once no repeat
        needs them."""
        with self._changed:
            self._unanswered[sample] = self._unanswered.get(sample, 1) - 1
            for clip in dict.fromkeys(self._of.get(sample, ())):
                self._users[clip] -= 1
                if self._users[clip] <= 0:
                    self._share.drop(self._held.pop(clip, ()))
                    self._ready.pop(clip, None)
            self._changed.notify_all()

    def close(self) -> None:
        """Stop decoding, because no question waits for a video any more."""
        with self._changed:
            self._ended = True
            self._held.clear()
            self._share.close()
        for ready in self._ready.values():
            ready.cancel()

    # -- in a thread

    def _decode(self, videos: list[Video]) -> None:
        windows = [
            video.Window(start=clip.start, end=clip.end, policy=clip.policy or video.DEFAULT)
            for clip in videos
        ]
        known = video.load(videos[0])
        shown = video.decoded(
            known, windows, lambda: self._ended, self._share, self._decoding.cache
        )
        for number, frames in shown:
            clip = videos[number]
            if isinstance(frames, MediaError):
                self._tell(clip, frames)
                continue
            with self._changed:
                if self._ended:
                    return
                self._share.hold(frames)
                self._held[clip] = frames
            self._tell(clip, replace(clip, digest=known.digest, frames=frames))

    def _ended_with(self, videos: Sequence[Video], decoding: Future[None]) -> None:
        """Pass the error that ended decoding to the videos that were not decoded."""
        error = None if decoding.cancelled() else decoding.exception()
        if error is not None:
            for video in videos:
                self._tell(video, error)

    def _can_release(self) -> bool:
        """Whether a sample that is not answered yet has the frames of all its videos, so that its
        answer will release them."""
        return any(
            left > 0 and videos and all(clip in self._held for clip in videos)
            for sample, left in self._unanswered.items()
            if (videos := self._of.get(sample, ()))
        )

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
