"""The cost of frames of long videos for many questions, in time, memory, and disk.

usage: python perf/video.py [--part w3|memory|plan ...] [--base CHECKOUT] [--reps 3]
[--peers ../shared/bench/peers] [--peer-python PY] [--annotations FILE] [--work DIR]

w3      the peers' workload: 64 frames at each of 10 times of a 20-minute video (640x360, 25 frames
        per second, H.264, a key frame every 250), compared with the peers' script w3_video.py.
        Snellen is measured three times: as arrays, which is what the peers deliver and what the
        budget is for; and as delivered, as JPEG of full size and of 151,200 pixels. The script
        checks that the arrays equal the peers' in every pixel
memory  peak memory of `snellen run` on 1080p, with 64 full-size frames per question and 8 questions
        in flight: 8 questions on one video, 45 on one video, and 16 on 16 videos; the server is a
        separate process. --videos selects one of the two videos
plan    hours and bytes for all points of OVO-Bench (--annotations: its authors' file): cut and
        encoded again as its authors do, decoded from 0, by seeking for each frame, and Snellen's
        method; computed from the length of each point's video and the cost of a frame on this
        machine, which is measured first

Each figure is from a separate process: CPU seconds including children, and medians over --reps
rounds; all peers but the shared pass are measured once. A ratio is the median of the ratios in one
round. --base measures another checkout in the same rounds. --peer-python is a Python that has
decord, and if possible moviepy 1.0.3 and imageio-ffmpeg; the output lists what is missing. The
videos are created once, with PyAV (5 minutes), and kept in --work (320 MB).
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import islice, pairwise, product
from math import ceil
from pathlib import Path
from typing import Any, cast

import _commands
from _commands import Checkout, Figures, checkouts, in_rounds, loads, middle, ratio

SHARED = Path(__file__).parents[2] / "shared"
QUERIES = (63, 187, 301, 428, 547, 668, 793, 911, 1034, 1177)
FRAMES, FPS, GOP = 64, 25, 250
VIDEOS = {"640x360": (1200, 3), "1920x1080": (30, 10), "1920x1080-busy": (30, 20)}
"""The length in seconds, and the strength of the noise. They give 0.5, 6, and 60 Mbit/s, and frames
of 0.05, 0.56, and 1.7 MB as JPEG. Films in 1080p are close to the first of the two 1080p videos."""
LARGE = ("1920x1080", "1920x1080-busy")
SIZES = ("640x360", "1920x1080")
"""The videos with which the cost of a frame is measured."""
SMALL = ",pixels=151200"
SHARED_PASS = "pyav-shared"
OTHERS = ("decode-all", "pyav-gopskip", "pyav-seek")
NEEDS_MORE = ("decord", "chunk-moviepy", "chunk-copy")
"""The peers that need more than PyAV."""
OURS = ("arrays", "jpeg", "jpeg-small", "digest", "packets")
COSTS = ("every", "some", "show", "cut")
OWN_COSTS = ("some", "show")
"""Those of the costs that depend on Snellen."""
BUDGET, MOST_MB = 1.2, 1500
IN_FLIGHT, LATENCY = 8, 10.0
CUT = 30
"""The seconds of video that are encoded again, to measure the cost of a second."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    _commands.add_options(parser, "/tmp/snellen-video")
    parser.add_argument("--part", action="append", choices=("w3", "memory", "plan"))
    parser.add_argument("--videos", action="append", choices=LARGE, help="for the part memory")
    parser.add_argument("--peers", type=Path, default=SHARED / "bench/peers")
    parser.add_argument("--peer-python")
    parser.add_argument(
        "--annotations", type=Path, default=SHARED / "golden/ovobench/annotations.json"
    )
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(MEASURES[args.measure[0]](args.measure[1])))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    for part in args.part or ("w3", "memory", "plan"):
        {"w3": w3, "memory": in_flight, "plan": plan}[part](args)


# -- processes


def child(command: Sequence[str], environment: dict[str, str] | None = None) -> Figures:
    """Run a process; return the JSON object in its last line, and the machine's load."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    document: Figures = json.loads(done.stdout.splitlines()[-1])
    return document | {"load": os.getloadavg()[0]}


def ours(what: str, path: Path, checkout: Checkout, work: Path) -> Figures:
    command = [sys.executable, __file__, "--measure", what, str(path)]
    return child(command, checkout.environment(work))


def cpu() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(side.ru_utime + side.ru_stime for side in both)


def written() -> int:
    """The bytes that this process has written to files."""
    io = Path("/proc/self/io").read_text()
    return int(io.partition("\nwrite_bytes:")[2].split()[0])


def opened(path: str) -> Callable[[], Any]:
    """A function that opens a video and reads the times of its frames. The digest of the file,
    which is measured on its own, is computed before."""
    from snellen.media import video

    known = video.load(video.Video(Path(path)))
    return lambda: video.Streamed(known)._opened


# -- videos


def make_video(work: Path, name: str) -> Path:
    """Create one of the videos, in the same way as the peers' make_video.sh."""
    path = work / f"{name}.mp4"
    if not path.exists():
        part = path.with_suffix(".part.mp4")
        # In a separate process, since children inherit the peak memory of this one.
        ours(f"make-{name}", part, checkouts(None)[0], work)
        part.rename(path)
    return path


def make(name: str, path: str) -> dict[str, Any]:
    import av
    from av import VideoFrame
    from av.filter import Graph

    size = name.partition("-")[0]
    seconds, noise = VIDEOS[name]
    graph = Graph()
    parts = [
        graph.add("testsrc2", f"size={size}:rate={FPS}"),
        graph.add("noise", f"alls={noise}:allf=t"),
        graph.add("format", "yuv420p"),
        graph.add("buffersink"),
    ]
    for pair, following in pairwise(parts):
        pair.link_to(following)
    graph.configure()
    options = {"preset": "veryfast", "crf": "26", "g": str(GOP)}
    with av.open(path, "w") as file:
        stream = file.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height = map(int, size.split("x"))
        stream.pix_fmt = "yuv420p"
        stream.thread_type = "FRAME"  # otherwise x264 would divide frames into slices
        for number in range(seconds * FPS):
            frame = cast(VideoFrame, graph.pull())
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            frame.pict_type = 0  # otherwise all would be key frames, as in the source
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return {}


# -- w3


def w3(args: argparse.Namespace) -> None:
    path = make_video(args.work, "640x360")
    script = str(args.peers / "w3_video.py")
    print(json.dumps(child([sys.executable, script, "plan", "--video", str(path)])))
    cases: dict[str, Callable[[], Figures]] = {
        SHARED_PASS: partial(child, [sys.executable, script, SHARED_PASS, "--video", str(path)])
    }
    cases |= {
        f"{checkout.name}, {what}": partial(ours, what, path, checkout, args.work)
        for what in OURS
        for checkout in checkouts(args.base)
    }
    runs = in_rounds(args.reps, cases, ("cpu",))
    for mode in OTHERS:
        runs[mode] = [child([sys.executable, script, mode, "--video", str(path)])]
    missing = []
    environment = peers_environment(args)
    for mode in NEEDS_MORE:
        try:
            runs[mode] = [other(args, mode, path, environment)]
        except (FileNotFoundError, subprocess.CalledProcessError):
            missing.append(mode)
    shared = runs[SHARED_PASS]
    print(f"\n{'way':18} {'CPU s':>8} {'x shared':>8} {'wall s':>7} {'MB':>5} {'MB written':>10}")
    for way, figures in runs.items():
        times = ratio(figures, shared[: len(figures)], "cpu")
        # The memory says nothing about methods that leave the work to other programs.
        memory = "" if way.startswith("chunk") else round(middle(figures, "rss_mib") * 1.048576)
        print(
            f"{way:18} {middle(figures, 'cpu'):8.2f} {times:8.2f} {middle(figures, 'wall'):7.1f} "
            f"{memory:>5} {figures[0].get('bytes', 0) / 1e6:10.1f}  {figures[0].get('note', '')}"
        )
    times = ratio(runs["this, arrays"], shared, "cpu")
    print(f"arrays: {times:.2f} x one shared pass; allowed {BUDGET}")
    print_ratios(runs, OURS, {"CPU": "cpu", "memory": "rss_mib"})
    exact = {run["crc"] for way in runs for run in runs[way] if "arrays" in way} | {
        run["crc"] for run in shared
    }
    print("pixels equal the peers'" if len(exact) == 1 else f"PIXELS DIFFER: {exact}")
    print(f"not measured: {', '.join((*missing, 'torchcodec'))}; {loads(runs)}")


def print_ratios(
    runs: dict[str, list[Figures]], cases: Sequence[str], keys: dict[str, str]
) -> None:
    """Compare this checkout with the base in each case."""
    for what in cases:
        if f"base, {what}" in runs:
            pair = runs[f"this, {what}"], runs[f"base, {what}"]
            ratios = (f"{name} {ratio(*pair, key):.2f}" for name, key in keys.items())
            print(f"{what}, x base: {', '.join(ratios)}")


def other(args: argparse.Namespace, mode: str, path: Path, environment: dict[str, str]) -> Figures:
    """Measure a peer that needs more than PyAV. Encoding again is measured on the first chunk only,
    and extrapolated."""
    if args.peer_python is None:
        raise FileNotFoundError
    command = [args.peer_python, str(args.peers / "w3_video.py"), mode, "--video", str(path)]
    command += ["--tmp", str(args.work), "--moviepy-python", args.peer_python]
    if mode == "chunk-moviepy":
        command += ["--queries", str(QUERIES[0])]
    document = child(command, environment)
    if mode == "chunk-moviepy":
        times = sum(QUERIES) / QUERIES[0]
        for key in ("cpu", "wall", "bytes"):
            document[key] *= times
        document["note"] = f"from {QUERIES[0]} of {sum(QUERIES)} s"
    if mode == "chunk-copy":
        document["bytes"] = sum(
            (args.work / f"chunk_{query}.mp4").stat().st_size for query in QUERIES
        )
    for query in QUERIES:
        (args.work / f"chunk_{query}.mp4").unlink(missing_ok=True)
    return document


def peers_environment(args: argparse.Namespace) -> dict[str, str]:
    """The environment of the peers; if there is no program ffmpeg, with that of imageio-ffmpeg."""
    environment = dict(os.environ)
    if shutil.which("ffmpeg") is None and args.peer_python is not None:
        says = "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"
        result = subprocess.run([args.peer_python, "-c", says], stdout=subprocess.PIPE, text=True)
        if result.returncode == 0:
            programs = args.work / "bin"
            programs.mkdir(exist_ok=True)
            (programs / "ffmpeg").unlink(missing_ok=True)
            (programs / "ffmpeg").symlink_to(result.stdout.strip())
            environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    return environment


def measured(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Measure the seconds, memory, and written bytes of a function. The packages that it imports on
    first use are imported before."""
    for name in ("av", "numpy", "PIL.Image"):
        import_module(name)
    before, wall, wrote = cpu(), time.perf_counter(), written()
    results = work()
    return results | {
        "cpu": cpu() - before,
        "wall": time.perf_counter() - wall,
        "bytes": written() - wrote,
        "rss_mib": _commands.memory("VmHWM") / 2**20,
    }


def arrays(path: str) -> dict[str, Any]:
    from snellen.media import video

    open_video = opened(path)

    def work() -> dict[str, Any]:
        crc = 0
        film = open_video()
        policy = video.policy(f"uniform:{FRAMES}")
        wanted: Counter[int] = Counter()
        for query in QUERIES:
            wanted.update(video.picked(policy, film.facts.times, 0.0, float(query)))
        for position, frame in film.at(sorted(wanted)):
            pixels = film.pixels(frame, policy)
            crc += wanted[position] * zlib.crc32(pixels[::16, ::16].tobytes())
        film.close()
        return {"crc": crc & 0xFFFFFFFF}

    return measured(work)


def jpeg(options: str, path: str) -> dict[str, Any]:

    from snellen.media import video

    policy = f"uniform:{FRAMES}{options}"
    windows = [video.Window(start=0.0, end=float(query), policy=policy) for query in QUERIES]

    def work() -> dict[str, Any]:
        sent = 0
        for _, frames in video.decoded(video.load(video.Video(Path(path))), windows):
            sent += sum(len(cast(bytes, frame.image.source)) for frame in frames)
        return {"note": f"{sent / 1e6:.0f} MB of JPEG"}

    return measured(work)


def digest(path: str) -> dict[str, Any]:
    from snellen.media import video

    return measured(lambda: {"note": str(video.load(video.Video(Path(path))).digest)[:14]})


def packets(path: str) -> dict[str, Any]:

    from snellen.media import video

    return measured(
        lambda: {"note": f"{len(video.facts(video.Video(Path(path))).times):,} packets"}
    )


# -- memory


def in_flight(args: argparse.Namespace) -> None:
    cases: dict[str, Callable[[], Figures]] = {}
    whats = []
    with _commands.mock(args.peers) as server:
        for name in args.videos or LARGE:
            path = make_video(args.work, name)
            for n, videos in ((8, 1), (45, 1), (16, 16)):
                whats.append(f"{name}: {n} questions, {videos} videos")
                cases |= {
                    f"{checkout.name}, {whats[-1]}": partial(
                        run_questions, args, server, path, n, videos, checkout
                    )
                    for checkout in checkouts(args.base)
                }
        runs = in_rounds(args.reps, cases, ("memory", "cpu"))
    title = ("peak MB", "in flight", "MB per request", "CPU s")
    print(f"\n{'64 frames of full size':48} " + " ".join(f"{word:>14}" for word in title))
    for what, figures in runs.items():
        middles = [middle(figures, key) for key in ("memory", "max_concurrency", "body_max", "cpu")]
        middles[2] /= 1e6
        print(f"{what:48} " + " ".join(f"{_commands.shown(number):>14}" for number in middles))
    print_ratios(runs, whats, {"CPU": "cpu", "memory": "memory"})
    print(f"allowed {MOST_MB} MB; {loads(runs)}")


def run_questions(
    args: argparse.Namespace,
    server: _commands.Mock,
    path: Path,
    n: int,
    videos: int,
    checkout: Checkout,
) -> Figures:
    """Measure a run of n questions. Replies take long, so that as many questions as possible are
    in flight."""
    folder = args.work / "rows"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number in range(videos):
        os.link(path, folder / f"v{number}.mp4")
    with (folder / "rows.jsonl").open("w") as file:
        for number in range(n):
            row = {"id": number, "video": f"v{number % videos}.mp4", "end": 12 + 18 * number / n}
            row |= {"question": f"[item {number:06d}] What is seen?", "answer": "ABCD"[number % 4]}
            file.write(json.dumps(row | dict(zip("ABCD", "wxyz", strict=True))) + "\n")
    command = checkout.command("run", "-b", str(folder / "rows.jsonl"))
    command += ["--task", "mcq", "-m", "openai/mock", "--out", str(folder / "runs")]
    command += ["--base-url", server.url]
    command += ["--concurrency", str(IN_FLIGHT), "--max-tokens", "16", "--temperature", "0"]
    environment = checkout.environment(args.work)
    actual = server.measured(command, args.work / "log.txt", LATENCY, environment=environment)
    assert actual["requests"] == n, actual
    return actual | server.stats()


# -- plan


def plan(args: argparse.Namespace) -> None:
    """Count the frames that each method decodes, and measure the cost of a frame."""
    points: dict[str, list[int]] = {}
    for row in json.loads(args.annotations.read_bytes()):
        for point in row.get("test_info", [row]):
            points.setdefault(row["video"], []).append(ceil(point["realtime"]))
    ends = [end for value in points.values() for end in value]
    once = [max(value) for value in points.values()]
    print(
        f"\nOVO-Bench: {len(ends):,} points on {len(points)} videos; from 0 to each "
        f"{sum(ends):,} s ({sum(ends) / 3600:.1f} h), each video to its last {sum(once):,} s "
        f"({sum(once) / 3600:.1f} h)"
    )
    parts = [wanted_of([end]) for end in ends]
    union = [wanted_of(value) for value in points.values()]
    shown, different = sum(map(len, parts)), sum(map(len, union))
    full, seeking, ours_most = sum(ends) * FPS, sum(map(reached, parts)), sum(map(reached, union))
    print(
        f"frames, at {FPS} a second and a key frame every {GOP}: from 0 to each {full / 1e6:.2f}"
        f" M, by seeking {seeking / 1e6:.2f} M, none of a video twice {ours_most / 1e6:.2f} M; "
        f"shown {shown:,}, different {different:,}"
    )
    seconds, sizes = frame_costs(args)
    print(
        f"{'CPU hours':20} {'authors':>9} {'from 0':>9} {'seeking':>9} {'ours':>9} "
        f"{'GB of clips':>11}"
    )
    for name, costs in seconds.items():
        decode, decode_some, encode, cut_anew = (cost / 3600 for cost in costs)
        read = seeking * decode + shown * encode
        hours = (full * cut_anew + read, full * decode + shown * encode, read)
        gigabytes = sizes[name] / CUT * sum(ends) / 1e9
        print(
            f"{name:20} {hours[0]:9.1f} {hours[1]:9.1f} {hours[2]:9.1f} "
            f"{ours_most * decode_some + different * encode:9.1f} {gigabytes:11.0f}"
        )


def frame_costs(args: argparse.Namespace) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Measure the CPU seconds per frame of each of `COSTS`, and the bytes of CUT seconds encoded
    again, by checkout and size of the video."""
    sides = [checkout.name for checkout in checkouts(args.base)]
    cases = {
        f"{checkout.name}, {size} {what}": partial(
            ours, what, make_video(args.work, size), checkout, args.work
        )
        for size in SIZES
        for what in OWN_COSTS
        for checkout in checkouts(args.base)
    }
    runs = in_rounds(args.reps, cases, ("cpu",))
    for size, what in product(SIZES, ("every", "cut")):
        figures = [ours(what, make_video(args.work, size), checkouts(None)[0], args.work)]
        runs |= {f"{side}, {size} {what}": figures for side in sides}
    print(f"\n{'CPU ms per frame':20} " + " ".join(f"{what:>9}" for what in COSTS))
    seconds, clips = {}, {}
    for name in (f"{side}, {size}" for side, size in product(sides, SIZES)):
        cost_runs = [runs[f"{name} {what}"] for what in COSTS]
        seconds[name] = [middle(cost, "cpu") / cost[0]["n"] for cost in cost_runs]
        clips[name] = runs[f"{name} cut"][0]["size"]
        print(f"{name:20} " + " ".join(f"{second * 1e3:9.2f}" for second in seconds[name]))
    print_ratios(runs, [f"{size} {what}" for size in SIZES for what in OWN_COSTS], {"CPU": "cpu"})
    print(loads(runs))
    return seconds, clips


def wanted_of(ends: Sequence[int]) -> list[int]:
    """The numbers of the frames shown at these times, 64 evenly spaced frames for each; sorted,
    without repeats."""
    names: set[int] = set()
    for end in ends:
        step = (end * FPS - 1) / (FRAMES - 1)
        names.update(int(position * step) for position in range(FRAMES))
    return sorted(names)


def reached(wanted: Sequence[int]) -> int:
    """The number of frames that must be decoded for these, starting at the key frame before each,
    with no frame decoded twice."""
    last = {position // GOP: position % GOP + 1 for position in wanted}
    return sum(last.values())


def every(path: str) -> dict[str, Any]:
    """Decode all frames of the first CUT seconds."""
    return measured(lambda: {"n": sum(1 for _ in first(path))})


def show(path: str) -> dict[str, Any]:
    """Encode every tenth of these frames as JPEG, without counting the decoding."""

    from snellen.media import video

    film, frames = opened(path)(), list(first(path))[::10]
    as_is = video.policy("every")

    def work() -> dict[str, Any]:
        for position, frame in enumerate(frames):
            film.encoded(position, frame, as_is)
        return {"n": len(frames)}

    return measured(work)


def some(path: str) -> dict[str, Any]:
    """Decode as Snellen does if one frame every two seconds is needed."""
    film = opened(path)()
    places = range(0, CUT * FPS, 2 * FPS - 1)

    def work() -> dict[str, Any]:
        return {"n": reached([position for position, _ in film.at(places)])}

    return measured(work)


def cut(path: str) -> dict[str, Any]:
    """Decode, and encode again with moviepy's settings: libx264, medium, its default bitrate."""
    import av

    target = f"{path}.cut.mp4"

    def work() -> dict[str, Any]:
        with av.open(target, "w") as file:
            stream = file.add_stream("libx264", rate=FPS, options={"preset": "medium"})
            stream.pix_fmt, stream.thread_type = "yuv420p", "FRAME"
            with av.open(path) as source:
                picture = source.streams.video[0]
                stream.width, stream.height = picture.width, picture.height
            for frame in first(path):
                frame.pict_type = 0
                file.mux(stream.encode(frame))
            file.mux(stream.encode(None))
        return {"n": CUT * FPS, "size": os.path.getsize(target)}

    actual = measured(work)
    os.unlink(target)
    return actual


def first(path: str) -> Iterator[Any]:
    import av

    with av.open(path) as file:
        file.streams.video[0].thread_type = "NONE"
        yield from islice(file.decode(video=0), CUT * FPS)


MEASURES: dict[str, Any] = {
    **{f"make-{name}": partial(make, name) for name in VIDEOS},
    "arrays": arrays,
    "jpeg": partial(jpeg, ""),
    "jpeg-small": partial(jpeg, SMALL),
    "digest": digest,
    "packets": packets,
    "every": every,
    "some": some,
    "show": show,
    "cut": cut,
}


if __name__ == "__main__":
    main()
