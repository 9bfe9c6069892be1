"""The speed of a model in this process: one request after another, in batches, and in batches that
are prepared ahead.

usage: python perf/hf.py [--n 96] [--reps 3] [--model PATH] [--device cpu] [--batch 16]

All three methods answer the same questions, each about its own picture (JPEG, 1600 x 1200, texture
and noise), with replies of 2 to 16 tokens, decoded greedily:

loop    plain transformers, as other toolkits use it: open, process, generate, one after another
batch   Snellen, but each batch is prepared only when the last one is answered
ahead   Snellen as it is, with batches prepared while another is answered

The methods take turns, --reps times, and the median of each is printed. The script checks that all
replies are the same (on the CPU, where float32 allows it). `busy` is the share of time in which the
model ran. Without --model, the model is a LLaVA with 40 million random weights, created on the
spot.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import PIL.Image
import torch
import transformers

from snellen.core.model import Generation, Request
from snellen.core.profile import Profile
from snellen.media import images
from snellen.media.content import Image, user
from snellen.models.batching import Batching
from snellen.models.hf import Hf, open_model
from tests.heavy.tiny_models import build

SIZE = (1600, 1200)
TEXT = {
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "num_key_value_heads": 6,
    "initializer_range": 0.03,
}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ap.add_argument("--n", type=int, default=96)
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--model", type=Path)
    ap.add_argument("--device", default="cpu")
    ap.add_argument("--batch", type=int, default=16)
    s = ap.parse_args()
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        path = s.model or build("llava", Path(folder), text=TEXT)
        extra = {"device": s.device, "batch_size": s.batch}
        model = open_model(str(path), profile=Profile(extra=extra), api_key=None)
        plain = transformers.AutoModelForImageTextToText.from_pretrained(path, dtype="auto")
        plain = plain.eval().to(s.device)
        processor = transformers.AutoProcessor.from_pretrained(path)
        request = questions(s.n)
        replies = asking(model)
        ways: dict[str, Callable[[], tuple[list[str], float | None]]] = {
            "loop": lambda: (loop(plain, processor, request), None),
            "batch": lambda: replies(request, 0),
            "ahead": lambda: replies(request, model.batches["ahead"]),
        }
        for way in ways.values():  # the first calls are slow
            way()
        message: dict[str, list[tuple[float, float | None]]] = {name: [] for name in ways}
        text = {}
        for _ in range(s.reps):
            for name, way in ways.items():
                start = time.perf_counter()
                text[name], busy = way()
                seconds = time.perf_counter() - start
                message[name].append((seconds, None if busy is None else busy / seconds))
    same = len({tuple(texts) for texts in text.values()}) == 1
    assert same or s.device != "cpu", "the three ways say different things"
    print(f"{s.n} questions, {model.revision}, {s.device}, batches of {s.batch}")
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} for the model, load before: "
          f"{os.getloadavg()[0]:.1f}; same replies: {same}")  # fmt: skip
    first = median(seconds for seconds, _ in message["loop"])
    for name, runs in message.items():
        seconds = median(seconds for seconds, _ in runs)
        shares = [busy for _, busy in runs if busy is not None]
        share = f"{median(shares):6.0%} busy" if shares else ""
        print(f"{name:6} {seconds:7.2f} s {s.n / seconds:7.1f} a second "
              f"{first / seconds:6.2f} x the loop {share}")  # fmt: skip


def questions(n: int) -> list[Request]:
    created = []
    for k in range(n):
        random = np.random.default_rng(k)
        coarse = PIL.Image.fromarray(random.integers(0, 256, (30, 40, 3), dtype=np.uint8))
        pixels = np.asarray(coarse.resize(SIZE)) // 2 + random.integers(
            0, 128, (SIZE[1], SIZE[0], 3)
        )
        file = BytesIO()
        PIL.Image.fromarray(pixels.astype(np.uint8)).save(file, "JPEG", quality=90)
        text = f"what is in the picture ? {k} " + "one two " * (k % 12)
        generation = Generation(max_tokens=2 + 2 * (k % 8), temperature=0)
        message = user(images.load(Image(file.getvalue())), text)
        created.append(Request(messages=(message,), generation=generation))
    return created


def loop(model: Any, processor: Any, requests: Sequence[Request]) -> list[str]:
    lines = []
    for request in requests:
        shown, text = request.messages[0].content
        assert isinstance(shown, Image) and isinstance(shown.source, bytes)
        picture = PIL.Image.open(BytesIO(shown.source)).convert("RGB")
        content = [{"type": "image", "image": picture}, {"type": "text", "text": text}]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": content}],
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
        ).to(model.device, model.dtype)
        with torch.inference_mode():
            reply = model.generate(
                **inputs, max_new_tokens=request.generation.max_tokens, do_sample=False
            )
        new = reply[0, inputs["input_ids"].shape[1] :]
        lines.append(str(processor.decode(new, skip_special_tokens=True)))
    return lines


def asking(created: Hf) -> Callable[[Sequence[Request], int], tuple[list[str], float]]:
    """Ask Snellen's model as many questions at once as its concurrency allows; return the texts,
    and the seconds for which the model ran."""
    busy = [0.0]
    (replica,) = created.replicas
    answer = replica.answer

    def timed(prepared: Any) -> Any:
        start = time.perf_counter()
        try:
            return answer(prepared)
        finally:
            busy[0] += time.perf_counter() - start

    replica.answer = timed  # type: ignore[method-assign]

    async def ask(requests: Sequence[Request], ahead: int) -> list[str]:
        model = Batching(replica, **{**created.batches, "ahead": ahead})
        at_once = asyncio.Semaphore(created.concurrency)

        async def text_of(request: Request) -> str:
            async with at_once:
                return (await model.generate(request)).text

        try:
            return list(await asyncio.gather(*map(text_of, requests)))
        finally:
            await model.close()

    def replies(requests: Sequence[Request], ahead: int) -> tuple[list[str], float]:
        busy[0] = 0.0
        return asyncio.run(ask(requests, ahead)), busy[0]

    return replies


if __name__ == "__main__":
    main()
