"""Measures what steps with tools cost: the CPU time of a step, and the time and memory of zooms
into large pictures and of frames of a long video.

usage: python perf/steps.py [--n 300] [--side 800] [--work DIR]

The first table compares runs about a JPEG of SIDE x SIDE pixels that send 6 N requests: 6 N
questions without tools, and N questions with six steps (five calls). It has the CPU time of
`snellen run`, less that of a run of one question, per request. The tool `note` returns no picture,
and so shows the cost of a step alone.
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
from snellen.registry import toolbox
from snellen.tools import Shown
from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.videos import sized

STEPS = 6
TOOLS = toolbox(["zoom,frame,window"])
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
    noise = np.random.default_rng(1).normal(0, 6, (height, width, 1))
    x, y = np.linspace(0, 255, width)[None, :, None], np.linspace(0, 255, height)[:, None, None]
    pixels = np.clip((x + y) / 2 + noise, 0, 255).astype(np.uint8)
    Image.fromarray(np.repeat(pixels, 3, axis=2)).save(path, quality=90)
    return path


def cpu_of_run(work: Path, n: int, url: str, tools: str | None, out: str) -> float:
    """The CPU time of `snellen run` on the first n questions, in seconds."""
    command = [sys.executable, "-m", "snellen", "run", "-b", str(work / "rows.jsonl")]
    command += ["-m", "openai/m", "--base-url", url, "--concurrency", "8", "--limit", str(n)]
    command += ["--out", str(work / out)]
    if tools is not None:
        command += ["--tools", tools, "--tool-form", "text"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def requests_table(work: Path, n: int, side: int) -> None:
    photo(work / "photo.jpg", side, side)
    size = (work / "photo.jpg").stat().st_size
    rows = (
        {"id": f"q{i}", "question": f"[q{i}] Which?", "image": "photo.jpg", "answer": "A"}
        | {"A": "x", "B": "y"}
        for i in range(n * STEPS)
    )
    (work / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (work / "note.py").write_text(NOTE)
    tools = {None: None, "note": f"python:{work / 'note.py'}:note", "zoom": "zoom"}

    for name, spec in tools.items():

        def decide(request: ReceivedRequest, call: str = CALLS.get(name or "", "")) -> Answer:
            messages = request.json["messages"]
            step = sum(message["role"] == "assistant" for message in messages)
            return completion(call if call and step + 1 < STEPS else "A")

        with serving(decide) as server:
            start = min(cpu_of_run(work, 1, server.url, spec, f"{name}-{i}") for i in "ab")
            before = len(server.requests)
            questions = n if spec else n * STEPS
            cpu = cpu_of_run(work, questions, server.url, spec, f"{name}-n")
            requests = len(server.requests) - before
        per_request = 1000 * (cpu - start) / (requests - requests // questions)
        print(
            f"{name or 'no tools'}: {requests} requests, {per_request:.2f} ms CPU each "
            f"({side} x {side} pixels, {size:,} bytes)",
            flush=True,
        )


def timed(label: str, work: Callable[[], object]) -> None:
    """Run `work` in a process of its own, and print its time and its peak memory."""
    started = time.perf_counter()
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    peak = usage.ru_maxrss / 1024
    print(f"{label}: {seconds:.2f} s, peak {peak:,.0f} MiB, exit {status}", flush=True)


def call(name: str, arguments: str, shown: Shown) -> str:

    reply = Reply(tool_calls=(ToolCall(id="1", name=name, arguments=arguments),))
    (result,), _ = TOOLS.results(reply, shown)
    return str([part if isinstance(part, str) else part.label for part in result.parts])[:200]


def pictures_table(work: Path) -> None:
    box = '{"box": [400, 400, 500, 500]}'
    for width, height in ((4000, 3000), (13_000, 13_000)):
        path = photo(work / f"{width}.jpg", width, height)
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
    Image.MAX_IMAGE_PIXELS = None
    huge = work / "huge.png"
    Image.new("L", (20_000, 15_000), 128).save(huge)

    def refused() -> None:
        try:
            images.load(Picture(huge))
        except MediaError as error:
            print(error)

    timed("a picture of 300 megapixels", refused)


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
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--side", type=int, default=800)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--only", choices=("requests", "pictures", "video"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-steps"))
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    if args.only in (None, "requests"):
        requests_table(args.work, args.n, args.side)
    if args.only in (None, "pictures"):
        pictures_table(args.work)
    if args.only in (None, "video"):
        video_table(args.work, args.hours)


if __name__ == "__main__":
    main()
