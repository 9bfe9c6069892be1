"""Frames on disk: the same as decoded ones, bounded, and checked when they are read."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from snellen.errors import MediaError, UsageError
from snellen.media import frame_cache as frame_cache_file
from snellen.media import video as video_files
from snellen.media.content import Frame, Video
from snellen.media.frame_cache import FrameCache
from snellen.media.frame_pool import FramePool, PoolShare
from snellen.media.video import Window, decoded, load
from tests import videos

WINDOWS = [
    Window(start=0.0, end=3.0, policy="uniform:6"),
    Window(start=1.0, end=None, policy="fps:2"),
    Window(start=0.0, end=2.5, policy="uniform:4,side=64,codec=png"),
]
GB = 10**9


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Video:
    return load(Video(videos.cfr(tmp_path_factory.mktemp("clip") / "v.mp4", n=120).path))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The videos whose files are opened by a decoder."""
    names: list[str] = []
    opens = video_files._opened

    def counted(video: Video) -> object:
        names.append(video.source.name)
        return opens(video)

    monkeypatch.setattr(video_files, "_opened", counted)
    return names


def frames(
    clip: Video, cache: FrameCache | None, windows: Sequence[Window] = WINDOWS
) -> list[tuple[int, tuple[Frame, ...] | MediaError]]:
    return [*decoded(clip, windows, lambda: False, None, cache)]


def files(folder: Path, ending: str = ".frames") -> list[Path]:
    return sorted(folder.rglob(f"*{ending}"))


def test_a_second_pass_opens_no_video_and_gives_the_same_frames(
    clip: Video, tmp_path: Path, opened: list[str]
) -> None:
    plain = frames(clip, None)
    first = frames(clip, FrameCache(tmp_path, GB))
    opened.clear()
    second = frames(clip, FrameCache(tmp_path, GB))

    assert plain == first == second
    assert opened == []


def test_frames_of_other_windows_are_taken_from_the_cache_where_it_has_them(
    clip: Video, tmp_path: Path
) -> None:
    frames(clip, FrameCache(tmp_path, GB), WINDOWS[:1])
    more = [*WINDOWS, Window(start=0.0, end=3.5, policy="uniform:9")]

    assert frames(clip, FrameCache(tmp_path, GB), more) == frames(clip, None, more)


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a byte of a frame": lambda path: flip(path, 100),
    "a byte of the last frame": lambda path: flip(path, path.stat().st_size // 2),
    "a byte of the table": lambda path: flip(path, path.stat().st_size - 60),
    "a byte of the trailer": lambda path: flip(path, path.stat().st_size - 3),
    "cut off": lambda path: os.truncate(path, path.stat().st_size // 3),
    "empty": lambda path: path.write_bytes(b""),
    "something else": lambda path: path.write_text("<html>" * 99),
    "deleted": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_decoded_again(clip: Video, tmp_path: Path, damage: str) -> None:
    expected = frames(clip, FrameCache(tmp_path, GB))
    for path in files(tmp_path):
        DAMAGES[damage](path)

    assert frames(clip, FrameCache(tmp_path, GB)) == expected
    assert frames(clip, FrameCache(tmp_path, GB)) == expected


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_times_are_read_from_the_video_again(
    clip: Video, tmp_path: Path, damage: str
) -> None:
    expected = frames(clip, FrameCache(tmp_path, GB))
    (path,) = tmp_path.rglob("facts")
    DAMAGES[damage](path)

    assert frames(clip, FrameCache(tmp_path, GB)) == expected


def test_the_oldest_files_are_deleted_first(clip: Video, tmp_path: Path) -> None:
    frames(clip, FrameCache(tmp_path, GB))
    paths = files(tmp_path)
    for age, path in enumerate(paths):
        os.utime(path, (1000.0 + age, 1000.0 + age))
    (facts,) = tmp_path.rglob("facts")
    newest = paths[-1].stat().st_size + facts.stat().st_size

    FrameCache(tmp_path, newest)

    assert files(tmp_path) == paths[-1:]


def test_files_in_all_stay_within_the_bound(clip: Video, tmp_path: Path) -> None:
    expected = frames(clip, None)
    most = 30_000

    assert frames(clip, FrameCache(tmp_path, most)) == expected
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= most


def test_other_software_does_not_share_frames(
    clip: Video, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    frames(clip, FrameCache(tmp_path, GB))
    opened.clear()
    monkeypatch.setattr(frame_cache_file, "version", lambda name: "0")
    frames(clip, FrameCache(tmp_path, GB))

    assert opened == ["v.mp4"]


def test_a_video_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    path = videos.text(tmp_path / "v.mp4").path

    with pytest.raises(MediaError, match="cannot be decoded"):
        frames(load(Video(path)), FrameCache(tmp_path / "cache", GB))
    assert files(tmp_path / "cache", "") == []


def test_a_folder_that_cannot_be_written_to_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match=r"The frame cache .*file/cache cannot be written to"):
        FrameCache(tmp_path / "file/cache", GB)


def test_a_full_disk_ends_the_writing_and_not_the_decoding(clip: Video, tmp_path: Path) -> None:
    cache = FrameCache(tmp_path / "cache", GB)
    assert clip.digest is not None
    name = clip.digest.removeprefix("sha256:")
    (tmp_path / "cache" / name[:2]).write_text("a file where a folder must be")

    assert frames(clip, cache) == frames(clip, None)
    assert cache.trouble is not None and str(tmp_path) in cache.trouble


KILLED = """
import os, signal, sys
from pathlib import Path
from threading import Event
from snellen.media.content import Video
from snellen.media.frame_cache import FrameCache
from snellen.media.frame_pool import FramePool, PoolShare
from snellen.media.video import Window, decoded, load

windows = [Window(start=0.0, end=end, policy="uniform:6") for end in (1.0, 2.0, 3.0)]
cache = FrameCache(Path(sys.argv[2]), 10**9)
for number, _ in decoded(load(Video(Path(sys.argv[1]))), windows, lambda: False, None, cache):
    if number == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("number", [0, 2])
def test_a_killed_process_leaves_a_cache_that_can_be_used(
    clip: Video, tmp_path: Path, number: int
) -> None:
    command = [sys.executable, "-c", KILLED, str(clip.source), str(tmp_path), str(number)]
    done = subprocess.run(command, check=False, env={**os.environ})
    assert done.returncode == -signal.SIGKILL
    (part,) = files(tmp_path, ".part")

    assert frames(clip, FrameCache(tmp_path, GB)) == frames(clip, None)

    long_ago = time.time() - 10_000
    os.utime(part, (long_ago, long_ago))
    FrameCache(tmp_path, GB)
    assert files(tmp_path, ".part") == []


# -- several threads


def test_threads_that_need_the_same_frames_decode_them_once(
    clip: Video, tmp_path: Path, opened: list[str]
) -> None:
    cache = FrameCache(tmp_path, GB)
    with ThreadPoolExecutor(4) as threads:
        results = [*threads.map(lambda _: frames(clip, cache), range(4))]

    assert opened == ["v.mp4"]
    assert results == [frames(clip, None)] * 4


def test_a_thread_without_room_lets_another_decode_the_same_video(
    clip: Video, tmp_path: Path
) -> None:
    cache, pool = FrameCache(tmp_path, GB), FramePool(1)
    first, second = pool.share(), pool.share()

    def decode(share: PoolShare) -> list[tuple[int, tuple[Frame, ...] | MediaError]]:
        return [*decoded(clip, WINDOWS, lambda: False, share, cache)]

    with ThreadPoolExecutor(2) as threads:
        later = threads.submit(decode, second)
        while not pool.is_over:  # the second share's first frame fills the pool
            time.sleep(0.01)
        earlier = threads.submit(decode, first)
        try:
            shown = earlier.result(timeout=30)
        finally:
            first.close()
        assert later.result(timeout=30) == shown == frames(clip, None)


def test_a_run_that_ends_does_not_wait_for_a_video(clip: Video, tmp_path: Path) -> None:
    cache, has_ended = FrameCache(tmp_path, GB), Event()
    decoding = decoded(clip, WINDOWS, lambda: False, None, cache)
    next(decoding)

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(lambda: [*decoded(clip, WINDOWS, has_ended.is_set, None, cache)])
        time.sleep(0.1)
        assert not waiting.done()
        has_ended.set()
        assert waiting.result(timeout=30) == []
    decoding.close()  # type: ignore[attr-defined]
