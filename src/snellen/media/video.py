"""Videos: found, digested, and decoded once for all who ask, exactly by presentation time.

Media time 0 is the presentation time of the first frame. All times are known before anything is
decoded, from the packets; a frame is the wanted one if its time is. Frames leave the decoder turned
upright, at the policy's size and encoded; what nobody wants, and nothing wanted stands on, is
skipped where that is safe.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from snellen.errors import MediaError, UsageError, check_regular, install
from snellen.media._files import label, path_inside
from snellen.media._frames import PRESETS, Policy, on_grid, picked, policy
from snellen.media.content import Frame, Video

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
]

BLOCK = 1 << 20
CUT_OFF = 1.0
"""Seconds by which the last frame may end before the video does, as its file has it."""
MOST_HELD = 256 << 20
"""The most bytes of encoded frames of a video that wait for their windows. 39 of OVO-Bench's 644
videos would need more, at 0.6 MB per frame; they are decoded a second time for the rest."""
DEFAULT = "uniform:64"
"""The policy where nobody says another."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window of a video, [start, end)."""

    start: float
    """In seconds from the first frame."""
    end: float | None
    """In seconds; None: to the last frame."""
    policy: str
    """Which frames of the window are decoded."""


@dataclass(frozen=True, kw_only=True)
class VideoFacts:
    """What a video's packets say. `times` are the media times in seconds of all its frames, rising;
    `declared` is how long the file says that it is, None where it does not."""

    times: tuple[float, ...]
    """The times of all frames in seconds, rising."""
    declared: float | None
    """The duration in seconds that the file states; None if it states none."""
    stamps: tuple[int, ...]
    keys: tuple[int, ...]
    """Presentation time stamps: of all frames, and of those from which decoding can begin."""
    scanned: bool
    """Whether the stamps come from the packets, so that a place can be sought by them."""

    @property
    def end(self) -> float:
        """When the last frame goes, in seconds: it stands as long as the one before it."""
        last = self.times[-1]
        return last + (last - self.times[-2]) if len(self.times) > 1 else last

    @property
    def is_cut_off(self) -> bool:
        return self.declared is not None and self.end < self.declared - CUT_OFF


def load(video: Video) -> Video:
    """The video with the digest of its file, which is there and inside its folder; a video that has
    one comes back itself.

    Raises:
        MediaError: it is missing, empty, cannot be read, or is outside its folder.
    """
    if video.digest is not None:
        return video
    path = path_inside(video, video.source)
    try:
        check_regular(path)
        status = os.stat(path)
        if status.st_size == 0:
            raise MediaError(f"{label(video)} is empty (0 bytes). Get the file again.")
        key = (path, status.st_size, status.st_mtime_ns, status.st_ino)
        digest = _digest(*key)
    except FileNotFoundError as error:
        raise MediaError(
            f"{label(video)} is missing: there is no file {path}. `snellen data verify` says which "
            "videos are missing and where they go."
        ) from error
    except OSError as error:
        raise MediaError(f"{label(video)} cannot be read: {path}: {error.strerror}.") from error
    return replace(video, digest=digest)


def facts(video: Video) -> VideoFacts:
    """What the packets of a video say, without decoding it (but where they have no times).

    Raises:
        MediaError: it is missing, is no video, or has no frames. UsageError: the extra is missing.
    """
    with closing(_opened(video)) as opened:
        return opened.facts


Shown = tuple[int, tuple[Frame, ...] | MediaError]
"""A window's number, and its frames or why it has none."""


def decoded(
    video: Video, windows: Sequence[Window], ended: Callable[[], bool] = lambda: False
) -> Iterator[Shown]:
    """The frames of each window, as soon as they are all decoded, in the order of the windows' last
    frames: in one pass, or in several where many windows want so many frames that they would fill
    the memory. In a pass a frame that several want at one size is encoded once. A window that needs
    what is not there has an error instead. Ends before its time where `ended`, asked before each
    frame, says so.

    Raises:
        MediaError: it is missing, or is no video. UsageError: no such policy, or the extra is
            missing.
    """
    with closing(_opened(video)) as opened:
        yield from _DecodingPass(opened, windows, ended).run()


class Streamed:
    """A video whose frames are taken one after the other; to be closed.

    Raises:
        MediaError: it is missing, is no video, or has no frames. UsageError: the extra is missing.
    """

    def __init__(self, video: Video) -> None:
        self._opened = _opened(load(video))

    @property
    def facts(self) -> VideoFacts:
        return self._opened.facts

    def frames(self, numbers: Sequence[int], policy: Policy) -> Iterator[tuple[int, Frame]]:
        """The frames of these numbers, which rise, as a policy says that they look.

        Raises:
            MediaError: one cannot be decoded.
        """
        look = look_of(policy)
        for number, frame in self._opened.at(numbers):
            encoded = self._opened.encoded(number, frame, look)
            # Who is streamed a video is not to know which.
            yield number, replace(encoded, image=replace(encoded.image, label=""))

    def close(self) -> None:
        self._opened.close()


def shown(video: Video) -> Video:
    """One video with its digest and the frames that its policy picks.

    Raises:
        MediaError, UsageError: as `decoded`.
    """
    video = load(video)
    window = Window(start=video.start, end=video.end, policy=video.policy or DEFAULT)
    ((_, frames),) = decoded(video, [window])
    if isinstance(frames, MediaError):
        raise frames
    return replace(video, policy=window.policy, frames=frames)


def sizes(video: Video) -> list[tuple[int, int]]:
    """Width and height of each frame that the video's policy picks, before any is turned upright;
    nothing is decoded.

    Raises:
        MediaError, UsageError: as `facts`.
    """
    wanted = policy(video.policy or DEFAULT)
    with closing(_opened(video)) as opened:
        places = picked(wanted, opened.facts.times, video.start, video.end)
        return [wanted.size(*opened.size)] * len(places)


def _opened(video: Video) -> OpenedVideo:
    try:
        from snellen.media._container import OpenedVideo
    except ImportError as error:
        raise UsageError(f"videos need the extra `video`: {install('video')}") from error
    return OpenedVideo(video)


# -- files


_digesting = threading.Lock()


def _digest(path: str, size: int, changed: int, inode: int) -> str:
    with _digesting:  # of two who want the same one waits, and is told
        return _digest_of(path, size, changed, inode)


@lru_cache(maxsize=100_000)
def _digest_of(path: str, size: int, changed: int, inode: int) -> str:
    state = sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            state.update(block)
    return f"sha256:{state.hexdigest()}"


# -- one pass


class _DecodingPass:
    """Passes over a video for several windows, mostly one."""

    def __init__(
        self, opened: OpenedVideo, windows: Sequence[Window], ended: Callable[[], bool]
    ) -> None:
        self._opened = opened
        self._has_ended = ended
        self._facts = opened.facts
        self._policies = [policy(window.policy) for window in windows]
        self._windows = windows
        self._picked = [
            picked(wanted, self._facts.times, window.start, window.end)
            for wanted, window in zip(self._policies, windows, strict=True)
        ]
        self._encoded: dict[tuple[int, Policy], Frame] = {}
        self._held = 0

    def run(self) -> Iterator[Shown]:
        left = sorted(range(len(self._windows)), key=lambda number: self._last(number))
        while left:
            waiting, later = deque(left), deque[int]()
            yield from self._once(waiting, later)
            left = [*later]

    def _once(self, waiting: deque[int], later: deque[int]) -> Iterator[Shown]:
        """One time through the video, for those that wait; where the last of these hold too many
        frames they are put off until `later`."""
        users = self._users(waiting)
        frames = self._opened.at(sorted(users))
        damage: MediaError | None = None
        while waiting:
            number = waiting.popleft()
            look = look_of(self._policies[number])
            lacks = self._lacks(number)
            for frame_number in self._picked[number]:
                while lacks is None and (frame_number, look) not in self._encoded:
                    if self._has_ended():
                        return
                    try:
                        lacks = damage
                        if damage is None:
                            self._take(*next(frames), users, waiting, later)
                    except MediaError as error:
                        lacks = damage = error
            if lacks is not None:
                yield number, lacks
            else:
                yield (
                    number,
                    tuple(
                        self._encoded[frame_number, look] for frame_number in self._picked[number]
                    ),
                )
            self._forget(number, users)

    def _take(
        self,
        at: int,
        frame: VideoFrame,
        users: dict[int, dict[Policy, int]],
        waiting: deque[int],
        later: deque[int],
    ) -> None:
        """Keep a frame in every look that is wanted."""
        for look in users[at]:
            self._keep(at, look, self._opened.encoded(at, frame, look))
        while self._held > MOST_HELD and waiting:
            later.appendleft(waiting.pop())
            self._forget(later[0], users)

    def _last(self, number: int) -> int:
        return self._picked[number][-1] if self._picked[number] else -1

    def _users(self, numbers: Collection[int]) -> dict[int, dict[Policy, int]]:
        """For each wanted frame how many of these windows want it in which look."""
        users: dict[int, dict[Policy, int]] = {}
        for number in numbers:
            look = look_of(self._policies[number])
            for frame_number in self._picked[number]:
                of_frame = users.setdefault(frame_number, {})
                of_frame[look] = of_frame.get(look, 0) + 1
        return users

    def _keep(self, frame_number: int, look: Policy, frame: Frame) -> None:
        self._encoded[frame_number, look] = frame
        self._held += _size(frame)

    def _forget(self, number: int, users: dict[int, dict[Policy, int]]) -> None:
        """Let go of the frames that no other window wants."""
        look = look_of(self._policies[number])
        for frame_number in self._picked[number]:
            users[frame_number][look] -= 1
            if not users[frame_number][look]:
                del users[frame_number][look]
                if (frame_number, look) in self._encoded:
                    self._held -= _size(self._encoded.pop((frame_number, look)))

    def _lacks(self, number: int) -> MediaError | None:
        """Why a window cannot have its frames, before any is decoded: the file was cut off."""
        window, facts = self._windows[number], self._facts
        name = label(self._opened.video)
        if not self._picked[number]:
            return MediaError(f"{name} has no frame before {window.end:g} s.")
        if window.start > max(facts.end, facts.times[-1]):
            return MediaError(
                f"{name} has no frame from {window.start:g} s on: its frames end at "
                f"{facts.end:.1f} s."
            )
        until = facts.declared if window.end is None else window.end
        if not facts.is_cut_off or until is None or until <= facts.end + CUT_OFF:
            return None
        return MediaError(
            f"{name} is cut off: it says that it lasts {facts.declared:.1f} s, and its frames end "
            f"at {facts.end:.1f} s; what is asked needs them up to "
            f"{min(until, facts.declared or until):.1f} s. Get the file again."
        )


def _size(frame: Frame) -> int:
    assert isinstance(frame.image.source, bytes)
    return len(frame.image.source)


def look_of(policy: Policy) -> Policy:
    """What of a policy says how a frame looks."""
    return Policy(
        kind="every",
        pixels=policy.pixels,
        side=policy.side,
        codec=policy.codec,
        quality=policy.quality,
    )
