"""Real videos, made on the spot, each of whose frames says in its pixels which one it is.

Where a maker gives `frames`, they come from how the video was made, never from decoding it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, takewhile
from math import floor
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.video.stream import VideoStream
from numpy.typing import NDArray

WIDTH, HEIGHT = 320, 192
BITS = 16
NTSC = Fraction(30000, 1001)
RATE = 48000  # of sound
# Three B-frames, always. Without the last, x264 gives other bytes at times from the same frames.
X264_PARAMS = "b-adapt=0:cpu-independent=1"
X264 = {"preset": "veryfast", "bf": "3", "g": "250", "x264-params": X264_PARAMS}

X265 = {"preset": "ultrafast", "g": "30", "x265-params": "log-level=none"}

Picture = NDArray[np.uint8]
"""(height, width, 3), RGB."""


@dataclass(frozen=True, kw_only=True)
class Clip:
    """A video file, and each frame's time in seconds and index, in the order they are shown."""

    path: Path
    frames: tuple[tuple[Fraction, int], ...]
    packets: tuple[tuple[tuple[Fraction, int], bytes], ...] = ()
    """Frames encoded, in the order they are decoded: (time, index), bytes."""


# -- pictures


def picture(index: int, width: int = WIDTH, height: int = HEIGHT) -> Picture:
    """Two rows of 16 blocks, the index's lowest bit first: white over black is 1, else 0.

    A block moves below, so that encoders find motion.
    """
    pixels = np.full((height, width, 3), 96, dtype=np.uint8)
    for bit in range(BITS):
        left, right = _edges(bit, width)
        is_set = index >> bit & 1
        pixels[height // 24 : height // 8, left:right] = 235 if is_set else 16
        pixels[height // 8 : height // 8 * 2, left:right] = 16 if is_set else 235
    left = index * 3 % width
    pixels[height * 3 // 8 : height * 5 // 8, left : left + width // 16] = (200, 80, 40)
    return pixels


def index_of(pixels: Picture) -> int:
    """The index of a picture, scaled and compressed as it may be; upright, or an error.

    Raises:
        ValueError: no index can be seen, or a mixture of two.
    """
    grey = pixels.astype(np.float64).mean(axis=2)
    height, width = grey.shape
    index = 0
    for bit in range(BITS):
        left, right = _edges(bit, width)
        margin = (right - left) // 4
        upper, lower = (
            grey[height * top // 48 : height * (top + 1) // 48, left + margin : right - margin]
            for top in (4, 8)
        )
        difference = float(upper.mean() - lower.mean())
        if abs(difference) < 110:
            raise ValueError(f"bit {bit} of the index is neither 0 nor 1: {difference:.0f}")
        index |= (difference > 0) << bit
    return index


def _edges(bit: int, width: int) -> tuple[int, int]:
    return width * (bit * 19 + 8) // 320, width * (bit * 19 + 25) // 320


def decoded(path: Path) -> Iterator[tuple[Fraction, Picture]]:
    """By PyAV, from the first frame to the last: times, and pixels turned as they are shown."""
    with av.open(path) as file:
        for packet in file.demux(video=0):
            # What is left of a frame that was cut off is none.
            if not packet.is_corrupt:
                for frame in packet.decode():
                    assert frame.pts is not None and frame.time_base is not None
                    pixels: Any = frame.to_ndarray(format="rgb24")
                    yield frame.time_base * frame.pts, np.rot90(pixels, frame.rotation // 90)


# -- whole videos; small ones take a fraction of a second


def cfr(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """H.264 with B-frames and a keyframe every 250 frames; the container is the suffix's."""
    return _encode(path, _steady(n, fps), fps)


def drawn(path: Path, indices: Sequence[int], fps: Fraction | int = 30) -> Clip:
    """As `cfr`, with pictures of these indices one after the other, which may come again."""
    times = _steady(len(indices), fps)
    clip = _encode(path, times, fps, lambda number: picture(indices[number]))
    return replace(clip, frames=tuple((time, indices[number]) for time, number in times))


def matroska(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """Matroska, which rounds times to milliseconds."""
    return _milliseconds(_encode(path, _steady(n, fps), fps))


def open_gop(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """Keyframes every 48 frames, with frames after them in the file that are shown before them."""
    options = X264 | {"g": "48", "x264-params": f"open-gop=1:{X264_PARAMS}"}
    return _encode(path, _steady(n, fps), fps, options=options)


def vfr(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """Those of `n` frames that an irregular rule keeps, at their times: gaps of 1 to 7 frames."""
    kept = [k for k in range(n) if k % 7 == 0 or k % 11 == 0 or k % 100 < 20]
    return _encode(path, [(k / Fraction(fps), k) for k in kept], fps)


def offset(path: Path, n: int = 300, fps: Fraction | int = 30, start: int = 5) -> Clip:
    """The first frame is shown `start` seconds after zero, or what is nearest to that in frames."""
    first = round(start * fps)
    return _encode(path, [((first + k) / Fraction(fps), k) for k in range(n)], fps)


def turned(path: Path, degrees: int, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """Stored turned, with the note to players to turn frames clockwise by 90, 180 or 270 degrees.

    Shown so, frames are upright, and 320 x 192.
    """

    def lying(index: int) -> Picture:
        return np.ascontiguousarray(np.rot90(picture(index), degrees // 90))

    return _encode(path, _steady(n, fps), fps, lying, degrees=degrees)


def late_and_turned(path: Path, frames: Sequence[tuple[Fraction, int]]) -> Clip:
    """Frames at these times, stored turned by 90 degrees."""

    def lying(index: int) -> Picture:
        return np.ascontiguousarray(np.rot90(picture(index)))

    return _encode(path, frames, 30, lying, degrees=90)


def sized(path: Path, width: int, height: int, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """Of another size; without subsampled color where a side is odd."""
    pixel_format = "yuv444p" if width % 2 or height % 2 else "yuv420p"
    return _encode(
        path,
        _steady(n, fps),
        fps,
        partial(picture, width=width, height=height),
        options=X264 | {"preset": "ultrafast"},
        pixel_format=pixel_format,
    )


def resized(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """Half of the frames 320 x 192, the rest 160 x 96: two MPEG transport streams in a row."""
    frames = _steady(n, fps)
    options = X264 | {"bf": "0"}  # the container would show frames later, to decode them in time
    first = _encode(path, frames[: n // 2], fps, options=options)
    data = path.read_bytes()
    half = partial(picture, width=WIDTH // 2, height=HEIGHT // 2)
    container = {"mpegts_flags": "initial_discontinuity"}  # or it would count as damaged
    second = _encode(path, frames[n // 2 :], fps, half, options=options, container=container)
    path.write_bytes(data + path.read_bytes())
    return Clip(path=path, frames=first.frames + second.frames)


def with_audio(path: Path, n: int = 300, fps: Fraction | int = 30, seconds: int = 12) -> Clip:
    """A tone of `seconds` as the first stream, the video as the second."""
    return _encode(path, _steady(n, fps), fps, tone=seconds)


def vp9(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """WebM, which rounds times to milliseconds."""
    options = {"deadline": "realtime", "cpu-used": "8", "b": "1M"}
    return _milliseconds(_encode(path, _steady(n, fps), fps, codec="libvpx-vp9", options=options))


def mpeg4(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """MPEG-4 part 2 without B-frames, as old AVI files have it."""
    return _encode(path, _steady(n, fps), fps, codec="mpeg4", options={"g": "12", "b": "1M"})


def hevc(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """HEVC with B-frames, of 8 bits."""
    return _rounded(_encode(path, _steady(n, fps), fps, codec="libx265", options=X265))


def hdr(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """HEVC of 10 bits with the primaries of BT.2020 and the transfer function PQ, as HDR10 has."""
    colors = "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
    options = X265 | {"x265-params": colors}
    return _encode(
        path,
        _steady(n, fps),
        fps,
        codec="libx265",
        options=options,
        pixel_format="yuv420p10le",
    )


def av1(path: Path, n: int = 60, fps: Fraction | int = 30) -> Clip:
    """AV1, with frames that are decoded and never shown."""
    options = {"preset": "12", "crf": "35", "g": "30", "svtav1-params": "lp=1"}
    return _rounded(_encode(path, _steady(n, fps), fps, codec="libsvtav1", options=options))


# -- damaged ones, and no videos


def without_index(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """An MP4 of which the end is missing, and with it the index: no frame can be read."""
    return replace(_cut(cfr(path, n, fps)), frames=())


def cut_mp4(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """The first 60 % of an MP4 with its index in front; `frames` are those wholly there."""
    return _cut(_encode(path, _steady(n, fps), fps, container={"movflags": "faststart"}))


def cut_matroska(path: Path, n: int = 300, fps: Fraction | int = 30) -> Clip:
    """The first 60 % of a Matroska file; `frames` are those wholly there."""
    return _cut(matroska(path, n, fps))


def audio_only(path: Path, seconds: int = 3) -> Clip:
    """A tone."""
    return _encode(path, [], 1, tone=seconds)


def empty(path: Path) -> Clip:
    """A file of no bytes."""
    path.write_bytes(b"")
    return Clip(path=path, frames=())


def text(path: Path) -> Clip:
    """What a download that failed leaves."""
    path.write_text("<html><body>404 Not Found</body></html>\n")
    return Clip(path=path, frames=())


# -- making


def _steady(n: int, fps: Fraction | int) -> list[tuple[Fraction, int]]:
    return [(k / Fraction(fps), k) for k in range(n)]


def _encode(
    path: Path,
    frames: Sequence[tuple[Fraction, int]],
    fps: Fraction | int,
    draw: Callable[[int], Picture] = picture,
    *,
    codec: str = "libx264",
    options: Mapping[str, str] = X264,
    container: Mapping[str, str] | None = None,
    pixel_format: str = "yuv420p",
    degrees: int = 0,
    tone: int = 0,
) -> Clip:
    """A file of frames at multiples of 1 / `fps`, and before them, if asked, a tone of seconds."""
    step = 1 / Fraction(fps)
    shown = dict(frames)
    packets: list[tuple[tuple[Fraction, int], bytes]] = []
    with av.open(path, "w", options={"fflags": "bitexact", **(container or {})}) as file:
        streams: list[tuple[AudioStream | VideoStream, Iterator[Any]]] = []
        if tone:
            streams.append((file.add_stream("aac", rate=RATE, layout="mono"), _tone(tone)))
        if frames:
            video = cast(
                VideoStream, file.add_stream(codec, rate=Fraction(fps), options=dict(options))
            )
            video.height, video.width, _ = draw(0).shape
            video.pix_fmt = pixel_format
            video.codec_context.thread_count = 1  # more would make other bytes
            if degrees:
                video.set_display_rotation(-degrees)
            streams.append((video, _encodable(frames, step, draw)))
        for stream, parts in streams:
            for part in chain(parts, (None,)):  # None: no more
                for packet in stream.encode(part):
                    if isinstance(stream, VideoStream):
                        assert packet.pts is not None
                        time = packet.pts * packet.time_base
                        packets.append(((time, shown[time]), bytes(packet)))
                    file.mux(packet)
    return Clip(path=path, frames=tuple(frames), packets=tuple(packets))


def _encodable(
    frames: Sequence[tuple[Fraction, int]], step: Fraction, draw: Callable[[int], Picture]
) -> Iterator[av.VideoFrame]:
    for time, index in frames:
        frame = av.VideoFrame.from_ndarray(draw(index), format="rgb24")
        frame.time_base = step
        frame.pts = int(time / step)
        yield frame


def _tone(seconds: int) -> Iterator[av.AudioFrame]:
    wave = np.sin(np.arange(seconds * RATE) * (2 * np.pi * 440 / RATE)).astype(np.float32)
    frame = av.AudioFrame.from_ndarray(wave[None] / 4, format="fltp", layout="mono")
    frame.sample_rate = RATE
    yield frame


def _rounded(clip: Clip) -> Clip:
    """With the times that the container can hold."""
    return _milliseconds(clip) if clip.path.suffix == ".mkv" else clip


def _milliseconds(clip: Clip) -> Clip:
    """As Matroska and WebM tell the times: to the nearest millisecond."""
    rounded = tuple(
        (Fraction(floor(time * 1000 + Fraction(1, 2)), 1000), index) for time, index in clip.frames
    )
    at = {index: time for time, index in rounded}
    packets = tuple(((at[index], index), data) for (_, index), data in clip.packets)
    return replace(clip, frames=rounded, packets=packets)


def _cut(clip: Clip) -> Clip:
    """The file's first 60 %, and of its frames those up to the first that is not wholly there."""
    data = clip.path.read_bytes()
    data = data[: len(data) * 6 // 10]
    clip.path.write_bytes(data)
    # A file has the encoder's units (H.264, annex B) as they are, but for what separates them.
    complete = takewhile(lambda packet: packet[1].rpartition(b"\0\0\1")[2] in data, clip.packets)
    return replace(clip, frames=tuple(sorted(frame for frame, _ in complete)))
