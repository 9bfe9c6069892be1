"""The cost of questions with 512 frames on two-hour videos: memory, time, and CPU.

usage: python perf/long_video.py [--part flight|share ...] [--peers ../shared/bench/peers]
[--work DIR]

flight  `snellen run` with sixteen questions of 512 full-size frames on four videos, all in flight:
        peak memory, which must be at most 2 GB, and the rate. The server is a separate process
share   on one of the videos: a pass that decodes every frame, ten questions of 512 frames, and the
        same ten questions with a frame cache, for a first and a second model; CPU seconds, each in
        a process of its own. The questions may take half of the full pass, and the second model
        3 % of the first. The digest of the file, which each process computes, is listed separately

The videos (1920x1080, 10 frames per second, a key frame every 100, 0.5 Mbit/s) are drawn once, with
PyAV (10 minutes), and kept in --work (1.9 GB).
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import _commands

SHARED = Path(__file__).parents[2] / "shared"
VIDEOS, HOURS = 4, 2
SIZE, FPS, GOP = "1920x1080", 10, 100
SEGMENT = 120
"""The seconds that are encoded. A video repeats them, so that drawing two hours takes a minute."""
FRAMES, QUESTIONS, SHARING = 512, 16, 10
LATENCY = 5.0
MOST_MB, MOST_OF_PASS, MOST_OF_FIRST = 2000, 0.5, 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=("flight", "share"))
    parser.add_argument("--peers", type=Path, default=SHARED / "bench/peers")
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-long-video"))
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        what, path, folder = args.measure
        print(json.dumps(MEASURES[what](Path(path), Path(folder))))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    for number in range(VIDEOS):
        path = args.work / f"v{number}.mp4"
        if not path.exists():
            draw(path, number)
    for part in args.part or ("flight", "share"):
        {"flight": flight, "share": share}[part](args)


# -- videos


def draw(path: Path, number: int) -> None:
    """Draw a two-hour video: moving test pictures in colors of its own."""
    import av
    from av.filter import Graph

    graph = Graph()
    parts = [
        graph.add("testsrc2", f"size={SIZE}:rate={FPS}"),
        graph.add("hue", f"h={90 * number}"),
        graph.add("format", "yuv420p"),
        graph.add("buffersink"),
    ]
    for pair, following in pairwise(parts):
        pair.link_to(following)
    graph.configure()
    options = {"preset": "veryfast", "crf": "40", "g": str(GOP)}
    segment = path.with_suffix(".segment.mp4")
    with av.open(segment, "w") as file:
        stream = file.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height = map(int, SIZE.split("x"))
        stream.pix_fmt = "yuv420p"
        for _ in range(SEGMENT * FPS):
            frame = graph.vpull()
            frame.pict_type = 0
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    with av.open(segment) as source, av.open(path.with_suffix(".part.mp4"), "w") as file:
        stream = file.add_stream_from_template(source.streams.video[0])
        for repeat in range(HOURS * 3600 // SEGMENT):
            source.seek(0)
            for packet in source.demux(video=0):
                if packet.dts is None or packet.pts is None:
                    continue
                shift = round(Fraction(repeat * SEGMENT) / packet.time_base)
                packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                packet.stream = stream
                file.mux(packet)
    segment.unlink()
    path.with_suffix(".part.mp4").rename(path)


# -- sixteen questions in flight


def flight(args: argparse.Namespace) -> None:
    folder = args.work / "rows"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number in range(VIDEOS):
        os.link(args.work / f"v{number}.mp4", folder / f"v{number}.mp4")
    with (folder / "rows.jsonl").open("w") as file:
        for number in range(QUESTIONS):
            row = {"id": number, "video": f"v{number % VIDEOS}.mp4", "answer": "ABCD"[number % 4]}
            row |= {"question": f"[item {number:06d}] What is seen?"}
            file.write(json.dumps(row | dict(zip("ABCD", "wxyz", strict=True))) + "\n")
    command = [sys.executable, "-m", "snellen", "run", "-b", str(folder / "rows.jsonl")]
    command += ["--task", "mcq", "-m", "openai/mock", "--out", str(folder / "runs")]
    command += ["--frames", f"uniform:{FRAMES}", "--concurrency", str(QUESTIONS)]
    command += ["--max-tokens", "16", "--temperature", "0"]
    with _commands.mock(args.peers) as server:
        command += ["--base-url", server.url]
        actual = server.measured(command, args.work / "log.txt", LATENCY) | server.stats()
    assert actual["requests"] == QUESTIONS, actual
    print(
        f"{QUESTIONS} questions of {FRAMES} frames on {VIDEOS} videos of {HOURS} hours: peak "
        f"{actual['memory']:.0f} MB (allowed {MOST_MB}), {actual['body_max'] / 1e6:.0f} MB per "
        f"request, {actual['wall']:.0f} s, {actual['cpu']:.0f} s CPU, "
        f"{QUESTIONS * FRAMES / actual['wall']:.0f} frames/s, "
        f"{QUESTIONS / actual['wall'] * 60:.1f} questions/min"
    )


# -- ten questions on one video


def share(args: argparse.Namespace) -> None:
    cache = args.work / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    path = args.work / "v0.mp4"
    seconds = {}
    for what in ("digest", "every", "questions", "first", "second"):
        seconds[what] = child(what, path, cache)["cpu"]
        print(f"{what:10} {seconds[what]:8.2f} s CPU", flush=True)
    of_pass = seconds["questions"] / seconds["every"]
    of_first = seconds["second"] / seconds["first"]
    print(
        f"{SHARING} questions of {FRAMES} frames: {of_pass:.2f} of a full pass (allowed "
        f"{MOST_OF_PASS}); with the cache, the second model {of_first:.2%} of the first (allowed "
        f"{MOST_OF_FIRST:.0%})"
    )
    shutil.rmtree(cache)


def child(what: str, path: Path, folder: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, str(path), str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    document: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return document


def cpu_of(work: Callable[[], object]) -> dict[str, Any]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def digest(path: Path, _: Path) -> dict[str, Any]:
    from snellen.media import video
    from snellen.media.content import Video

    return cpu_of(lambda: video.load(Video(path)))


def every(path: Path, _: Path) -> dict[str, Any]:
    """Decode every frame once, from the first to the last, in one thread."""
    import av

    def work() -> None:
        with av.open(path) as file:
            file.streams.video[0].thread_type = "NONE"
            for _ in file.decode(video=0):
                pass

    return cpu_of(work)


def questions(path: Path, _: Path) -> dict[str, Any]:
    return ask(path, None)


def with_cache(path: Path, folder: Path) -> dict[str, Any]:
    return ask(path, folder)


def ask(path: Path, folder: Path | None) -> dict[str, Any]:
    """Decode the frames of ten questions, without computing the digest of the file."""
    from snellen.media import video
    from snellen.media.content import Video
    from snellen.media.frame_cache import FrameCache

    cache = None if folder is None else FrameCache(folder, 10**10)
    film = video.load(Video(path))
    windows = [
        video.Window(start=0.0, end=None, policy=f"uniform:{FRAMES}") for _ in range(SHARING)
    ]

    def work() -> None:
        shown = dict(video.decoded(film, windows, lambda: False, None, cache))
        assert all(len(frames) == FRAMES for frames in shown.values())  # type: ignore[arg-type]

    return cpu_of(work)


MEASURES: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
    "digest": digest,
    "every": every,
    "questions": questions,
    "first": with_cache,
    "second": with_cache,
}


if __name__ == "__main__":
    main()
