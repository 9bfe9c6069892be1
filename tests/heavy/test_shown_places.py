"""Boxes in what a tiny Qwen2.5-VL is shown, in all conventions of coordinates.

Random weights cannot find a box. An oracle finds it in the pixels that the real processor made of
the picture, and answers in the model's stead.
"""

from __future__ import annotations

import io
import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.core import BoxAnswer, Reply
from snellen.core.coordinates import Convention
from snellen.core.profile import ImageLimits, Profile
from snellen.core.scoring import total_score
from snellen.scoring import replies_of
from snellen.store import Run
from snellen.transforms.coordinates import with_coordinates
from tests.heavy.counting_proxy import counting_proxy
from tests.heavy.tiny_models import build
from tests.heavy.transformers_server import WITH_TORCHVISION, serving_model
from tests.red_boxes import ORIGINALS, Box, Size, red_box, shares, write_rows, written

pytestmark = pytest.mark.heavy
PATCH, MERGED = 8, 2
LEAST, MOST = 64 * 64, 512 * 512
RESIZED = f"pixels-shown:factor={PATCH * MERGED},min_pixels={LEAST},max_pixels={MOST}"
CONVENTIONS = [RESIZED if name == "pixels-shown" else name for name in get_args(Convention)]
"""The six conventions. `pixels-shown` has the processor's resizing."""
LIMITS = {
    "kept": (ImageLimits(), {"even": (320, 240), "odd": (320, 240)}),
    "scaled down": (ImageLimits(max_side=160), {"even": (160, 128), "odd": (160, 112)}),
    "scaled down, then up": (ImageLimits(max_side=40), {"even": (80, 64), "odd": (80, 64)}),
    "scaled up, then down": (
        ImageLimits(min_pixels=640 * 480),
        {"even": (576, 432), "odd": (592, 432)},
    ),
}
"""The limits of the profile, and the sizes that the processor makes of both originals, by hand."""


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL of random weights, whose processor makes pictures of 64² to 512² pixels."""
    transformers = pytest.importorskip("transformers")
    folder = build("qwen2_5_vl", tmp_path_factory.mktemp("models") / "qwen")
    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.image_processor.size = {"shortest_edge": LEAST, "longest_edge": MOST}
    processor.save_pretrained(folder)
    return folder


class ShownPicture(NamedTuple):
    """A picture as a processor made it for a model."""

    pixels: Any
    """The red, green, and blue channels from 0 to 255; (height, width, 3)."""

    @property
    def size(self) -> Size:
        height, width, _ = self.pixels.shape
        return width, height

    @classmethod
    def of_inputs(cls, inputs: Mapping[str, Any], processor: Any) -> ShownPicture:
        """The only picture in the inputs of a Qwen2.5-VL, from its patches."""
        [[_, down, across]] = np.asarray(inputs["image_grid_thw"]).tolist()
        patches = np.asarray(inputs["pixel_values"]).reshape(
            down // MERGED, across // MERGED, MERGED, MERGED, 3, -1, PATCH, PATCH
        )
        # Rows are those of groups, of patches in a group, and of pixels in a patch.
        channels_last = patches[:, :, :, :, :, 0].transpose(0, 2, 5, 1, 3, 6, 4)
        normalized = channels_last.reshape(down * PATCH, across * PATCH, 3)
        return cls(255 * (normalized * processor.image_std + processor.image_mean))


def test_a_picture_is_put_together_from_its_patches(qwen: Path) -> None:
    transformers = pytest.importorskip("transformers")
    processor = transformers.AutoProcessor.from_pretrained(qwen).image_processor
    pixels = np.random.default_rng(3).integers(0, 256, (96, 128, 3), dtype=np.uint8)
    inputs = processor(PIL.Image.fromarray(pixels), return_tensors="np")
    assert ShownPicture.of_inputs(inputs, processor).pixels == pytest.approx(pixels, abs=0.01)


def within_a_pixel(box: Box, name: str, shown: Size) -> bool:
    """Whether a box is the red box of an original, within a pixel of the picture that is shown."""
    original, target = ORIGINALS[name]
    steps = (original[0] / shown[0], original[1] / shown[1]) * 2
    return all(
        abs(edge - right) <= step + 1e-6
        for edge, right, step in zip(box, target, steps, strict=True)
    )


# -- hf/


@pytest.mark.parametrize("name", ORIGINALS)
@pytest.mark.parametrize("scaling", LIMITS)
def test_a_model_on_this_machine_is_read_in_pixels_of_what_its_processor_made(
    scaling: str, name: str, qwen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    kind = transformers.Qwen2_5_VLForConditionalGeneration
    generate = kind.generate
    inputs: list[Mapping[str, Any]] = []

    def noting(model: Any, *args: Any, **kwargs: Any) -> Any:
        inputs.append(kwargs)
        return generate(model, *args, **kwargs)

    monkeypatch.setattr(kind, "generate", noting)
    images, sizes = LIMITS[scaling]
    result = snellen.evaluate(
        "ref-l4:split=val",
        f"hf/{qwen}",
        data=write_rows(tmp_path, [name]),
        profile=Profile(coordinates=RESIZED, images=images, max_tokens=2),
        out=tmp_path / "runs",
    )

    [received] = [kwargs for kwargs in inputs if "pixel_values" in kwargs]
    processor = transformers.AutoProcessor.from_pretrained(qwen).image_processor
    picture = ShownPicture.of_inputs(received, processor)
    assert picture.size == sizes[name]
    assert result.run is not None
    run = Run(result.run)
    benchmark = registry.of_run(run.manifest())
    run.load()
    [scored] = replies_of(run, benchmark)
    assert scored.reply is not None
    original, target = ORIGINALS[name]
    for convention in CONVENTIONS:
        scoring = with_coordinates(benchmark, convention).scorings["robust"]

        def reading(relative: Any, convention: str = convention, scoring: Any = scoring) -> Any:
            text = written(relative, convention, original=original, shown=picture.size)
            assert scored.reply is not None
            return scoring.parse(Reply(text=text, sizes=scored.reply.sizes), scored.sample)

        exact = reading(shares(target, original))
        assert total_score(scoring.score(exact, scored.sample)) == pytest.approx(1, abs=1e-5)
        seen = reading(shares(red_box(picture.pixels), picture.size)).answer
        assert isinstance(seen, BoxAnswer)
        edges = (seen.left, seen.top, seen.right, seen.bottom)
        assert within_a_pixel(edges, name, picture.size), convention


# -- transformers serve


class ServedOracle:
    """Answers in the stead of a served model, which gets each request."""

    def __init__(self, model: Path, convention: str) -> None:
        transformers = pytest.importorskip("transformers")
        self._processor = transformers.AutoProcessor.from_pretrained(model)
        self._convention = convention
        self.seen: dict[str, tuple[Box, Size]] = {}
        """The box that is seen in each picture, and the size of the picture that is shown."""

    def __call__(self, request: Any, reply: Any) -> str:
        """The exact box of the original, in the model's convention."""
        words = json.dumps(request)
        name = next(name for name in ORIGINALS if f"the {name} picture" in words)
        [message] = request["messages"]
        content = [
            {"type": "image", "image": _picture(part["image_url"]["url"])}
            if part["type"] == "image_url"
            else part
            for part in message["content"]
        ]
        inputs = self._processor.apply_chat_template(
            [{"role": message["role"], "content": content}],
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="np",
        )
        # The server's own processor made as many tokens.
        assert reply["usage"]["prompt_tokens"] == inputs["input_ids"].shape[1]
        picture = ShownPicture.of_inputs(inputs, self._processor.image_processor)
        original, target = ORIGINALS[name]
        seen = shares(red_box(picture.pixels), picture.size)
        left, top, right, bottom = (
            share * side for share, side in zip(seen, original * 2, strict=True)
        )
        self.seen[name] = ((left, top, right, bottom), picture.size)
        relative = shares(target, original)
        return written(relative, self._convention, original=original, shown=picture.size)


def _picture(url: str) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(b64decode(url.partition(",")[2])))


@pytest.fixture(scope="module")
def server(qwen: Path) -> Iterator[str]:
    with serving_model(qwen, WITH_TORCHVISION) as url:
        yield url


@pytest.mark.parametrize("scaling", LIMITS)
def test_a_served_model_is_read_in_pixels_of_what_its_processor_made(
    scaling: str, qwen: Path, server: str, tmp_path: Path
) -> None:
    images, sizes = LIMITS[scaling]
    rows = write_rows(tmp_path)
    for convention in CONVENTIONS:
        oracle = ServedOracle(qwen, convention)
        with counting_proxy(server, oracle) as proxy:
            result = snellen.evaluate(
                "ref-l4:split=val",
                f"openai/{qwen}",
                data=rows,
                base_url=f"{proxy.url}/v1",
                profile=Profile(coordinates=convention, images=images, max_tokens=2),
                out=tmp_path / "runs",
            )

        metrics = result.report.scorings["robust"].metrics
        assert metrics["iou"].value == pytest.approx(1, abs=1e-5), convention
        assert {name: shown for name, (_, shown) in oracle.seen.items()} == sizes
        for name, (box, shown) in oracle.seen.items():
            assert within_a_pixel(box, name, shown), (convention, name)
