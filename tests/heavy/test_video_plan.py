"""A plan over eight video benchmarks with a tiny Qwen3-VL in this process: the pixels and the times
that reach the model's layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from snellen import registry
from snellen.api import Finished, Plan, run_plan
from snellen.core.profile import Profile
from snellen.store import ReplyRecord, Run
from tests.heavy.tiny_models import build
from tests.servers import completion, serving
from tests.video_sets import ITEM, OWN_POLICIES, DrawnQuestion, by_content, count_opens, draw
from tests.videos import index_of

pytestmark = pytest.mark.heavy
PATCH, MERGE, TEMPORAL = 8, 2, 2
"""As in the tiny model: pixels of a patch, patches and frames that are merged."""
WIDTH, HEIGHT = 160, 96
STAMP = re.compile(r"<(\d+\.\d) seconds>")


class LayerInputs:
    """What a model's layers get: the text of each question, and what the pixels of its video say.
    Both are in the order of the questions, which the model gets one after the other."""

    def __init__(self, tokenizer: Any) -> None:
        self.texts: list[str] = []
        self.indexes: list[list[int]] = []
        self._tokenizer = tokenizer

    def __call__(self, module: Any, args: tuple[Any, ...]) -> None:
        """A hook that torch calls before each layer."""
        kind = type(module).__name__
        if kind == "Qwen3VLVisionModel":
            pixels = args[0].float().numpy()
            self.indexes.append([index_of(frame) for frame in frames_of(pixels)])
        elif kind == "Embedding" and module.num_embeddings == len(self._tokenizer):
            (ids,) = args[0]
            if len(ids) > 1:  # each later call has only the token that was generated last
                self.texts.append(self._tokenizer.decode(ids))


def frames_of(patches: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The frames, from their patches in the order in which the model gets them."""
    down, across = HEIGHT // PATCH // MERGE, WIDTH // PATCH // MERGE
    parts = patches.reshape(-1, down, across, MERGE, MERGE, 3, TEMPORAL, PATCH, PATCH)
    pixels = parts.transpose(0, 6, 1, 3, 7, 2, 4, 8, 5).reshape(-1, HEIGHT, WIDTH, 3)
    frames: NDArray[np.uint8] = np.clip(np.rint((pixels + 1) * 127.5), 0, 255).astype(np.uint8)
    return frames


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("qwen3_vl", tmp_path_factory.mktemp("models") / "qwen3_vl")


@pytest.fixture
def inputs(model: Path) -> Iterator[LayerInputs]:
    from torch.nn.modules.module import register_module_forward_pre_hook
    from transformers import AutoTokenizer

    layer_inputs = LayerInputs(AutoTokenizer.from_pretrained(model))
    hook = register_module_forward_pre_hook(layer_inputs)
    yield layer_inputs
    hook.remove()


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[DrawnQuestion, ...]:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return draw(tmp_path / "home/data")


def test_every_frame_of_eight_sets_reaches_the_model_with_its_time(
    drawn: tuple[DrawnQuestion, ...],
    model: Path,
    inputs: LayerInputs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = count_opens(monkeypatch)
    finished = run(model, tmp_path, "uniform:8")

    assert opened == dict.fromkeys({question.path for question in drawn}, 1)
    check(finished, inputs, drawn, "uniform:8")


def test_a_model_behind_a_server_and_one_in_this_process_share_the_frames_in_a_cache(
    drawn: tuple[DrawnQuestion, ...],
    model: Path,
    inputs: LayerInputs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = count_opens(monkeypatch)
    with serving(completion("B")) as server:
        profile = Profile(base_url=server.url)
        finished = run(
            model,
            tmp_path,
            "fps:2",
            models=["openai/m", f"hf/{model}"],
            profiles={"openai/m": profile},
            frame_cache=str(tmp_path / "cache"),
        )

    contents = by_content({question.path: 1 for question in drawn})
    assert by_content(opened) == dict.fromkeys(contents, 1)
    assert len(server.requests) == len(drawn)
    check(finished, inputs, drawn, "fps:2")


def run(model: Path, folder: Path, policy: str, **more: Any) -> list[Finished]:
    arguments: dict[str, Any] = {"models": [f"hf/{model}"], **more}
    return run_plan(
        Plan(
            benchmarks=[registry.benchmark(name) for name in OWN_POLICIES],
            profile=Profile(extra={"batch_size": 1}),
            frames=f"{policy},side={WIDTH}",
            out=folder / "runs",
            max_tokens=2,
            temperature=0.0,
            **arguments,
        )
    )


def check(
    finished: Sequence[Finished],
    inputs: LayerInputs,
    drawn: Sequence[DrawnQuestion],
    policy: str,
) -> None:
    """Compare the frames in the runs' records, and those that reached the model, with the frames
    that the policy picks."""
    expected = {question.item: question.picked(policy) for question in drawn}
    stored = [
        reply.media[0].frames
        for run in finished
        for reply in Run(run.run).replies()
        if isinstance(reply, ReplyRecord)
    ]
    models = len(finished) // len(OWN_POLICIES)
    assert sorted(stored) == sorted(
        [float(time) for time, _ in frames] for frames in [*expected.values()] * models
    )
    for text, indexes in zip(inputs.texts, inputs.indexes, strict=True):
        (item,) = set(ITEM.findall(text))
        frames = expected.pop(item)
        # The processor repeats the last frame if their number is odd.
        paired = frames + frames[-1:] * (len(frames) % TEMPORAL)
        assert indexes == [index for _, index in paired], item
        # It writes the mean time of two frames to a tenth of a second, from milliseconds.
        means = [float(a[0] + b[0]) / 2 for a, b in zip(paired[::2], paired[1::2], strict=True)]
        stamps = [float(stamp) for stamp in STAMP.findall(text)]
        assert stamps == pytest.approx(means, abs=0.0511), item
    assert not expected
