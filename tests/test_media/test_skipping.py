"""Frames that nobody wants are left out of decoding; the wanted ones are the same to the pixel."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.media.content import Frame, Video
from snellen.media.video import Window, decoded
from tests import videos
from tests.videos import Clip, Picture


def pixels(frame: Frame) -> Picture:
    assert isinstance(frame.image.source, bytes)
    return np.asarray(PIL.Image.open(BytesIO(frame.image.source)))


@pytest.mark.parametrize(
    ("make", "suffix"),
    [
        (videos.cfr, "mp4"),
        (videos.open_gop, "mp4"),
        (videos.vfr, "mp4"),
        (videos.matroska, "mkv"),
        (videos.resized, "ts"),
        (videos.vp9, "webm"),
    ],
)
def test_the_pixels_are_those_of_decoding_all(
    tmp_path: Path, make: Callable[[Path], Clip], suffix: str
) -> None:
    clip = make(tmp_path / f"clip.{suffix}")
    first = clip.frames[0][0]
    expected = {float(time - first): picture for time, picture in videos.decoded(clip.path)}
    for start in (0.0, 0.1, 1.7):
        window = Window(start=start, end=None, policy="uniform:9,codec=png")
        ((_, frames),) = decoded(Video(clip.path), [window])
        assert isinstance(frames, tuple)
        for frame in frames:
            assert (pixels(frame) == expected[frame.time]).all()


def test_neighbours_and_lone_frames_are_wanted_at_once(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4")
    windows = [
        Window(start=2.0, end=2.3, policy="every"),
        Window(start=0.0, end=None, policy="uniform:5"),
    ]
    results = dict(decoded(Video(clip.path), windows))
    # 30 a second: 2.0 s is frame 60; linspace(0, 299, 5) without its fractions
    for number, numbers in ((0, [*range(60, 69)]), (1, [0, 74, 149, 224, 299])):
        frames = results[number]
        assert isinstance(frames, tuple)
        assert [videos.index_of(pixels(frame)) for frame in frames] == numbers
