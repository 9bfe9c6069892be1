"""Measures what steps with tools cost: the CPU time of a step, and the time and memory of zooms
into large pictures and of frames of a long video.

usage: python perf/steps.py [--n 200] [--side 800] [--scaled 640] [--work DIR]

The first table compares runs that send 6 N requests: 6 N questions without tools, and N questions
with six steps (five calls). Each question has its own JPEG of SIDE x SIDE pixels. The table has the
CPU time of `snellen run`, less that of a run of one question, per request. The tool `note` returns
no picture, and so shows the cost of a step alone. In the second half, the pictures are scaled to a
longer side of SCALED pixels before they are sent, so that a request without tools decodes and
encodes a picture, too.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import av
import numpy as np
from PIL import Image

from snellen.core.model import Reply
from snellen.errors import MediaError
from snellen.media import images
from snellen.media.content import Image as Picture
from snellen.media.content import ToolCall, Video
from snellen.media.limits import VARIABLE
from snellen.registry import toolbox
from snellen.tools import Shown
from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.videos import sized

STEPS = 6
TOOLS = toolbox(["zoom,grid,frame,window"])
NOTE = '''
def note(shown, *, text: str = "") -> str:
    """Write a note."""
    return text
'''
CALLS = {
    "zoom": '<tool_call>{"name": "zoom", "arguments": {"box": [400, 400, 700, 700]}}</tool_call>',
    "note": '<tool_call>{"name": "note", "arguments": {"text": "hm"}}</tool_call>',
}


def photo(path: Path, width: int, height: int) -> Path:
    """A smooth picture with some noise, whose JPEG is about as large as that of a photo."""
    x, y = np.linspace(0, 255, width, dtype=np.float32), np.linspace(0, 255, height)
    noise = np.random.default_rng(1)
    rows = (
        np.clip((x + line) / 2 + noise.normal(0, 6, width), 0, 255).astype(np.uint8) for line in y
    )
    gray = Image.frombytes("L", (width, height), b"".join(row.tobytes() for row in rows))
    gray.convert("RGB").save(path, quality=90)
    return path


def cpu_of_run(work: Path, n: int, url: str, options: list[str], out: str) -> float:
    """The CPU time of `snellen run` on the first n questions, in seconds."""
    command = [sys.executable, "-m", "snellen", "run", "-b", str(work / "rows.jsonl")]
    command += ["-m", "openai/m", "--base-url", url, "--concurrency", "8", "--limit", str(n)]
    command += ["--out", str(work / out), *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_per_request(work: Path, n: int, name: str, options: list[str]) -> float:
    """The CPU time of a request in milliseconds, without the start of the run."""
    call = CALLS.get(name)

    def decide(request: ReceivedRequest) -> Answer:
        messages = request.json["messages"]
        step = sum(message["role"] == "assistant" for message in messages)
        return completion(call if call and step + 1 < STEPS else "A")

    out = "-".join([name, *options[-1:]]).replace("/", "_")
    with serving(decide) as server:
        start = min(cpu_of_run(work, 1, server.url, options, f"{out}-{i}") for i in "ab")
        before = len(server.requests)
        questions = n if call else n * STEPS
        cpu = cpu_of_run(work, questions, server.url, options, f"{out}-n")
        requests = len(server.requests) - before
    return 1000 * (cpu - start) / (requests - requests // questions)


def requests_table(work: Path, n: int, side: int, scaled: int) -> None:
    data = photo(work / "photo.jpg", side, side).read_bytes()
    rows = []
    for number in range(n * STEPS):
        # A comment makes each picture another file, whose pixels are the same.
        comment = b"\xff\xfe\0\x0a%08d" % number
        (work / f"{number}.jpg").write_bytes(data[:2] + comment + data[2:])
        rows.append(
            {"id": f"q{number}", "question": f"[q{number}] Which?", "image": f"{number}.jpg"}
            | {"answer": "A", "A": "x", "B": "y"}
        )
    (work / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (work / "note.py").write_text(NOTE)
    tools = {
        "no tools": [],
        "note": ["--tool-form", "text", "--tools", f"python:{work / 'note.py'}:note"],
        "zoom": ["--tool-form", "text", "--tools", "zoom"],
    }
    sizes: dict[str, list[str]] = {
        f"{side} x {side} pixels, {len(data):,} bytes": [],
        f"scaled to {scaled} x {scaled} pixels": ["--image-size", str(scaled)],
    }
    for pictures, size in sizes.items():
        plain = 0.0
        for name, options in tools.items():
            cpu = cpu_per_request(work, n, name, [*options, *size])
            plain = plain or cpu
            print(
                f"{name}: {cpu:.2f} ms CPU per request, {cpu / plain:.2f} x ({pictures})",
                flush=True,
            )


def timed(label: str, work: Callable[[], object]) -> None:
    """Run `work` in a process of its own, and print its time, CPU time, and peak memory."""
    started = time.perf_counter()
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    print(
        f"{label}: {seconds:.2f} s, CPU {cpu:.2f} s, peak {peak:,.0f} MiB, exit {status}",
        flush=True,
    )


def call(name: str, arguments: str, shown: Shown) -> str:

    reply = Reply(tool_calls=(ToolCall(id="1", name=name, arguments=arguments),))
    (result,), _ = TOOLS.results(reply, shown)
    return str([part if isinstance(part, str) else part.label for part in result.parts])[:200]


def pictures_table(work: Path) -> None:
    box = '{"box": [400, 400, 500, 500]}'
    for width, height in ((4000, 3000), (13_000, 13_000)):
        path = work / f"{width}.jpg"
        timed("drawing", partial(photo, path, width, height))
        shown = Shown(pictures=(images.load(Picture(path)),))
        timed(
            f"a zoom into {width * height / 1e6:.0f} megapixels",
            partial(call, "zoom", box, shown),
        )
    small = Shown(pictures=(images.load(Picture(work / "4000.jpg")),))

    def thousand() -> None:
        for number in range(1000):
            call("zoom", f'{{"box": [{number % 500}, 0, {number % 500 + 100}, 100]}}', small)

    timed("1,000 zooms into 12 megapixels", thousand)
    huge = work / "huge.jpg"
    timed("drawing 300 megapixels", partial(photo, huge, 20_000, 15_000))

    def refused() -> None:
        try:
            images.load(Picture(huge))
        except MediaError as error:
            print(error)

    timed("a picture of 300 megapixels", refused)
    os.environ[VARIABLE] = "300"
    shown = Shown(pictures=(images.load(Picture(huge)),))
    timed("a zoom into 300 megapixels", partial(call, "zoom", box, shown))

    def several() -> None:
        for number in range(10):
            call("zoom", f'{{"box": [{50 * number}, 0, {50 * number + 50}, 50]}}', shown)

    timed("10 zooms into 300 megapixels", several)
    timed("300 megapixels with a grid", partial(call, "grid", "{}", shown))


def lengthened(path: Path, minute: Path, minutes: int) -> Path:
    """A video that repeats the packets of another one, which is a minute long."""
    with av.open(str(minute)) as source, av.open(str(path), "w") as target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        packets = [packet for packet in source.demux(stream) if packet.pts is not None]
        assert stream.time_base is not None
        length = round(60 / stream.time_base)
        times = [(packet.pts, packet.dts) for packet in packets]
        for number in range(minutes):
            for packet, (pts, dts) in zip(packets, times, strict=True):
                packet.pts, packet.dts = (
                    None if at is None else at + number * length for at in (pts, dts)
                )
                packet.stream = copy
                target.mux(packet)
    return path


def video_table(work: Path, hours: float) -> None:
    minute = sized(work / "minute.mp4", 640, 384, n=1800, fps=30)
    path = lengthened(work / "long.mp4", minute.path, int(hours * 60))
    shown = Shown(videos=(Video(path),))
    at = hours * 3600 * 0.8
    timed(f"a frame of {hours:g} hours", lambda: print(call("frame", f'{{"time": {at}}}', shown)))
    window = f'{{"start": {at}, "end": {at + 16}, "fps": 2}}'
    timed(f"32 frames of {hours:g} hours", lambda: print(call("window", window, shown)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--side", type=int, default=800)
    parser.add_argument("--scaled", type=int, default=640)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--only", choices=("requests", "pictures", "video"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-steps"))
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    if args.only in (None, "requests"):
        requests_table(args.work, args.n, args.side, args.scaled)
    if args.only in (None, "pictures"):
        pictures_table(args.work)
    if args.only in (None, "video"):
        video_table(args.work, args.hours)


if __name__ == "__main__":
    main()
