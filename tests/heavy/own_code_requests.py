"""Requests to stand-ins for models in their makers' own form, and what becomes of them."""

from __future__ import annotations

import asyncio
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen import registry
from snellen.core.model import Generation, Request
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media import images
from snellen.media.content import Frame, Image, Message, Video

KINDS = ("internvl", "minicpm", "glm", "kimi", "molmo")
FORMS = ("internvl", "minicpm", "glm")
"""Those whose cards have a form of their own."""
START = "        messages, pictures = deepcopy(msgs), []\n"
"""The first line of what MiniCPM's `chat` does."""


def changed(folder: Path, to: Path, file: str, *swaps: tuple[str, str]) -> Path:
    """A copy of a model, with other words in its code."""
    shutil.copytree(folder, to)
    text = (to / file).read_text()
    for before, after in swaps:
        assert before in text
        text = text.replace(before, after)
    (to / file).write_text(text)
    return to


# -- what is asked


def picture(seed: int, width: int, height: int) -> Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    file = BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return images.load(Image(file.getvalue()))


def opened(image: Image) -> PIL.Image.Image:
    assert isinstance(image.source, bytes)
    return PIL.Image.open(BytesIO(image.source)).convert("RGB")


def clip(seed: int, n: int) -> Video:
    frames = tuple(Frame(time=k / 2, image=picture(100 * seed + k, 80, 40)) for k in range(n))
    return Video(Path("clip.mp4"), digest="sha256:0", policy="every", frames=frames)


def ask(
    *messages: Message, most: int = 10, temperature: float | None = 0.0, **more: Any
) -> Request:
    generation = Generation(max_tokens=most, temperature=temperature, top_p=more.pop("top_p", None))
    return Request(messages=messages, generation=generation, **more)


def replies(folder: Path, *requests: Request, trusted: bool = True, **extra: Any) -> list[Any]:
    """Sent all at once; an error in place of a reply that there is not."""
    profile = Profile(trust_remote_code=trusted, extra=extra)
    model: Any = registry.model(f"hf/{folder}", profile).model

    async def body() -> list[Any]:
        try:
            return await asyncio.gather(*map(model.generate, requests), return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(body())


def refusal(folder: Path, request: Request, **extra: Any) -> str:
    (error,) = replies(folder, request, **extra)
    assert isinstance(error, Rejected), error
    return str(error)


def refused(folder: Path, *, trusted: bool = True, **extra: Any) -> str:
    with pytest.raises(UsageError) as error:
        registry.model(f"hf/{folder}", Profile(trust_remote_code=trusted, extra=extra))
    return str(error.value)
