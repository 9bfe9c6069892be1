"""Videos made from frames are read back by PyAV as what they were made from."""

import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.errors import DataError, UsageError, install
from snellen.media import encode
from tests import videos

TEN = Fraction(10)
# Limited range and two roundings: 255 levels become 219, and 255 again.
OFF = 3


def frames(n: int) -> Iterator[NDArray[np.uint8]]:
    return map(videos.picture, range(n))


@pytest.mark.parametrize("fps", [TEN, Fraction(25), videos.NTSC, Fraction(7, 3)])
def test_frames_keep_their_order_and_exact_times(tmp_path: Path, fps: Fraction) -> None:
    path = tmp_path / "a.mp4"
    encode.mp4(path, frames(40), fps=fps)
    decoded = [(time, videos.index_of(pixels)) for time, pixels in videos.decoded(path)]
    assert decoded == [(k / fps, k) for k in range(40)]


@pytest.mark.parametrize("grey", [0, 1, 77, 128, 254, 255])
def test_even_grey_comes_back_within_what_the_format_can_tell(tmp_path: Path, grey: int) -> None:
    path = tmp_path / "a.mp4"
    encode.mp4(path, [np.full((64, 48, 3), grey, dtype=np.uint8)], fps=TEN)
    ((_, pixels),) = videos.decoded(path)
    assert pixels.shape == (64, 48, 3)
    assert np.abs(pixels.astype(int) - grey).max() <= OFF


def test_the_codec_is_h264_with_halved_color_which_every_player_knows(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    encode.mp4(path, frames(2), fps=TEN)
    with av.open(path) as file:
        stream = file.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")


def test_the_same_frames_make_the_same_file(tmp_path: Path) -> None:
    for name in range(5):
        encode.mp4(tmp_path / f"{name}.mp4", frames(30), fps=TEN)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_a_file_that_is_there_is_replaced_and_nothing_else_left(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("before")
    encode.mp4(path, frames(1), fps=TEN)
    assert path.read_bytes()[4:8] == b"ftyp"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([], "at least one frame"),
        ([(33, 32)], "even"),
        ([(32, 33)], "even"),
        ([(32, 32), (32, 34)], "frame 1 has the shape"),
    ],
)
def test_frames_that_make_no_video_are_refused_and_leave_the_file_as_it_was(
    tmp_path: Path, shapes: list[tuple[int, int]], message: str
) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("before")
    with pytest.raises(ValueError, match=message):
        encode.mp4(path, (np.zeros((*shape, 3), np.uint8) for shape in shapes), fps=TEN)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.mp4"
    with pytest.raises(DataError, match=f"{path} cannot be written: No such file"):
        encode.mp4(path, frames(1), fps=TEN)


def test_without_pyav_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UsageError, match=re.escape(install("video"))):
        encode.mp4(tmp_path / "a.mp4", frames(1), fps=TEN)
