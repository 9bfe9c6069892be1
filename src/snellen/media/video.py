"""Finds videos, computes their digests, and decodes their frames at exact presentation times.

Time 0 is the presentation time of the first frame. Before anything is decoded, the times of all
frames are read from the packets. These times identify the frames to be decoded. Several windows of
a video are decoded in one pass. The decoded frames are rotated upright, scaled to the policy's
size, and encoded. Frames that no window needs are skipped if no needed frame depends on them.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

from snellen.errors import MediaError, UsageError, check_regular, install
from snellen.media._files import label, path_inside
from snellen.media._frames import PRESETS, Policy, on_grid, picked, policy
from snellen.media.content import Frame, Video
from snellen.media.frame_cache import CachedVideo, FrameCache
from snellen.media.frame_pool import FramePool, PoolShare

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

    from snellen.media._container import OpenedVideo

__all__ = [
    "DEFAULT",
    "PRESETS",
    "Policy",
    "Streamed",
    "VideoFacts",
    "Window",
    "decoded",
    "facts",
    "load",
    "on_grid",
    "picked",
    "policy",
    "shown",
    "sizes",
    "times",
]

BLOCK = 1 << 20
CUT_OFF = 1.0
"""A video counts as cut off if its last frame ends more than this many seconds before its declared
end."""
MOST_HELD = 256 << 20
"""The maximum size, in bytes, of the encoded frames in memory of a video that is decoded alone. If
this is not enough, some windows are postponed, and the video is decoded again for them. At 0.6 MB
per frame, this happens for 39 of the 644 videos of OVO-Bench."""
DEFAULT = "uniform:64"
"""The default frame policy."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window of a video, [start, end)."""

    start: float
    """The start in seconds from the first frame."""
    end: float | None
    """The end in seconds from the first frame; None means that the last frame is included."""
    policy: str
    """The frame policy, which determines the frames of the window that are decoded."""


@dataclass(frozen=True, kw_only=True)
class VideoFacts:
    """Facts from the packets of a video."""

    times: tuple[float, ...]
    """The times of all frames in seconds, in ascending order."""
    declared: float | None
    """The declared duration in seconds; None if the file declares no duration."""
    stamps: tuple[int, ...]
    """The presentation timestamps of all frames."""
    keys: tuple[int, ...]
    """The presentation timestamps of the key frames, at which decoding can start."""
    scanned: bool
    """Whether `stamps` were read from the packets, which makes seeking possible."""

    @property
    def end(self) -> float:
        """The end of the last frame in seconds. The last frame is assumed to have the same duration
        as the frame before it."""
        last = self.times[-1]
        return last + (last - self.times[-2]) if len(self.times) > 1 else last

    @property
    def is_cut_off(self) -> bool:
        return self.declared is not None and self.end < self.declared - CUT_OFF


def load(video: Video) -> Video:
    """Add the digest of the file to a video. A video that already has a digest is returned
    unchanged.

    Raises:
        MediaError: The file is missing, empty, unreadable, or outside its folder.
    """
    if video.digest is not None:
        return video
    path = path_inside(video, video.source)
    try:
        check_regular(path)
        status = os.stat(path)
        if status.st_size == 0:
            raise MediaError(f"{label(video)} is empty (0 bytes). Download the file again.")
        key = (path, status.st_size, status.st_mtime_ns, status.st_ino)
        digest = _digest(*key)
    except FileNotFoundError as error:
        raise MediaError(
            f"{label(video)} is missing: there is no file {path}. `snellen data verify` lists the "
            "missing videos and says where to put them."
        ) from error
    except OSError as error:
        raise MediaError(f"{label(video)} cannot be read: {path}: {error.strerror}.") from error
    return replace(video, digest=digest)


def facts(video: Video) -> VideoFacts:
    """Read the facts from the packets of a video. Frames are decoded only if the packets have no
    times.

    Raises:
        MediaError: The file is missing, is not a video, or has no frames.
        UsageError: The extra `video` is not installed.
    """
    with closing(_opened(video)) as opened:
        return opened.facts


Shown = tuple[int, tuple[Frame, ...] | MediaError]
"""The index of a window, from 0, and either the window's frames or the error that prevented their
decoding."""


def decoded(
    video: Video,
    windows: Sequence[Window],
    ended: Callable[[], bool] = lambda: False,
    share: PoolShare | None = None,
    cache: FrameCache | None = None,
) -> Iterator[Shown]:
    """Yield the frames of each window, as soon as all frames of the window are decoded. The windows
    are yielded in the order of their last frames.

    The video is decoded in one pass, or in several if the frames of all windows need too much
    memory. If several windows need a frame at the same size, the frame is encoded once per pass. If
    a frame of a window is missing, an error is yielded instead of the window's frames. `ended` is
    called before each frame. Decoding stops if `ended` returns True. `share` is the memory for the
    frames; None means that this video alone may use `MOST_HELD` bytes. Frames in `cache` are read
    instead of decoded, and all others are written to it.

    Raises:
        MediaError: The file is missing or is not a video.
        UsageError: The policy does not exist, or the extra `video` is not installed.
    """
    share = share or FramePool(MOST_HELD).share()
    with closing(_Source(video, cache, ended)) as source:
        yield from _DecodingPass(source, windows, ended, share).run()


class Streamed:
    """A video whose frames are read one after the other. Close it after use.

    Raises:
        MediaError: The file is missing, is not a video, or has no frames.
        UsageError: The extra `video` is not installed.
    """

    def __init__(self, video: Video) -> None:
        self._opened = _opened(load(video))

    @property
    def facts(self) -> VideoFacts:
        return self._opened.facts

    def frames(self, indexes: Sequence[int], policy: Policy) -> Iterator[tuple[int, Frame]]:
        """Yield the frames with these ascending indexes, at the policy's size and in its codec.

        Raises:
            MediaError: A frame cannot be decoded.
        """
        look = look_of(policy)
        for index, frame in self._opened.at(indexes):
            shown_frame = self._opened.encoded(index, frame, look)
            # A model must not know which video it gets, so the label is removed.
            yield index, replace(shown_frame, image=replace(shown_frame.image, label=""))

    def on_display(self, times: Sequence[float], policy: Policy) -> tuple[Frame, ...]:
        """The frames that are on display at these ascending times, in seconds from the first frame,
        to the microsecond, at the policy's size and in its codec. Each frame is included once, and
        no frame at or after the end of the video's window.

        Raises:
            MediaError: A frame cannot be decoded.
        """
        starts, end = self.facts.times, self._opened.video.end
        stop = len(starts) if end is None else bisect_left(starts, end)
        indexes = [max(0, min(bisect_right(starts, time + 1e-6), stop) - 1) for time in times]
        frames = self._opened.at([*dict.fromkeys(indexes)])
        look = look_of(policy)
        return tuple(self._opened.encoded(index, frame, look) for index, frame in frames)

    def close(self) -> None:
        self._opened.close()


def shown(video: Video) -> Video:
    """Return a copy of the video with its digest and the frames that the policy picks.

    Raises:
        MediaError: The video or one of these frames cannot be read.
        UsageError: The policy does not exist, or the extra `video` is not installed.
    """
    video = load(video)
    window = Window(start=video.start, end=video.end, policy=video.policy or DEFAULT)
    ((_, frames),) = decoded(video, [window])
    if isinstance(frames, MediaError):
        raise frames
    return replace(video, policy=window.policy, frames=frames)


def sizes(video: Video) -> list[tuple[int, int]]:
    """The width and height, before rotation, of each frame that the video's policy picks. Frames
    are decoded only if the packets have no times.

    Raises:
        MediaError: The file is missing, is not a video, or has no frames.
        UsageError: The policy does not exist, or the extra `video` is not installed.
    """
    frame_policy = policy(video.policy or DEFAULT)
    with closing(_opened(video)) as opened:
        indexes = picked(frame_policy, opened.facts.times, video.start, video.end)
        return [frame_policy.size(*opened.size)] * len(indexes)


def times(video: Video) -> list[float]:
    """The times, in seconds, of the frames that the video's policy picks. Frames are decoded only
    if the packets have no times.

    Raises:
        MediaError: The file is missing, is not a video, or has no frame in the window.
        UsageError: The policy does not exist, or the extra `video` is not installed.
    """
    known = facts(video).times
    indexes = picked(policy(video.policy or DEFAULT), known, video.start, video.end)
    if not indexes:
        raise MediaError(f"{label(video)} has no frame before {video.end:g} s.")
    return [known[index] for index in indexes]


def _opened(video: Video) -> OpenedVideo:
    try:
        from snellen.media._container import OpenedVideo
    except ImportError as error:
        raise _without_package() from error
    return OpenedVideo(video)


def _without_package() -> UsageError:
    return UsageError(f"to read videos, install the extra `video`: {install('video')}")


# -- files


_digesting = threading.Lock()


def _digest(path: str, size: int, changed: int, inode: int) -> str:
    with _digesting:  # so that two threads never compute the digest of the same file concurrently
        return _digest_of(path, size, changed, inode)


@lru_cache(maxsize=100_000)
def _digest_of(path: str, size: int, changed: int, inode: int) -> str:
    digest = sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


# -- passes over a video


class _Source:
    """The frames of a video, from its file or from a cache. The file is opened only if something
    is not in the cache."""

    def __init__(self, video: Video, cache: FrameCache | None, ended: Callable[[], bool]) -> None:
        self.video = video
        self._opened: OpenedVideo | None = None
        self._cached = None if cache is None else _cached(load(video), cache)
        with ExitStack() as stack:
            stack.callback(self.close)
            if self._cached is not None:
                self._cached.take_turn(ended)
            self.facts = self._read_facts()
            stack.pop_all()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        if self._cached is not None:
            self._cached.close()

    def end_turn(self) -> None:
        """Let other threads decode the same video for the cache."""
        if self._cached is not None:
            self._cached.end_turn()

    def _read_facts(self) -> VideoFacts:
        if self._cached is None:
            return self._file().facts
        known = self._cached.read_facts()
        if known is not None:
            times, declared = known
            return VideoFacts(times=times, declared=declared, stamps=(), keys=(), scanned=False)
        facts = self._file().facts
        self._cached.write_facts(facts.times, facts.declared)
        return facts

    def frames(
        self, looks: Mapping[int, Collection[Policy]]
    ) -> Iterator[tuple[int, Mapping[Policy, Frame]]]:
        """Yield the frames with these indexes in ascending order, in each size and format that is
        still in `looks` when the frame is reached.

        Raises:
            MediaError: A frame cannot be decoded.
        """
        indexes = sorted(looks)
        decoding: Iterator[tuple[int, VideoFrame]] | None = None
        for position, index in enumerate(indexes):
            shown_frames = self._from_cache(index, looks[index]) if looks[index] else {}
            if shown_frames is None:
                at = -1
                while at < index:
                    if decoding is None:
                        decoding = self._decoding(indexes[position:], looks)
                    at, picture = next(decoding)
                    if at > index:  # the cache had this frame when decoding began
                        at, decoding = -1, None
                shown_frames = {
                    look: self._encoded(index, picture, look) for look in [*looks[index]]
                }
            yield index, shown_frames

    def _decoding(
        self, indexes: Sequence[int], looks: Mapping[int, Collection[Policy]]
    ) -> Iterator[tuple[int, VideoFrame]]:
        cached = self._cached
        if cached is not None:
            indexes = [
                index
                for index in indexes
                if index == indexes[0] or not all(cached.has(index, look) for look in looks[index])
            ]
        return self._file().at(indexes)

    def _from_cache(self, index: int, looks: Collection[Policy]) -> dict[Policy, Frame] | None:
        """The frame in each size and format; None if the cache lacks it in one of them."""
        cached = self._cached
        if cached is None or not all(cached.has(index, look) for look in looks):
            return None
        shown_frames = {}
        for look in [*looks]:
            frame = cached.frame(index, look)
            if frame is None:
                return None
            shown_frames[look] = frame
        return shown_frames

    def _encoded(self, index: int, picture: VideoFrame, look: Policy) -> Frame:
        frame = self._file().encoded(index, picture, look)
        if self._cached is not None and not self._cached.has(index, look):
            self._cached.write(index, look, frame)
        return frame

    def _file(self) -> OpenedVideo:
        if self._opened is None:
            self._opened = _opened(self.video)
        return self._opened


def _cached(video: Video, cache: FrameCache) -> CachedVideo:
    try:
        return cache.of(video)
    except PackageNotFoundError as error:
        raise _without_package() from error


class _DecodingPass:
    """Decodes the frames of several windows of a video, usually in one pass."""

    def __init__(
        self,
        source: _Source,
        windows: Sequence[Window],
        ended: Callable[[], bool],
        share: PoolShare,
    ) -> None:
        self._source = source
        self._has_ended = ended
        self._share = share
        self._facts = source.facts
        self._policies = [policy(window.policy) for window in windows]
        self._windows = windows
        self._picked = [
            picked(window_policy, self._facts.times, window.start, window.end)
            for window_policy, window in zip(self._policies, windows, strict=True)
        ]
        self._encoded: dict[tuple[int, Policy], Frame] = {}

    def run(self) -> Iterator[Shown]:
        left = sorted(range(len(self._windows)), key=lambda number: self._last(number))
        try:
            while left:
                waiting, later = deque(left), deque[int]()
                yield from self._once(waiting, later)
                left = [*later]
        finally:
            self._share.drop(self._encoded.values())

    def _once(self, waiting: deque[int], later: deque[int]) -> Iterator[Shown]:
        """Decode the video once for the waiting windows. If their frames need too much memory, the
        last windows are moved to `later`."""
        users = self._users(waiting)
        frames = self._source.frames(users)
        damage: MediaError | None = None
        while waiting:
            number = waiting.popleft()
            look = look_of(self._policies[number])
            lacks = self._lacks(number)
            for index in self._picked[number]:
                while lacks is None and (index, look) not in self._encoded:
                    if self._has_ended():
                        return
                    try:
                        lacks = damage
                        if damage is None:
                            self._make_room(users, waiting, later)
                            self._take(*next(frames))
                    except MediaError as error:
                        lacks = damage = error
            if lacks is not None:
                yield number, lacks
            else:
                yield number, tuple(self._encoded[index, look] for index in self._picked[number])
            self._forget(number, users)

    def _make_room(
        self, users: dict[int, dict[Policy, int]], waiting: deque[int], later: deque[int]
    ) -> None:
        """Wait until there is room for another frame. If waiting does not help, postpone the last
        windows."""
        if self._share.must_wait(self._has_ended):
            # The room may have to come from a thread that waits to decode the same video.
            self._source.end_turn()
            self._share.wait(self._has_ended)
        while self._share.is_over and waiting:
            later.appendleft(waiting.pop())
            self._forget(later[0], users)

    def _last(self, number: int) -> int:
        return self._picked[number][-1] if self._picked[number] else -1

    def _users(self, numbers: Collection[int]) -> dict[int, dict[Policy, int]]:
        """How many of these windows need each frame, keyed by the frame's index and then by the
        frame's size and format."""
        users: dict[int, dict[Policy, int]] = {}
        for number in numbers:
            look = look_of(self._policies[number])
            for index in self._picked[number]:
                uses = users.setdefault(index, {})
                uses[look] = uses.get(look, 0) + 1
        return users

    def _take(self, index: int, frames: Mapping[Policy, Frame]) -> None:
        self._encoded |= {(index, look): frame for look, frame in frames.items()}
        self._share.hold(frames.values())

    def _forget(self, number: int, users: dict[int, dict[Policy, int]]) -> None:
        """Remove the frames of a window from memory, except those that other windows still need."""
        look = look_of(self._policies[number])
        for index in self._picked[number]:
            users[index][look] -= 1
            if not users[index][look]:
                del users[index][look]
                if (index, look) in self._encoded:
                    self._share.drop([self._encoded.pop((index, look))])

    def _lacks(self, number: int) -> MediaError | None:
        """Return an error if a window lacks frames, as far as the frames' times and the declared
        duration show this. Otherwise, return None."""
        window, facts = self._windows[number], self._facts
        name = label(self._source.video)
        if not self._picked[number]:
            return MediaError(f"{name} has no frame before {window.end:g} s.")
        if window.start > max(facts.end, facts.times[-1]):
            return MediaError(
                f"{name} has no frame at or after {window.start:g} s: its frames end at "
                f"{facts.end:.1f} s."
            )
        until = facts.declared if window.end is None else window.end
        if not facts.is_cut_off or until is None or until <= facts.end + CUT_OFF:
            return None
        return MediaError(
            f"{name} is cut off: its declared length is {facts.declared:.1f} s, but its frames end "
            f"at {facts.end:.1f} s. The question needs frames up to "
            f"{min(until, facts.declared or until):.1f} s. Download the file again."
        )


def look_of(policy: Policy) -> Policy:
    """The part of a policy that determines the size and format of a frame."""
    return Policy(
        kind="every",
        pixels=policy.pixels,
        side=policy.side,
        codec=policy.codec,
        quality=policy.quality,
    )
