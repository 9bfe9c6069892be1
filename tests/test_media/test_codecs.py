"""Newer codecs, and videos that are long, turned, late, or of a variable rate: exact frames."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from snellen.media.content import Video
from snellen.media.video import Window, decoded
from tests import videos
from tests.test_media.test_video import frames_of, shown, wanted
from tests.videos import Clip

Make = Callable[..., Clip]


def needs(codec: str, encoder: str) -> None:
    """Skip the test, visibly, if PyAV was built without the codec."""
    try:
        av.codec.Codec(encoder, "w")
        av.codec.Codec(codec, "r")
    except av.codec.codec.UnknownCodecError as error:
        pytest.skip(f"this build of PyAV lacks a codec: {error}")


@pytest.mark.parametrize(
    ("make", "codec", "encoder", "ending"),
    [
        (videos.hevc, "hevc", "libx265", "mp4"),
        (videos.hevc, "hevc", "libx265", "mkv"),
        (videos.hdr, "hevc", "libx265", "mp4"),
        (videos.av1, "libdav1d", "libsvtav1", "mp4"),
        (videos.av1, "libdav1d", "libsvtav1", "mkv"),
    ],
)
def test_frames_of_newer_codecs_are_those_that_are_shown(
    tmp_path: Path, make: Make, codec: str, encoder: str, ending: str
) -> None:
    needs(codec, encoder)
    clip = make(tmp_path / f"clip.{ending}")
    for window in (
        Window(start=0.0, end=None, policy="uniform:7"),
        Window(start=0.5, end=1.6, policy="fps:9"),
    ):
        (frames,) = frames_of(clip.path, window)
        assert [shown(frame) for frame in frames] == [index for _, index in wanted(clip, window)]
        times = [time for time, _ in wanted(clip, window)]
        assert [frame.time for frame in frames] == pytest.approx(times, abs=0.0006)


def test_hdr_becomes_a_picture_of_8_bits_with_its_own_brightness(tmp_path: Path) -> None:
    needs("hevc", "libx265")
    # Not two frames: x265 then gives some packets no times.
    clip = videos.hdr(tmp_path / "clip.mp4")
    with av.open(clip.path) as file:
        stream = file.streams.video[0]
        assert (stream.pix_fmt, stream.codec_context.color_trc) == ("yuv420p10le", 16)  # PQ
    (frames,) = frames_of(clip.path, Window(start=0.0, end=0.01, policy="every,codec=png"))

    assert frames[0].image.mime == "image/png"
    assert isinstance(frames[0].image.source, bytes)


def test_a_late_first_frame_of_a_variable_rate_and_turned_is_at_zero(tmp_path: Path) -> None:
    # 17 frames at irregular times from 5 s on, stored lying.
    kept = [k for k in range(60) if k % 7 == 0 or k % 11 == 0 or k < 4]
    times = [(Fraction(150 + k, 30), k) for k in kept]
    clip = videos.late_and_turned(tmp_path / "clip.mp4", times)

    (frames,) = frames_of(clip.path, Window(start=0.0, end=None, policy="every"))

    assert [shown(frame) for frame in frames] == kept
    assert [frame.time for frame in frames] == pytest.approx([k / 30 for k in kept], abs=1e-6)


def long_video(path: Path, hours: int) -> Clip:
    """A minute at 2 frames per second, again and again with later times."""
    minute = videos.cfr(path.with_suffix(".minute.mp4"), n=120, fps=2)
    with av.open(minute.path) as source, av.open(path, "w") as file:
        stream = file.add_stream_from_template(source.streams.video[0])
        for number in range(hours * 60):
            source.seek(0)
            for packet in source.demux(video=0):
                if packet.dts is None or packet.pts is None:
                    continue
                shift = round(60 * number / packet.time_base)
                packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                packet.stream = stream
                file.mux(packet)
    return Clip(
        path=path,
        frames=tuple((Fraction(k, 2), k % 120) for k in range(hours * 3600 * 2)),
    )


def test_1024_frames_of_two_hours_are_exact(tmp_path: Path) -> None:
    clip = long_video(tmp_path / "clip.mp4", 2)
    window = Window(start=0.0, end=None, policy="uniform:1024,side=320")

    (frames,) = frames_of(clip.path, window)

    positions = np.linspace(0, len(clip.frames) - 1, 1024, dtype=int)
    assert [shown(frame) for frame in frames] == [clip.frames[k][1] for k in positions]
    assert [frame.time for frame in frames] == pytest.approx([k / 2 for k in positions], abs=1e-6)


def test_decoding_writes_no_file(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4", n=60)
    before = sorted(os.listdir(tmp_path))

    [*decoded(Video(clip.path), [Window(start=0.0, end=None, policy="uniform:8")])]

    assert sorted(os.listdir(tmp_path)) == before
