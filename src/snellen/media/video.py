"""Videos: found, digested, and decoded once for all who ask, exactly by presentation time.

Media time 0 is the presentation time of the first frame. All times are known before anything is
decoded, from the packets; a frame is the wanted one if its time is. Frames leave the decoder turned
upright, at the policy's size and encoded; what nobody wants, and nothing wanted stands on, is
skipped where that is safe.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, cast

from snellen.errors import MediaError, UsageError, check_regular, install
from snellen.media._files import label, path_inside
from snellen.media._frames import PRESETS, Policy, on_grid, picked, policy
from snellen.media.content import Frame, Image, Video

if TYPE_CHECKING:
    import numpy as np
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

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
GAP = 1.0
"""Seconds of unwanted frames from which on it is worth looking for a key frame behind them."""
MOST_HELD = 256 << 20
"""Encoded frames of a video that wait for the windows that want them. Of OVO-Bench 39 videos of 644
would have more, at 0.6 MB a frame; these are gone through again for what is put off."""
CLOCK = r"(\d{1,4}):(\d\d):(\d\d(?:\.\d{1,9})?)"
CONTAINERS = (
    "mov,matroska,avi,mpegts,mpeg,flv,ogg,asf,gif,h264,hevc,ivf,mxf,nut,dv,rm,mpegvideo,obu,av1"
)
"""No playlists: they name other files, wherever they lie."""
DEFAULT = "uniform:64"
"""The policy where nobody says another."""
NO_AV = f"videos need the extra `video`: {install('video')}"


@dataclass(frozen=True, kw_only=True)
class Window:
    """What is wanted of a video: the frames that `policy` picks of [start, end), in seconds."""

    start: float
    end: float | None
    policy: str


@dataclass(frozen=True, kw_only=True)
class VideoFacts:
    """What a video's packets say. `times` are the media times in seconds of all its frames, rising;
    `declared` is how long the file says that it is, None where it does not."""

    times: tuple[float, ...]
    declared: float | None
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
    with closing(_Opened(video)) as opened:
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
    with closing(_Opened(video)) as opened:
        yield from _DecodingPass(opened, windows, ended).run()


class Streamed:
    """A video whose frames are taken one after the other; to be closed.

    Raises:
        MediaError: it is missing, is no video, or has no frames. UsageError: the extra is missing.
    """

    def __init__(self, video: Video) -> None:
        self._opened = _Opened(load(video))

    @property
    def facts(self) -> VideoFacts:
        return self._opened.facts

    def frames(self, places: Sequence[int], policy: Policy) -> Iterator[tuple[int, Frame]]:
        """The frames of these numbers, which rise, as a policy says that they look.

        Raises:
            MediaError: one cannot be decoded.
        """
        look = _look(policy)
        for place, frame in self._opened.at(places):
            found = self._opened.encoded(place, frame, look)
            # Who is streamed a video is not to know which.
            yield place, replace(found, image=replace(found.image, place=""))

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
    asked = policy(video.policy or DEFAULT)
    with closing(_Opened(video)) as opened:
        places = picked(asked, opened.facts.times, video.start, video.end)
        return [asked.size(*opened.size)] * len(places)


# -- files


_digesting = threading.Lock()


def _digest(path: str, size: int, changed: int, inode: int) -> str:
    with _digesting:  # of two who want the same one waits, and is told
        return _digest_of(path, size, changed, inode)


@lru_cache(maxsize=100_000)
def _digest_of(path: str, size: int, changed: int, inode: int) -> str:
    found = sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            found.update(block)
    return f"sha256:{found.hexdigest()}"


def _check_regular(video: Video, path: str) -> None:
    try:
        check_regular(path)
    except FileNotFoundError:
        return  # who opens it says where it should be
    except OSError as error:
        raise MediaError(f"{label(video)} cannot be read: {path}: {error.strerror}.") from error


# -- the container


class _Opened:
    """A video's container, open; its facts are read at once."""

    def __init__(self, video: Video) -> None:
        try:
            import av
        except ImportError as error:
            raise UsageError(NO_AV) from error
        self.video = video
        # IndexError: a stream that was not there when the file was opened.
        self._errors: tuple[type[Exception], ...] = (av.FFmpegError, IndexError)
        path = path_inside(video, video.source)
        _check_regular(video, path)
        try:
            self._container: InputContainer = av.open(
                path, metadata_errors="replace", options={"format_whitelist": CONTAINERS}
            )
        except (*self._errors, ValueError) as error:
            raise self._unreadable(error) from error
        with ExitStack() as stack:
            stack.callback(self.close)
            if not self._container.streams.video:
                raise MediaError(f"{label(video)} has no pictures: there is no video stream in it.")
            self._stream: VideoStream = self._container.streams.video[0]
            if self._stream.codec_context is None:
                raise MediaError(
                    f"{label(video)} cannot be decoded: there is no decoder here for its pictures. "
                    "Convert it, for example to H.264 in MP4."
                )
            # One thread a video: several are decoded at once, and none costs more than it must.
            self._stream.thread_type = "NONE"
            self._reformatter = av.video.reformatter.VideoReformatter()
            self.facts = self._read_facts()
            self._first = self.facts.stamps[0]
            stack.pop_all()

    def close(self) -> None:
        self._container.close()

    @property
    def size(self) -> tuple[int, int]:
        return self._stream.width, self._stream.height

    @property
    def time_base(self) -> Fraction:
        base = self._stream.time_base
        assert base is not None
        return base

    def frames(
        self, stamp: int | None = None, wanted: Collection[int] | None = None
    ) -> Iterator[VideoFrame]:
        """Frames in the order they are shown, from the key frame at a stamp on, else from the
        first; not those that stand on damaged data, up to the next key frame behind these. Where
        `wanted` has their stamps, others may be left out.

        Raises:
            MediaError: the file cannot be read on.
        """
        context = self._stream.codec_context
        # H.264 marks what no other frame stands on. HEVC's mark says less, where it has layers.
        kept = wanted if self._is_timed and context.name == "h264" else None
        sound: set[int | None] = set()
        is_damaged = is_skipping = False
        since: int | None = None
        try:
            context.flush_buffers()
            context.skip_frame = "DEFAULT"
            target = self._first if stamp is None else stamp
            self._container.seek(target, stream=self._stream, backward=True, any_frame=False)
            for packet in self._container.demux(self._stream):
                if packet.is_corrupt:
                    is_damaged = True
                    continue
                if is_damaged and packet.is_keyframe:
                    # Frames behind it that are shown before it may stand on those before it.
                    is_damaged, since = False, packet.pts
                skips = kept is not None and packet.pts not in kept
                if skips != is_skipping:
                    is_skipping = skips
                    context.skip_frame = "NONREF" if skips else "DEFAULT"
                try:
                    frames = packet.decode()
                except self._errors:
                    is_damaged = True
                    continue
                early = since is not None and packet.pts is not None and packet.pts < since
                if not (is_damaged or early):
                    sound.add(packet.pts)
                for frame in frames:
                    found = _stamp(frame)
                    if found is None or frame.is_corrupt:
                        continue
                    if found in sound or not self._is_timed:
                        sound.discard(found)
                        yield frame
        except self._errors as error:
            raise self._unreadable(error) from error

    def _read_facts(self) -> VideoFacts:
        """One pass over the packets, or over the frames where packets have no times."""
        stream = self._stream
        stamps: list[int] = []
        keys: list[int] = []
        self._is_timed = True
        try:
            for packet in self._container.demux(stream):
                # Of a file that was cut off the last may be there in part.
                if packet.size == 0 or packet.is_discard or packet.is_corrupt:
                    continue
                if packet.pts is None:
                    self._is_timed = False
                    break
                stamps.append(packet.pts)
                if packet.is_keyframe:
                    keys.append(packet.pts)
            if not self._is_timed:
                self._first = 0
                stamps = [stamp for f in self.frames() if (stamp := _stamp(f)) is not None]
                keys = []
        except self._errors as error:
            raise self._unreadable(error) from error
        if not stamps:
            raise MediaError(f"{label(self.video)} has no frames in it. Get the file again.")
        stamps = sorted(set(stamps))
        base = self.time_base
        return VideoFacts(
            times=tuple(float((stamp - stamps[0]) * base) for stamp in stamps),
            declared=self._declared(stamps[0] * base),
            stamps=tuple(stamps),
            keys=tuple(sorted(keys)),
            scanned=self._is_timed,
        )

    def _declared(self, start: Fraction) -> float | None:
        """Seconds that the file says its pictures last; None where only the whole file's length is
        known, and sound may last longer."""
        import av

        if self._stream.duration is not None:
            return float(self._stream.duration * self.time_base)
        named = re.fullmatch(CLOCK, self._stream.metadata.get("DURATION", ""))
        if named:
            hours, minutes, seconds = named.groups()
            return int(hours) * 3600 + int(minutes) * 60 + float(seconds) - float(start)
        alone = len(self._container.streams) == 1
        if alone and self._container.duration is not None:
            return self._container.duration / av.time_base
        return None

    def _unreadable(self, error: Exception) -> MediaError:
        what = str(error).partition(": ")[0]
        return MediaError(
            f"{label(self.video)} cannot be decoded: {what}. It is no video, or damaged: get the "
            "file again."
        )

    def at(self, places: Sequence[int]) -> Iterator[tuple[int, VideoFrame]]:
        """The frames of these numbers, which rise, each with its number.

        Raises:
            MediaError: one cannot be decoded.
        """
        facts = self.facts
        wanted = frozenset(facts.stamps[place] for place in places)
        left = iter(places)
        place = next(left, None)
        here = -1
        sought = True
        frames: Iterator[VideoFrame] | None = None
        while place is not None:
            stamp = facts.stamps[place]
            key = self._key_before(place, here) if sought else None
            if frames is None or key is not None:
                frames = self.frames(key, wanted if sought else None)
            for frame in frames:
                found = _stamp(frame)
                assert found is not None
                if found < stamp:
                    continue
                break
            else:
                found = None
            if found == stamp:
                yield place, frame
                here, place = place, next(left, None)
                continue
            if not sought:
                raise MediaError(
                    f"{label(self.video)}: the frame at {facts.times[place]:.3f} s is in "
                    "the file and cannot be decoded: it is damaged there. Get the file again."
                )
            # A place that was sought can lie behind the frame that was wanted, or decode badly:
            # from the first frame on none is lost.
            sought, frames = False, None

    def _key_before(self, place: int, here: int) -> int | None:
        """The key frame to go to for a frame, where going there saves decoding."""
        facts = self.facts
        if not facts.scanned or not facts.keys:
            return None
        number = bisect_right(facts.keys, facts.stamps[place]) - 1
        if number < 0:
            return None
        key = facts.keys[number]
        base = self.time_base
        since = facts.stamps[here] if here >= 0 else facts.stamps[0]
        return key if (key - since) * base > GAP else None

    def pixels(self, frame: VideoFrame, look: Policy) -> NDArray[np.uint8]:
        """A frame upright and at its size: (height, width, 3), RGB."""
        turns = round(frame.rotation / 90) % 4  # against the clock
        width, height = frame.width, frame.height
        size = look.size(*((height, width) if turns % 2 else (width, height)))
        stored = size[::-1] if turns % 2 else size
        # One for all frames, and no threads: to set these up costs as much as a frame.
        shown = self._reformatter.reformat(frame, *stored, format="rgb24", threads=1)
        return _turned(cast("NDArray[np.uint8]", shown.to_ndarray()), turns)

    def encoded(self, place: int, frame: VideoFrame, look: Policy) -> Frame:
        """A frame upright, at its size, and encoded."""
        time = self.facts.times[place]
        pixels = self.pixels(frame, look)
        height, width, _ = pixels.shape
        sideways = round(frame.rotation / 90) % 2
        own = (frame.height, frame.width) if sideways else (frame.width, frame.height)
        data, mime = _encoded(pixels, look)
        return Frame(
            time=time,
            image=Image(
                data,
                place=f"{label(self.video)}, {time:.3f} s",
                digest=f"sha256:{sha256(data).hexdigest()}",
                mime=mime,
                width=width,
                height=height,
                original=None if own == (width, height) else own,
            ),
        )


def _stamp(frame: VideoFrame) -> int | None:
    return frame.pts if frame.pts is not None else frame.dts


# -- one pass


class _DecodingPass:
    """Passes over a video for several windows, mostly one."""

    def __init__(
        self, opened: _Opened, windows: Sequence[Window], ended: Callable[[], bool]
    ) -> None:
        self._opened = opened
        self._has_ended = ended
        self._facts = opened.facts
        self._policies = [policy(window.policy) for window in windows]
        self._windows = windows
        self._picked = [
            picked(asked, self._facts.times, window.start, window.end)
            for asked, window in zip(self._policies, windows, strict=True)
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
            look = _look(self._policies[number])
            lacks = self._lacks(number)
            for place in self._picked[number]:
                while lacks is None and (place, look) not in self._encoded:
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
                yield number, tuple(self._encoded[place, look] for place in self._picked[number])
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
            look = _look(self._policies[number])
            for place in self._picked[number]:
                of_place = users.setdefault(place, {})
                of_place[look] = of_place.get(look, 0) + 1
        return users

    def _keep(self, place: int, look: Policy, frame: Frame) -> None:
        self._encoded[place, look] = frame
        self._held += _size(frame)

    def _forget(self, number: int, users: dict[int, dict[Policy, int]]) -> None:
        """Let go of the frames that no other window wants."""
        look = _look(self._policies[number])
        for place in self._picked[number]:
            users[place][look] -= 1
            if not users[place][look]:
                del users[place][look]
                if (place, look) in self._encoded:
                    self._held -= _size(self._encoded.pop((place, look)))

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


def _look(policy: Policy) -> Policy:
    """What of a policy says how a frame looks."""
    return Policy(
        kind="every",
        pixels=policy.pixels,
        side=policy.side,
        codec=policy.codec,
        quality=policy.quality,
    )


def _turned(pixels: NDArray[np.uint8], turns: int) -> NDArray[np.uint8]:
    import numpy as np

    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels


def _encoded(pixels: NDArray[np.uint8], look: Policy) -> tuple[bytes, str]:
    import PIL.Image

    picture = PIL.Image.fromarray(pixels)
    data = BytesIO()
    if look.codec == "png":
        picture.save(data, "PNG", compress_level=1)
        return data.getvalue(), "image/png"
    picture.save(data, "JPEG", quality=look.quality, subsampling=0)
    return data.getvalue(), "image/jpeg"
