"""Videos decoded by presentation time, against clips whose frames say which they are."""

import random
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.errors import MediaError
from snellen.media.content import Frame, Video
from snellen.media.video import Window, decoded, facts, load, picked, policy
from tests import videos
from tests.videos import Clip, index_of

COMPLETE: dict[str, tuple[Callable[[Path], Clip], str]] = {
    "CFR with B-frames": (videos.cfr, "mp4"),
    "open GOP": (videos.open_gop, "mp4"),
    "VFR": (videos.vfr, "mp4"),
    "start offset": (videos.offset, "mp4"),
    "Matroska": (videos.matroska, "mkv"),
    "sound first": (videos.with_audio, "mp4"),
    "VP9": (videos.vp9, "webm"),
    "MPEG-4 in AVI": (videos.mpeg4, "avi"),
    "NTSC": (lambda path: videos.cfr(path, fps=videos.NTSC), "mp4"),
    "turned by 90": (lambda path: videos.turned(path, 90), "mp4"),
    "turned by 180": (lambda path: videos.turned(path, 180), "mp4"),
    "turned by 270": (lambda path: videos.turned(path, 270), "mp4"),
    "odd sides": (lambda path: videos.sized(path, 321, 193), "mp4"),
    "changing size": (videos.resized, "ts"),
}


def shown(frame: Frame) -> int:
    assert isinstance(frame.image.source, bytes)
    return index_of(np.asarray(PIL.Image.open(BytesIO(frame.image.source)).convert("RGB")))


def frames_of(path: Path, *windows: Window) -> list[tuple[Frame, ...]]:
    results = dict(decoded(Video(path), windows))
    every = [results[number] for number in range(len(windows))]
    for frames in every:
        if isinstance(frames, MediaError):
            raise frames
    return [frames for frames in every if not isinstance(frames, MediaError)]


def wanted(clip: Clip, window: Window) -> list[tuple[float, int]]:
    """Times and indices of the frames of a window, from how the clip was made."""
    first = clip.frames[0][0]
    times = [float(time - first) for time, _ in clip.frames]
    indexes = picked(policy(window.policy), times, window.start, window.end)
    return [(times[index], clip.frames[index][1]) for index in indexes]


@pytest.fixture(scope="module", params=COMPLETE)
def clip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Clip:
    make, suffix = COMPLETE[request.param]
    return make(tmp_path_factory.mktemp("clips") / f"clip.{suffix}")


def test_each_of_64_frames_is_the_one_that_is_shown_then(clip: Clip) -> None:
    window = Window(start=0.0, end=None, policy="uniform:64")
    (frames,) = frames_of(clip.path, window)
    assert len(frames) == min(64, len(clip.frames))
    assert [shown(frame) for frame in frames] == [index for _, index in wanted(clip, window)]
    times = [time for time, _ in wanted(clip, window)]
    assert [frame.time for frame in frames] == pytest.approx(times, abs=1e-6)


def test_windows_together_get_what_each_gets_alone(clip: Clip) -> None:
    drawing = random.Random(5)
    end = float(clip.frames[-1][0] - clip.frames[0][0])
    policies = ("uniform:5", "fps:4,max=7", "last:3@2", "uniform:6,at=middles", "every")
    windows = [
        Window(start=start, end=start + drawing.uniform(0.2, 3.0), policy=drawing.choice(policies))
        for start in (drawing.uniform(0.0, end * 0.8) for _ in range(12))
    ]
    together = frames_of(clip.path, *windows)
    for window, frames in zip(windows, together, strict=True):
        assert [shown(frame) for frame in frames] == [index for _, index in wanted(clip, window)]
        assert window.end is not None
        assert all(frame.time < window.end for frame in frames)
    alone = [frames_of(clip.path, window)[0] for window in windows[:3]]
    assert alone == together[:3]


def test_windows_come_in_the_order_of_their_last_frames(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4")
    windows = [Window(start=0.0, end=end, policy="uniform:4") for end in (9.0, 1.0, 5.0)]
    assert [number for number, _ in decoded(Video(clip.path), windows)] == [1, 2, 0]


def test_a_frame_that_two_windows_want_is_one_object(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4", n=60)
    first, second = frames_of(
        clip.path,
        Window(start=0.0, end=1.0, policy="fps:2"),
        Window(start=0.0, end=2.0, policy="fps:2"),
    )
    assert first[0] is second[0]
    assert [frame.time for frame in second] == [0.0, 0.5, 1.0, 1.5]


def test_frames_are_no_larger_than_the_policy_says_and_upright(tmp_path: Path) -> None:
    clip = videos.turned(tmp_path / "clip.mp4", 90)
    (frames,) = frames_of(clip.path, Window(start=0.0, end=None, policy="uniform:2,side=160"))
    sizes = [(frame.image.width, frame.image.height) for frame in frames]
    assert sizes == [(160, 96)] * 2
    assert isinstance(frames[0].image.source, bytes)
    assert PIL.Image.open(BytesIO(frames[0].image.source)).size == (160, 96)


def test_png_keeps_what_jpeg_loses(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4", n=2)
    (png,), (jpeg,) = frames_of(
        clip.path,
        Window(start=0.0, end=0.01, policy="every,codec=png"),
        Window(start=0.0, end=0.01, policy="every,quality=30"),
    )
    assert (png.image.mime, jpeg.image.mime) == ("image/png", "image/jpeg")
    assert shown(png) == shown(jpeg) == 0
    assert len(png.image.source) > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [videos.cut_mp4, videos.cut_matroska])
def test_a_file_that_is_cut_off_gives_what_is_there_and_says_what_is_not(
    tmp_path: Path, make: Callable[[Path], Clip]
) -> None:
    clip = make(tmp_path / ("clip.mkv" if make is videos.cut_matroska else "clip.mp4"))
    there = float(clip.frames[-1][0])
    assert 2.0 < there < 8.0
    inside = Window(start=0.0, end=there, policy="uniform:64")
    (frames,) = frames_of(clip.path, inside)
    assert [shown(frame) for frame in frames] == [index for _, index in wanted(clip, inside)]
    with pytest.raises(MediaError, match=r"cut off: its declared length is 10\.0 s"):
        frames_of(clip.path, Window(start=0.0, end=9.0, policy="uniform:64"))
    with pytest.raises(MediaError, match="cut off"):
        frames_of(clip.path, Window(start=0.0, end=None, policy="uniform:64"))


def test_a_window_that_lacks_its_frames_fails_no_other(tmp_path: Path) -> None:
    clip = videos.cut_mp4(tmp_path / "clip.mp4")
    windows = [Window(start=0.0, end=end, policy="uniform:4") for end in (9.0, 1.0, 0.0, 2.0)]
    results = dict(decoded(Video(clip.path), windows))
    errors = [str(results[number]) for number in (0, 2)]
    assert "cut off" in errors[0] and "no frame before 0 s" in errors[1]
    assert all(len(results[number]) == 4 for number in (1, 3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (videos.without_index, "cannot be decoded"),
        (videos.empty, "cannot be decoded"),
        (videos.text, "cannot be decoded"),
        (videos.audio_only, "no video stream"),
    ],
)
def test_what_is_no_video_says_so(tmp_path: Path, make: Callable[[Path], Clip], says: str) -> None:
    path = make(tmp_path / "clip.mp4").path
    with pytest.raises(MediaError, match=says):
        facts(Video(path, label="clips/clip.mp4"))


def test_a_damaged_stretch_fails_the_windows_that_need_it(tmp_path: Path) -> None:
    clip = videos.open_gop(tmp_path / "clip.mp4")
    data = bytearray(clip.path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = random.Random(1).randbytes(400)
    clip.path.write_bytes(data)
    early = Window(start=0.0, end=2.0, policy="uniform:8")
    (frames,) = frames_of(clip.path, early)
    assert [shown(frame) for frame in frames] == [index for _, index in wanted(clip, early)]
    with pytest.raises(MediaError, match="damaged"):
        frames_of(clip.path, Window(start=0.0, end=None, policy="every"))


def test_windows_that_do_not_need_what_is_damaged_have_their_frames(tmp_path: Path) -> None:
    clip = videos.open_gop(tmp_path / "clip.mp4")
    data = bytearray(clip.path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 400] = random.Random(1).randbytes(400)
    clip.path.write_bytes(data)
    windows = [
        Window(start=0.0, end=2.0, policy="uniform:8"),
        Window(start=0.0, end=None, policy="every"),
    ]
    results = dict(decoded(Video(clip.path), windows))
    assert isinstance(results[1], MediaError) and not isinstance(results[0], MediaError)


def test_decoding_ends_when_nobody_waits(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4")
    window = Window(start=0.0, end=None, policy="every")
    assert list(decoded(Video(clip.path), [window], lambda: True)) == []


def test_a_list_of_files_is_no_video(tmp_path: Path) -> None:
    videos.resized(tmp_path / "part.ts")
    path = tmp_path / "list.mp4"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:2,\npart.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(MediaError, match="cannot be decoded"):
        facts(Video(path))


def test_a_length_that_is_no_time_is_none(tmp_path: Path) -> None:
    clip = videos.matroska(tmp_path / "clip.mkv", n=30)
    data = clip.path.read_bytes()
    assert b"00:00:01.0" in data
    clip.path.write_bytes(data.replace(b"00:00:01.0", b"xx:yy:zz.q"))
    assert facts(Video(clip.path)).declared is None or len(facts(Video(clip.path)).times) == 30


def test_a_window_behind_the_end_has_no_frames(tmp_path: Path) -> None:
    clip = videos.cfr(tmp_path / "clip.mp4", n=30)
    with pytest.raises(MediaError, match=r"no frame at or after 50 s: its frames end at 1\.0 s"):
        frames_of(clip.path, Window(start=50.0, end=60.0, policy="uniform:4"))
    (frames,) = frames_of(clip.path, Window(start=0.98, end=60.0, policy="uniform:4"))
    assert [shown(frame) for frame in frames] == [29]


def test_a_video_outside_the_folder_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    clip = videos.cfr(tmp_path / "clip.mp4", n=2)
    video = Video(tmp_path / "data" / ".." / "clip.mp4", within=tmp_path / "data")
    for read in (load, facts):
        with pytest.raises(MediaError, match="outside"):
            read(video)
    assert load(Video(clip.path)).digest


def test_the_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    path.write_bytes(b"not looked into" * 200_000)
    video = load(Video(path))
    # sha256sum of the same bytes
    assert video.digest == (
        "sha256:" + __import__("hashlib").sha256(b"not looked into" * 200_000).hexdigest()
    )
    assert load(video) is video


def test_a_missing_and_an_empty_video_say_which(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"COIN/a\.mp4 is missing"):
        load(Video(tmp_path / "a.mp4", label="COIN/a.mp4"))
    (tmp_path / "b.mp4").touch()
    with pytest.raises(MediaError, match=r"b\.mp4 is empty"):
        load(Video(tmp_path / "b.mp4"))
