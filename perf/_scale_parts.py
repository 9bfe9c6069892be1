"""One measurement of `scale.py`, in a process of its own.

usage: python perf/_scale_parts.py NAME ARGUMENTS

ARGUMENTS is a JSON object. Prints the result as one line of JSON.
"""

import asyncio
import itertools
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import PIL.Image
import pybase64
from _commands import memory
from _replies import LETTERS, choice_replies
from _replies import question as question_with_choices

from snellen import registry
from snellen.cli.progress_lines import ProgressLines
from snellen.core.model import Generates, Reply, Request, Usage, loaded, request_digest
from snellen.core.profile import Profile
from snellen.media import images, video
from snellen.media.content import Image, Video
from snellen.models.openai import OpenAI
from snellen.run.lifecycle import run_async
from snellen.run.plan import Plan
from snellen.run.recorder import question_record
from snellen.run.run_plan import run_plan
from snellen.run.score_run import scored
from snellen.store import FORMAT, Folder, Question, ReplyRecord, Run, reply_record
from snellen.transport import Transport

PICTURES = 100
"""The number of different pictures. They are used in turn, so that they stay in the page cache."""
REPLIES = 1000
"""The number of different replies. They are used in turn, each with other choices every time, so
that parsing does the full work."""
MODEL = "scale/stand-in"


# -- the questions and the models


def noise(bytes_: int, seed: int, kind: str = "JPEG") -> bytes:
    """Draw a picture of noise with about this many bytes."""
    draw = np.random.default_rng(seed)

    def encoded(side: int) -> bytes:
        out = BytesIO()
        grain = draw.integers(0, 256, (side, side, 3), dtype=np.uint8)
        PIL.Image.fromarray(grain).save(out, kind)
        return out.getvalue()

    tried = encoded(256)
    return encoded(round(256 * (bytes_ / len(tried)) ** 0.5))


def rows(work: Path, n: int, bytes_: int) -> Path:
    """Write questions with four choices, each with a picture of about this many bytes."""
    folder = work / f"data-{bytes_}"
    path = folder / f"rows{n}.jsonl"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(PICTURES):
        if not (picture := folder / f"{number}.jpg").exists():
            picture.write_bytes(noise(bytes_, number))
    with path.open("w") as file:
        for number in range(n):
            row = {
                "id": number,
                "image": f"{number % PICTURES}.jpg",
                "question": f"[item {number:06d}] Which of these is in the picture?",
                **dict(zip(LETTERS, question_with_choices("choices", number).choices, strict=True)),
                "answer": LETTERS[number % 4],
                "category": f"cat{number % 5}",
            }
            file.write(json.dumps(row) + "\n")
    return path


class Timed:
    """A model that records when its calls began and ended, and this process's CPU time then."""

    name = MODEL

    def __init__(self) -> None:
        self.began: tuple[float, float] | None = None
        self.ended = (0.0, 0.0)

    async def generate(self, request: Request) -> Reply:
        if self.began is None:
            self.began = time.perf_counter(), time.process_time()
        reply = await self.answer(request)
        self.ended = time.perf_counter(), time.process_time()
        return reply

    async def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    async def close(self) -> None: ...


class Here(Timed):
    """A model in this process that answers at once."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._replies = itertools.cycle([replied(text) for text in choice_replies(form, REPLIES)])

    async def answer(self, _: Request) -> Reply:
        await asyncio.sleep(0)
        return next(self._replies)


class There(Timed):
    """A model on several servers: sends each request to the server with the fewest in flight."""

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self._servers: list[Generates] = []
        for url in urls:
            model = registry.model("openai/stand-in", Profile(base_url=url)).model
            assert isinstance(model, Generates)
            self._servers.append(model)
        self._with = [0] * len(urls)

    async def answer(self, request: Request) -> Reply:
        position = self._with.index(min(self._with))
        self._with[position] += 1
        try:
            return await self._servers[position].generate(request)
        finally:
            self._with[position] -= 1

    async def close(self) -> None:
        for server in self._servers:
            assert isinstance(server, OpenAI)
            await server.close()


def replied(text: str) -> Reply:
    usage = Usage(input=300, output=max(1, len(text) // 4))
    return Reply(text=text, stop="stop", usage=usage)


def ask(
    *, work: str, n: int, slots: int, bytes: int, urls: list[str], reply: str = "letter"
) -> dict[str, Any]:
    """Do a whole run; measure the time and the CPU from the first call to the end of the last.
    Without `urls`, a model in this process replies in the form `reply`."""
    out = Path(work) / f"runs-{os.getpid()}"
    model = There(urls) if urls else Here(reply)
    opened = registry.Opened(model=model, name=MODEL, server=MODEL, timed=bool(urls))
    plan = Plan(
        benchmarks=[registry.benchmark(str(rows(Path(work), n, bytes)))],
        models=[opened],
        out=out,
        concurrency=slots,
        score=False,
    )
    try:
        (finished,) = run_plan(plan, ProgressLines())
        if finished.progress.done != n:
            raise SystemExit(
                f"Only {finished.progress.done} of {n} questions were answered: {finished.stopped}"
            )
    finally:
        run_async(model.close())
        shutil.rmtree(out, ignore_errors=True)
    assert model.began is not None
    return {
        "n": n,
        "span": model.ended[0] - model.began[0],
        "cpu": model.ended[1] - model.began[1],
        "memory": memory("VmHWM"),
    }


# -- the driver's stages


def per_call(call: Callable[[int], object], n: int, repeats: int = 3) -> float:
    """The CPU seconds per call in n calls: the lowest of `repeats` measurements."""

    def once() -> float:
        began = time.process_time()
        for number in range(n):
            call(number)
        return (time.process_time() - began) / n

    return min(once() for _ in range(repeats))


def stages(*, work: str, bytes: int, reply: str, n: int = 1000) -> dict[str, float]:
    """The CPU seconds per sample of each step of a question, each measured on its own."""
    benchmark = registry.benchmark(str(rows(Path(work), n, bytes)))
    read = list(benchmark.data)
    samples = [benchmark.read(row) for row in read]
    requests = [benchmark.request(sample, ()) for sample in samples]
    ready = [loaded(request) for request in requests[:PICTURES] if request is not None]
    model = registry.model("openai/stand-in", Profile(base_url="http://127.0.0.1:1")).model
    assert isinstance(model, OpenAI)
    run = Run(Path(work) / f"stages-{os.getpid()}")
    Folder.create(run.path)
    replies = [replied(text) for text in choice_replies(reply, n)]
    keys = [(sample.id, 0, 0) for sample in samples]
    at = "2026-01-01T00:00:00.000Z"

    def journal(number: int) -> None:
        position = number % PICTURES
        run.append_question(
            question_record(read[number], samples[number], keys[number], ready[position], None)
        )
        run.append_reply(reply_record(keys[number], "0" * 32, at, reply=replies[number]))

    scoring = benchmark.scorings[benchmark.headline]
    first = requests[0]
    assert first is not None
    try:
        return {
            "rows": per_call(lambda _: [None for _ in benchmark.data], 1) / n,
            "samples": per_call(lambda number: benchmark.read(read[number]), n),
            "prompts": per_call(lambda number: benchmark.request(samples[number], ()), n),
            "pictures": per_call(lambda number: loaded(requests[number] or first), n),
            "request digests": per_call(lambda number: request_digest(ready[number % PICTURES]), n),
            "bodies": per_call(lambda number: model._body(ready[number % PICTURES]), n),
            "journal": per_call(journal, n),
            # A second measurement might find the choices in a cache.
            "running score": per_call(
                lambda number: scoring.score(
                    scoring.parse(replies[number], samples[number]), samples[number]
                ),
                n,
                repeats=1,
            ),
        }
    finally:
        run.close()
        shutil.rmtree(run.path)


# -- the journal


def journal(
    *, work: str, n: int, reply: str, keep: str = "", model: str = MODEL, shift: int = 0
) -> dict[str, Any]:
    """Append n questions and their replies as a run does, with one flush per second. The run is
    kept in the folder `keep`, if there is such a name. With a `shift` that four does not divide,
    all replies are wrong."""
    path = Path(work) / (keep or f"journal-{os.getpid()}")
    shutil.rmtree(path, ignore_errors=True)
    Folder.create(path)
    run = Run(path)
    data = rows(Path(work), 1000, 1000)
    benchmark = registry.benchmark(str(data))
    run.put_manifest(
        {
            "benchmark": benchmark.name,
            "model": model,
            "data": str(data),
            "identity": {
                "benchmark": benchmark.name,
                "asks": benchmark.asks,
                "model": model,
                "options": dict(benchmark.provenance.options),
            },
            "rows": n,
            "repeats": 1,
            "missing": None,
            "notes": [],
            "sessions": [],
        }
    )
    texts = choice_replies(reply, REPLIES)
    choices = [question_with_choices("choices", number).choices for number in range(REPLIES)]
    began, cpu = time.perf_counter(), time.process_time()
    flushed = began
    for number in range(n):
        key = (f"sample-{number:08d}", 0, 0)
        run.append_question(question(key, number, choices[number % REPLIES]))
        run.append_reply(record(key, texts[(number + shift) % REPLIES]))
        if time.perf_counter() - flushed > 1:
            run.folder.flush()
            flushed = time.perf_counter()
    run.folder.flush()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    run.close()
    size = sum((path / f"{name}.jsonl").stat().st_size for name in ("questions", "replies"))
    if not keep:
        shutil.rmtree(path)
    characters = sum(map(len, texts)) / len(texts)
    return {"n": n, "seconds": took, "cpu": cpu, "bytes": size, "characters": round(characters)}


def question(key: tuple[str, int, int], position: int, choices: tuple[str, ...]) -> Question:
    text = f"[item {position:06d}] Which of these is in the picture?"
    choices = tuple(f"{choice} ({position})" for choice in choices)
    lines = "".join(
        f"\n{letter}. {choice}" for letter, choice in zip(LETTERS, choices, strict=True)
    )
    return Question(
        format=FORMAT,
        key=key,
        place=position,
        row="0" * 32,
        question=text,
        messages=[("user", [f"{text}{lines}\nThe letter alone."])],
        choices=list(choices),
        target=LETTERS[position % 4],
        tags={"category": f"cat{position % 5}"},
    )


def record(key: tuple[str, int, int], text: str) -> ReplyRecord:
    return reply_record(key, "0" * 32, "2026-01-01T00:00:00.000Z", reply=replied(text))


def load(*, path: str) -> dict[str, float]:
    """Do what a resumed run does first: find out which keys have a reply."""
    run, before = Run(Path(path)), memory()
    began = time.process_time()
    run.load()
    took = time.process_time() - began
    return {"seconds": took, "memory": memory() - before, "most": memory("VmHWM") - before}


def score(*, path: str) -> dict[str, float]:
    """Compute the scores, intervals, baselines, and report of a run."""
    run = Run(Path(path))
    manifest = run.manifest()
    benchmark = registry.benchmark(manifest["data"])
    run.load()
    began, before = time.process_time(), memory()
    result = scored(run, benchmark)
    took = time.process_time() - began
    assert result.report.n == manifest["rows"], result.report.n
    return {"seconds": took, "memory": memory("VmHWM"), "more": memory("VmHWM") - before}


def groups(*, work: str, n: int) -> dict[str, float]:
    """The memory that the runner needs for each question not yet asked, if questions that share a
    picture are asked together."""
    benchmark = registry.benchmark(str(rows(Path(work), n, 1000)))
    before, kept = memory(), []
    for row in benchmark.data:
        kept.append([(row, benchmark.read(row))])
    return {"n": n, "memory": (memory() - before) / len(kept)}


# -- pictures, video, network


def decode(*, work: str) -> dict[str, Any]:
    """The CPU seconds of each operation on a picture, and of 64 frames of a video."""
    actual: dict[str, Any] = {}
    for kind, size in (("JPEG", 100_000), ("JPEG", 1_000_000), ("PNG", 1_000_000)):
        data = noise(size, 0, kind)
        repeats = 200_000_000 // size // (10 if kind == "PNG" else 4)
        name = f"{kind} of {size // 1000:,} kB"
        checked = per_call(lambda _, data=data: images.load(Image(data)), repeats)
        pixels = per_call(lambda _, data=data: images.pixels(Image(data)), max(3, repeats // 50))
        actual[name] = {
            "bytes": len(data),
            "digest": per_call(lambda _, data=data: sha256(data).digest(), repeats),
            "checked": checked,
            "base64": per_call(lambda _, data=data: pybase64.b64encode(data), repeats),
            "pixels": pixels,
        }
    clip = Path(work) / "clip.mp4"
    if not clip.exists():
        make_clip(clip)
    frames = 64

    def shown(_: int) -> None:
        assert len(video.shown(Video(clip, policy=f"uniform:{frames}")).frames) == frames

    actual["video"] = {"frames": frames, "question": per_call(shown, 2)}
    return actual


def make_clip(path: Path) -> None:
    """Write a one-minute video: 640x360, 25 frames per second, H.264, a key frame every 10 s."""
    import av

    draw = np.random.default_rng(0)
    grain = draw.integers(0, 40, (360, 640, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        stream.options = {"preset": "veryfast", "g": "250"}
        for number in range(60 * 25):
            pixels = np.roll(grain, number, axis=1) + np.uint8(number % 200)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())


def post(*, url: str, bytes: int, n: int, slots: int) -> dict[str, float]:
    """Send n bodies of this many bytes with the HTTP client alone, `slots` at a time."""
    body = b"x" * bytes

    async def main() -> tuple[float, float]:
        transport = Transport(url)
        left = iter(range(n))

        async def worker() -> None:
            for _ in left:
                response = await transport.post("chat/completions", body)
                assert response.status == 200

        await transport.post("chat/completions", body)
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker() for _ in range(slots)))
        took = time.perf_counter() - began, time.process_time() - cpu
        await transport.close()
        return took

    seconds, cpu = asyncio.run(main())
    return {"n": n, "seconds": seconds, "cpu": cpu}


def busy(*, seconds: float) -> dict[str, float]:
    """Run one busy process per core; measure the CPU seconds per second that they get in total."""
    processes = cores()
    began = time.perf_counter()
    children = []
    for _ in range(processes):
        pid = os.fork()
        if not pid:
            while time.perf_counter() - began < seconds:
                pass
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cores": (used.ru_utime + used.ru_stime) / (time.perf_counter() - began)}


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


PARTS: Mapping[str, Callable[..., Mapping[str, Any]]] = {
    "ask": ask,
    "stages": stages,
    "journal": journal,
    "load": load,
    "score": score,
    "groups": groups,
    "decode": decode,
    "post": post,
    "busy": busy,
}

if __name__ == "__main__":
    print(msgspec.json.encode(PARTS[sys.argv[1]](**json.loads(sys.argv[2]))).decode())
