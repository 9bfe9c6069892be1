"""The videos that other tests are made with are what they are said to be."""

import struct
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import PIL.Image
import pytest

from tests import videos
from tests.videos import NTSC, Clip

Maker = Callable[[Path], Clip]
AT_ANY_RATE: dict[str, Callable[..., Clip]] = {
    "cfr.mp4": videos.cfr,
    "cfr.mkv": videos.matroska,
    "open_gop.mp4": videos.open_gop,
    "vfr.mp4": videos.vfr,
    "offset.mp4": videos.offset,
    "vp9.webm": videos.vp9,
    "mpeg4.avi": videos.mpeg4,
}
MAKERS: dict[str, Maker] = {
    **{
        f"{fps}-{name}": partial(make, n=120, fps=rate)
        for name, make in AT_ANY_RATE.items()
        for fps, rate in {"25": 25, "30": 30, "ntsc": NTSC}.items()
    },
    "turned-90.mp4": partial(videos.turned, degrees=90),
    "turned-180.mp4": partial(videos.turned, degrees=180),
    "turned-270.mp4": partial(videos.turned, degrees=270),
    "odd.mp4": partial(videos.sized, width=321, height=193),
    "full_hd.mp4": partial(videos.sized, width=1920, height=1080, n=10),
    "resized.ts": videos.resized,
    "with_audio.mp4": partial(videos.with_audio, n=60, seconds=3),
    "one.mp4": partial(videos.cfr, n=1),
    "cut.mp4": videos.cut_mp4,
    "cut.mkv": videos.cut_matroska,
}
WITHOUT_VIDEO: dict[str, Maker] = {
    "without_index.mp4": videos.without_index,
    "empty.mp4": videos.empty,
    "text.mp4": videos.text,
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_frames_of_a_video_are_those_told(tmp_path: Path, name: str) -> None:
    clip = MAKERS[name](tmp_path / name)
    frames = tuple((time, videos.index_of(pixels)) for time, pixels in videos.decoded(clip.path))
    assert len(frames) > 0
    assert frames == clip.frames


@pytest.mark.parametrize(
    "name", ["30-cfr.mp4", "30-cfr.mkv", "30-vp9.webm", "30-mpeg4.avi", "with_audio.mp4"]
)
def test_a_video_made_again_has_the_same_bytes(tmp_path: Path, name: str) -> None:
    first = MAKERS[name](tmp_path / name).path.read_bytes()
    assert MAKERS[name](tmp_path / name).path.read_bytes() == first


@pytest.mark.parametrize("name", WITHOUT_VIDEO)
def test_a_file_that_is_no_video_cannot_be_opened(tmp_path: Path, name: str) -> None:
    clip = WITHOUT_VIDEO[name](tmp_path / name)
    assert clip.frames == ()
    with pytest.raises(av.error.InvalidDataError):
        av.open(clip.path)


def test_audio_alone_has_no_video_stream(tmp_path: Path) -> None:
    clip = videos.audio_only(tmp_path / "a.m4a")
    assert clip.frames == ()
    with av.open(clip.path) as file:
        assert [stream.type for stream in file.streams] == ["audio"]


def test_sound_is_the_first_stream(tmp_path: Path) -> None:
    clip = videos.with_audio(tmp_path / "a.mp4", n=30, seconds=2)
    with av.open(clip.path) as file:
        assert [stream.type for stream in file.streams] == ["audio", "video"]


# Times are in the file's steps: 1/15360 of a second at 30 frames a second.


def test_frames_are_decoded_in_another_order_than_shown(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "a.mp4")
    indices = [index for (_, index), _ in clip.packets]
    assert sorted(indices) == list(range(300))
    assert indices != sorted(indices)


def test_a_keyframe_comes_at_least_every_250_frames(tmp_path: Path) -> None:
    with av.open(videos.cfr(tmp_path / "a.mp4").path) as file:
        keys = [packet.pts for packet in file.demux(video=0) if packet.is_keyframe]
    assert keys == [0, 250 * 512]


def test_after_an_open_groups_keyframe_come_frames_that_are_shown_before_it(
    tmp_path: Path,
) -> None:
    with av.open(videos.open_gop(tmp_path / "a.mp4").path) as file:
        packets = [
            (packet.pts // 512, packet.is_keyframe)
            for packet in file.demux(video=0)
            if packet.pts is not None
        ]
    groups = [
        [frame for frame, _ in packets[index : index + 4]]
        for index, (_, key) in enumerate(packets)
        if key
    ]
    assert groups == [
        [0, 4, 2, 1],
        *([key, key - 2, key - 3, key - 1] for key in range(48, 300, 48)),
    ]


def test_variable_gaps_are_one_to_seven_frames(tmp_path: Path) -> None:
    kept = [index for _, index in videos.vfr(tmp_path / "a.mp4").frames]
    assert {after - before for before, after in pairwise(kept)} == set(range(1, 8))


@pytest.mark.parametrize(
    ("fps", "start"), [(30, Fraction(5)), (25, Fraction(5)), (NTSC, Fraction(5005, 1000))]
)
def test_a_late_start_is_the_nearest_frame_to_five_seconds(
    tmp_path: Path, fps: Fraction | int, start: Fraction
) -> None:
    assert videos.offset(tmp_path / "a.mp4", 10, fps).frames[0] == (start, 0)


# ISO/IEC 14496-12, 6.2.2: x' = ax + cy, y' = bx + dy, y downwards; a, b, u, c, d, v are stored.
@pytest.mark.parametrize(
    ("degrees", "a", "b", "c", "d"), [(90, 0, 1, -1, 0), (180, -1, 0, 0, -1), (270, 0, -1, 1, 0)]
)
def test_the_matrix_turns_clockwise(
    tmp_path: Path, degrees: int, a: int, b: int, c: int, d: int
) -> None:
    data = videos.turned(tmp_path / "a.mp4", degrees, n=2).path.read_bytes()
    track = data[data.index(b"tkhd") :]
    unit = 1 << 16
    # After the name: version and flags, 2 times, track, reserved, duration, 8 + 8 bytes.
    assert track[44:68] == struct.pack(">6i", a * unit, b * unit, 0, c * unit, d * unit, 0)


def test_the_stored_picture_lies_on_its_side(tmp_path: Path) -> None:
    with av.open(videos.turned(tmp_path / "a.mp4", 90, n=2).path) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height) == (192, 320)


def test_the_size_changes_half_way(tmp_path: Path) -> None:
    shapes = [pixels.shape for _, pixels in videos.decoded(videos.resized(tmp_path / "a.ts").path)]
    assert shapes == [(192, 320, 3)] * 30 + [(96, 160, 3)] * 30


@pytest.mark.parametrize("name", ["cut.mp4", "cut.mkv"])
def test_a_cut_video_lacks_frames_at_its_end(tmp_path: Path, name: str) -> None:
    assert 100 < len(MAKERS[name](tmp_path / name).frames) < 250


# -- the index in a picture


@pytest.mark.parametrize("index", [0, 1, 299, 0x5555, 0xAAAA, 0xFFFF])
def test_an_index_is_read_back_after_scaling_and_jpeg(index: int) -> None:
    small = PIL.Image.fromarray(videos.picture(index)).resize((112, 67))
    file = BytesIO()
    small.save(file, "JPEG", quality=50)
    assert videos.index_of(np.asarray(PIL.Image.open(file).convert("RGB"))) == index


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_picture_has_no_index(quarters: int) -> None:
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        videos.index_of(np.rot90(videos.picture(5), quarters))


def test_a_mixture_of_two_frames_has_no_index() -> None:
    mixed = videos.picture(5) // 2 + videos.picture(6) // 2
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        videos.index_of(mixed)
