"""Keeps track of samples that share media, from their first request to their last reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from snellen.core.model import Request
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.run.clips import Clips, VideoDecoding
from snellen.run.limiter import Limiter, RequestSlot


class Group:
    """Samples that share media. A group starts with one slot, and its samples share the decoded
    videos."""

    def __init__(
        self,
        samples: Sequence[tuple[Row, Sample]],
        repeats: Sequence[int],
        *,
        asks_again: bool = False,
    ) -> None:
        self.samples = samples
        self.repeats = repeats
        """The numbers of the repeats, from 0."""
        self.asks_again = asks_again
        """Whether the samples are asked again, because this invocation got truncated replies to
        them."""
        self.clips: Clips | None = None
        """The decoded videos; None until they are needed."""
        self.slot: RequestSlot | None = None
        """The slot for the group's first request; None once a request has taken it."""
        self.all_sent = asyncio.Event()
        """Set once each sample has sent its first request or will not send any."""
        self._unsent = {(sample.id, repeat) for _, sample in samples for repeat in repeats}

    def acquire(
        self, limiter: Limiter, sample: Sample, repeat: int
    ) -> Callable[[], Awaitable[RequestSlot]]:
        """Create a function that acquires a slot for a sample's request. The first request gets the
        group's slot."""

        async def acquired() -> RequestSlot:
            slot, self.slot = self.slot, None
            if slot is None:
                slot = await limiter.acquire()
            self.note_sent(sample, repeat)
            return slot

        return acquired

    def note_sent(self, sample: Sample, repeat: int) -> None:
        self._unsent.discard((sample.id, repeat))
        if not self._unsent:
            self.all_sent.set()

    def release_slot(self, limiter: Limiter) -> None:
        """Release the group's slot if no request took it."""
        if self.slot is not None:
            self.slot = None
            limiter.release()

    async def with_frames(
        self, request: Request, sample: Sample, decoding: VideoDecoding
    ) -> Request:
        """Add the frames of a request's videos to the request.

        Raises:
            MediaError: a video cannot be decoded. UsageError: the package that decodes videos is
                not installed.
        """
        if self.clips is None:
            self.clips = Clips({}, 1, decoding)
        return await self.clips.shown(request, sample.id)

    def note_done(self, sample: Sample, repeat: int) -> None:
        """Count one repeat of a sample as done, so that it no longer needs the sample's videos."""
        self.note_sent(sample, repeat)
        if self.clips is not None:
            self.clips.release(sample.id)

    def close(self) -> None:
        """Stop waiting for the group's videos and its first requests."""
        self.all_sent.set()
        if self.clips is not None:
            self.clips.close()
