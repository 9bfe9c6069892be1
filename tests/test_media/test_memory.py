"""What many windows on one video hold in memory while it is decoded."""

import tracemalloc
from pathlib import Path

import pytest

from snellen.errors import MediaError
from snellen.media import video
from snellen.media.content import Frame, Video
from snellen.media.video import Window, decoded
from tests import videos

WINDOWS = [Window(start=0.0, end=8.0 + n / 10, policy="uniform:15") for n in range(20)]


def size(frames: tuple[Frame, ...] | MediaError) -> int:
    assert isinstance(frames, tuple)
    return sum(len(frame.image.source) for frame in frames if isinstance(frame.image.source, bytes))


def test_windows_put_off_get_the_same_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = videos.cfr(tmp_path / "clip.mp4").path
    at_once = [*decoded(Video(path), WINDOWS)]
    monkeypatch.setattr(video, "MOST_HELD", size(at_once[0][1]) * 2)
    assert [*decoded(Video(path), WINDOWS)] == at_once


def test_frames_that_wait_stay_within_what_may_be_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = videos.cfr(tmp_path / "clip.mp4").path
    ((_, frames),) = decoded(Video(path), WINDOWS[:1])  # and what is imported does not count below
    window_size = size(frames)
    monkeypatch.setattr(video, "MOST_HELD", 2 * window_size)
    tracemalloc.start()
    try:
        for _ in decoded(Video(path), WINDOWS):
            pass
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # What may be held, the window that is handed out, a frame's pixels and the encoder's copy.
    assert most < 3 * window_size + 4 * videos.WIDTH * videos.HEIGHT * 3
