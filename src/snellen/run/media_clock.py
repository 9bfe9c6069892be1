"""The clock of a streamed video. The clock decides when frames and questions arrive, and which
frames are dropped."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from snellen.core.sample import Sample
from snellen.core.streaming import Streaming
from snellen.media import video as videos

WAITING = 256
"""With `drop="oldest"`, the maximum number of frames that wait for the model."""


@dataclass(frozen=True)
class Arrival:
    """A frame or a question, with the media time at which it arrives."""

    time: float
    """Media seconds."""
    index: int
    """The index of the frame in the video. For a question, the index of the newest frame before it,
    or -1 if there is none."""
    sample: Sample | None = None
    """The question's sample; None for a frame."""


def arrivals_of(
    streaming: Streaming,
    samples: Sequence[Sample],
    rate: float,
    times: Sequence[float],
    end: float,
) -> list[Arrival]:
    """List the frames at the sampling rate and the questions, in the order of arrival. At equal
    times, questions come first, since only earlier frames may be used to answer them. `times` are
    the times of the video's frames, and `end` is the end of the video."""
    end = max(end, times[-1] + 0.5 / rate)  # a video of a single frame has a length too
    questions = [
        Arrival(min(when, end), bisect_left(times, when) - 1, sample)
        for sample, when in zip(samples, map(streaming.when, samples), strict=True)
    ]
    last = max(question.time for question in questions)
    if streaming.until is not None:
        last = max(last, *(min(streaming.until(sample), end) for sample in samples))
    grid = videos.on_grid(times, rate, 0, 0.0, max(last, 0.5 / rate))
    frames = [Arrival(due, index) for due, index in grid]
    return sorted([*questions, *frames], key=lambda arrival: arrival.time)


class MediaClock:
    """One session's clock."""

    def __init__(
        self,
        streaming: Streaming,
        arrivals: Sequence[Arrival],
        on_lost: Callable[[Arrival], None],
    ) -> None:
        self.now = 0.0
        """Media seconds."""
        self.end = max((arrival.time for arrival in arrivals), default=0.0)
        """The time of the last arrival, in media seconds."""
        self.began_at = 0.0
        """The time at which the session begins, in media seconds. It is above 0 if the session goes
        on after an interruption."""
        self._streaming = streaming
        self._arrivals = arrivals
        self._on_lost = on_lost
        self._began = 0.0

    def resume(self, until: float, now: float) -> None:
        """Continue an interrupted session, which got everything that arrives up to `until`. `now`
        is the media time of that session."""
        self._arrivals = [arrival for arrival in self._arrivals if arrival.time > until]
        self.began_at, self.now = until, now

    def start(self) -> None:
        self._began = time.perf_counter() - self.now

    def charge(self, kind: str, start: float, seconds: float) -> float:
        """Advance the clock after a call that began at `start` and took `seconds`. Returns the
        seconds that the clock counts for the call."""
        cost = self._streaming.costs.get(kind, seconds)
        if self._streaming.clock == "simulated":
            self.now = start + cost / self._streaming.speed
        elif self._streaming.clock == "real":
            self.now = self._elapsed()
        return cost

    async def arrivals(self) -> AsyncIterator[Arrival]:
        """Yield the arrivals in the order in which the session gets them, except dropped frames."""
        is_real, is_logical = (self._streaming.clock == kind for kind in ("real", "logical"))
        coming = deque(self._arrivals)
        waiting: deque[Arrival] = deque()
        while coming or waiting:
            if is_real:
                self.now = self._elapsed()
            while coming and (coming[0].time <= self.now or is_logical):
                waiting.append(coming.popleft())
                if is_logical:
                    break
            waiting = self._without_lost(waiting)
            if not waiting:
                if is_real:
                    await asyncio.sleep(max(0.0, coming[0].time - self.now))
                else:
                    self.now = coming[0].time
                continue
            arrival = waiting.popleft()
            self.now = max(self.now, arrival.time)
            yield arrival

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began

    def _without_lost(self, waiting: deque[Arrival]) -> deque[Arrival]:
        """If too many frames wait before a question, or after the last question, drop the oldest of
        these frames. Questions are never dropped."""
        if self._streaming.drop == "none":
            return waiting
        most = WAITING if self._streaming.drop == "oldest" else 1
        left: deque[Arrival] = deque()
        frames: list[Arrival] = []
        for arrival in [*waiting, None]:
            if arrival is not None and arrival.sample is None:
                frames.append(arrival)
                continue
            for lost in frames[:-most]:
                self._on_lost(lost)
            left.extend(frames[-most:])
            frames.clear()
            if arrival is not None:
                left.append(arrival)
        return left
