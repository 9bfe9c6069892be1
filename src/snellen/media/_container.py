"""Reads and decodes video files with PyAV. This module is imported when the first video is
opened."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, cast

import av
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from snellen.errors import MediaError, check_regular
from snellen.media._files import label, path_inside
from snellen.media._frames import Policy
from snellen.media.content import Frame, Image, Video
from snellen.media.video import VideoFacts

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

GAP = 1.0
"""Decoding skips to a later key frame only if that saves more than this many seconds of frames."""
CLOCK = r"(\d{1,4}):(\d\d):(\d\d(?:\.\d{1,9})?)"
CONTAINERS = (
    "mov,matroska,avi,mpegts,mpeg,flv,ogg,asf,gif,h264,hevc,ivf,mxf,nut,dv,rm,mpegvideo,obu,av1"
)
"""The allowed container formats. Playlists are not allowed, since they can refer to any file."""


def _check_regular(video: Video, path: str) -> None:
    try:
        check_regular(path)
    except FileNotFoundError:
        return  # opening the file raises an error with more details
    except OSError as error:
        raise MediaError(f"{label(video)} cannot be read: {path}: {error.strerror}.") from error


class OpenedVideo:
    """An open video file. When it is opened, the times of its frames and its declared duration are
    read."""

    def __init__(self, video: Video) -> None:
        self.video = video
        # PyAV raises IndexError for a stream that appears only after the file was opened.
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
                raise MediaError(
                    f"{label(video)} has no frames: the file contains no video stream."
                )
            self._stream: VideoStream = self._container.streams.video[0]
            if self._stream.codec_context is None:
                raise MediaError(
                    f"{label(video)} cannot be decoded: no decoder for its video codec is "
                    "installed. Convert it, for example to H.264 in MP4."
                )
            # Each video is decoded in one thread: several videos are decoded concurrently, and one
            # thread needs the least computing time in total.
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
        """Decode the frames in display order, starting at the key frame with the timestamp `stamp`
        or at the first frame.

        After damaged data, frames are left out up to the next key frame. If `wanted` is set, frames
        whose timestamps are not in `wanted` may also be left out.

        Raises:
            MediaError: Reading the file fails.
        """
        context = self._stream.codec_context
        # H.264 marks the frames that no other frame depends on, so these can be skipped. The mark
        # of HEVC has another meaning if the video has layers.
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
                    # Frames that come later in the file but are displayed before this key frame may
                    # depend on damaged frames before it.
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
                    frame_stamp = _stamp(frame)
                    if frame_stamp is None or frame.is_corrupt:
                        continue
                    if frame_stamp in sound or not self._is_timed:
                        sound.discard(frame_stamp)
                        yield frame
        except self._errors as error:
            raise self._unreadable(error) from error

    def _read_facts(self) -> VideoFacts:
        """Read the facts in one pass over the packets, or over the frames if packets have no
        times."""
        stream = self._stream
        stamps: list[int] = []
        keys: list[int] = []
        self._is_timed = True
        try:
            for packet in self._container.demux(stream):
                # If the file is cut off, its last packet may be incomplete.
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
            raise MediaError(f"{label(self.video)} has no frames. Download the file again.")
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
        """The declared duration of the video stream in seconds; None if no duration is declared.
        The declared duration of the file is used only if the file has a single stream, because the
        audio may be longer than the video."""
        if self._stream.duration is not None:
            return float(self._stream.duration * self.time_base)
        match = re.fullmatch(CLOCK, self._stream.metadata.get("DURATION", ""))
        if match:
            hours, minutes, seconds = match.groups()
            return int(hours) * 3600 + int(minutes) * 60 + float(seconds) - float(start)
        alone = len(self._container.streams) == 1
        if alone and self._container.duration is not None:
            return self._container.duration / av.time_base
        return None

    def _unreadable(self, error: Exception) -> MediaError:
        what = str(error).partition(": ")[0]
        return MediaError(
            f"{label(self.video)} cannot be decoded: {what}. The file is not a video, or it is "
            "damaged. "
            "Download the file again."
        )

    def at(self, indexes: Sequence[int]) -> Iterator[tuple[int, VideoFrame]]:
        """Yield the frames with these ascending indexes, each with its index.

        Raises:
            MediaError: A frame cannot be decoded.
        """
        facts = self.facts
        wanted = frozenset(facts.stamps[index] for index in indexes)
        left = iter(indexes)
        index = next(left, None)
        here = -1
        sought = True
        frames: Iterator[VideoFrame] | None = None
        while index is not None:
            stamp = facts.stamps[index]
            key = self._key_before(index, here) if sought else None
            if frames is None or key is not None:
                frames = self.frames(key, wanted if sought else None)
            for frame in frames:
                frame_stamp = _stamp(frame)
                assert frame_stamp is not None
                if frame_stamp < stamp:
                    continue
                break
            else:
                frame_stamp = None
            if frame_stamp == stamp:
                yield index, frame
                here, index = index, next(left, None)
                continue
            if not sought:
                raise MediaError(
                    f"{label(self.video)}: the frame at {facts.times[index]:.3f} s cannot be "
                    "decoded because the file is damaged there. Download the file again."
                )
            # Seeking can lead to a position after the wanted frame, or to one at which decoding
            # fails. Decoding from the first frame does not miss any frame.
            sought, frames = False, None

    def _key_before(self, index: int, here: int) -> int | None:
        """The timestamp of the key frame to seek to before the frame `index` is decoded, if
        decoding has reached the frame `here`. None if seeking would not save enough time."""
        facts = self.facts
        if not facts.scanned or not facts.keys:
            return None
        number = bisect_right(facts.keys, facts.stamps[index]) - 1
        if number < 0:
            return None
        key = facts.keys[number]
        base = self.time_base
        since = facts.stamps[here] if here >= 0 else facts.stamps[0]
        return key if (key - since) * base > GAP else None

    def pixels(self, frame: VideoFrame, look: Policy) -> NDArray[np.uint8]:
        """The pixels of a frame, upright and at the policy's size: (height, width, 3), RGB."""
        turns = round(frame.rotation / 90) % 4  # counterclockwise
        width, height = frame.width, frame.height
        size = look.size(*((height, width) if turns % 2 else (width, height)))
        stored = size[::-1] if turns % 2 else size
        # Use one reformatter without threads for all frames, since setting one up takes as long as
        # converting a frame.
        shown = self._reformatter.reformat(frame, *stored, format="rgb24", threads=1)
        return _turned(cast("NDArray[np.uint8]", shown.to_ndarray()), turns)

    def encoded(self, index: int, frame: VideoFrame, look: Policy) -> Frame:
        """Encode a frame, upright and at the policy's size."""
        time = self.facts.times[index]
        pixels = self.pixels(frame, look)
        height, width, _ = pixels.shape
        sideways = round(frame.rotation / 90) % 2
        own = (frame.height, frame.width) if sideways else (frame.width, frame.height)
        data, mime = _encoded(pixels, look)
        return Frame(
            time=time,
            image=Image(
                data,
                label=f"{label(self.video)}, {time:.3f} s",
                digest=f"sha256:{sha256(data).hexdigest()}",
                mime=mime,
                width=width,
                height=height,
                original=None if own == (width, height) else own,
            ),
        )


def _stamp(frame: VideoFrame) -> int | None:
    return frame.pts if frame.pts is not None else frame.dts


def _turned(pixels: NDArray[np.uint8], turns: int) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels


def _encoded(pixels: NDArray[np.uint8], look: Policy) -> tuple[bytes, str]:
    picture = PIL.Image.fromarray(pixels)
    data = BytesIO()
    if look.codec == "png":
        picture.save(data, "PNG", compress_level=1)
        return data.getvalue(), "image/png"
    picture.save(data, "JPEG", quality=look.quality, subsampling=0)
    return data.getvalue(), "image/jpeg"
