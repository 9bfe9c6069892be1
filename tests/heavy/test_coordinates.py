"""The size at which a real processor shows a picture, for coordinates in pixels of that picture.

Models of random weights cannot say where something is. What is shown here is that the sizes are
known: those that a server gets, and those to which transformers' own processors resize.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.core import BoxAnswer, Reply
from snellen.core.coordinates import Coordinates
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import UsageError
from snellen.media.sizes import in_squares
from snellen.models.hf import open_model
from snellen.scoring import replies_of
from snellen.store import ReplyRecord, Run
from snellen.transforms.coordinates import with_coordinates
from tests.heavy.counting_proxy import counting_proxy
from tests.heavy.tiny_models import build
from tests.heavy.transformers_server import quiet, serving_model

pytestmark = pytest.mark.heavy
TINY = "pixels-shown:factor=16,min_pixels=1024,max_pixels=4096"
"""The resizing of the tiny Qwen2.5-VL's processor: patches of 8 pixels, of which 2 x 2 are merged,
and 32 x 32 to 64 x 64 pixels."""


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("qwen2_5_vl", tmp_path_factory.mktemp("models") / "qwen")


# -- transformers' processors


@pytest.mark.parametrize(
    ("patch", "least", "most"), [(14, 3_136, 250_000), (14, 3_136, 28_000), (16, 65_536, 200_000)]
)
def test_our_formula_gives_the_grid_of_the_processor(patch: int, least: int, most: int) -> None:
    transformers = pytest.importorskip("transformers")
    processor = transformers.Qwen2VLImageProcessorPil(
        patch_size=patch, merge_size=2, size={"shortest_edge": least, "longest_edge": most}
    )
    draws = random.Random(25)
    sizes = [(draws.randint(8, 900), draws.randint(8, 900)) for _ in range(12)]
    for width, height in [*sizes, (1900, 12), (12, 1900), (7, 7), (2 * patch, 2 * patch)]:
        picture = PIL.Image.new("RGB", (width, height))
        [[_, down, across]] = processor(picture, return_tensors="np")["image_grid_thw"].tolist()
        assert in_squares(width, height, factor=2 * patch, least=least, most=most) == (
            across * patch,
            down * patch,
        ), (width, height)


def test_the_named_resizing_is_that_of_the_processor_with_its_numbers() -> None:
    transformers = pytest.importorskip("transformers")
    # preprocessor_config.json of Qwen/Qwen2.5-VL-7B-Instruct
    processor = transformers.Qwen2VLImageProcessorPil(
        patch_size=14, merge_size=2, min_pixels=3136, max_pixels=12845056
    )
    shown = Coordinates.read("pixels-shown:qwen2.5-vl")
    for size in [(640, 428), (1920, 1080), (33, 50)]:
        grid = processor(PIL.Image.new("RGB", size), return_tensors="np")["image_grid_thw"]
        [[_, down, across]] = grid.tolist()
        assert shown.extent(size, size) == (across * 14, down * 14)


# -- hf/


def test_a_model_opens_with_the_resizing_of_its_processor(qwen: Path) -> None:
    assert open_model(f"{qwen}", profile=Profile(coordinates=TINY), api_key=None).replicas


@pytest.mark.parametrize(
    ("coordinates", "words"),
    [
        ("pixels-shown", r"resizes a picture of 20 x 30 pixels to 32 x 48.*would be shown 20 x 30"),
        ("pixels-shown:qwen2.5-vl", r"20 x 30 pixels to 32 x 48.*would be shown 56 x 84"),
        (
            TINY.replace("4096", "8192"),
            r"641 x 427 pixels to 64 x 48.*would be shown 96 x 64.*State the processor's resizing",
        ),
    ],
)
def test_other_resizings_are_refused_before_anything_is_asked(
    coordinates: str, words: str, qwen: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        open_model(f"{qwen}", profile=Profile(coordinates=coordinates), api_key=None)


def test_conventions_that_do_not_depend_on_the_processor_are_not_checked(qwen: Path) -> None:
    assert open_model(f"{qwen}", profile=Profile(coordinates="0-1000"), api_key=None).replicas


def test_a_processor_without_sizes_is_not_checked(tmp_path: Path) -> None:
    llava = build("llava", tmp_path / "llava")
    profile = Profile(coordinates="pixels-shown")
    assert open_model(f"{llava}", profile=profile, api_key=None).replicas


# -- runs


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Ref-L4 with one picture of 320 x 240 pixels."""
    PIL.Image.effect_noise((320, 240), 60).convert("RGB").save(tmp_path / "noise.png")
    row = {"id": "1", "caption": "the noise", "bbox": [80, 60, 160, 120], "split": "val"}
    path = tmp_path / "ref-l4-val.jsonl"
    path.write_text(json.dumps({**row, "ori_category_id": "1", "file_name": "noise.png"}) + "\n")
    return path


def box_read(run: Run, text: str) -> object:
    """How the run reads a reply with this text to its question: the reply's picture has the size
    that the run stored."""
    manifest = run.manifest()
    benchmark = registry.of_run(manifest)
    run.load()
    (scored,) = replies_of(run, benchmark)
    assert scored.reply is not None
    reply = Reply(text=text, sizes=scored.reply.sizes)
    return benchmark.scorings["robust"].parse(reply, scored.sample).answer


MIDDLE = BoxAnswer(left=80, top=60, right=240, bottom=180)


@pytest.mark.parametrize(
    ("images", "size"),
    [
        (ImageLimits(), None),
        (ImageLimits(max_side=80), (80, 60)),
        (ImageLimits(min_pixels=640 * 480), (640, 480)),
    ],
    ids=["as it is", "scaled down", "scaled up"],
)
def test_a_model_on_this_machine_is_read_in_pixels_of_what_it_is_shown(
    images: ImageLimits, size: tuple[int, int] | None, qwen: Path, rows: Path
) -> None:
    """Every picture of 4 : 3 within these limits becomes 64 x 48 pixels."""
    result = snellen.evaluate(
        "ref-l4:split=val",
        f"hf/{qwen}",
        data=rows,
        profile=Profile(coordinates=TINY, images=images, max_tokens=4),
        out=rows.parent / "runs",
    )
    assert result.run is not None
    run = Run(result.run)
    sizes = [record.as_reply().sizes for record in run.replies() if isinstance(record, ReplyRecord)]
    assert sizes == [None if size is None else (size,)]
    assert box_read(run, "[16, 12, 48, 36]") == MIDDLE


class Served(NamedTuple):
    """A served model and the server's address."""

    model: Path
    url: str


@pytest.fixture(scope="module")
def llava_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("model") / "tiny-llava"
    script = Path(__file__).with_name("tiny_llava.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, env=quiet())
    with serving_model(folder) as url:
        yield Served(folder, url)


@pytest.mark.parametrize(("side", "size"), [(80, (80, 60)), (None, (640, 480))])
def test_transformers_serve_gets_a_picture_of_the_size_that_is_stored(
    side: int | None, size: tuple[int, int], llava_server: Served, rows: Path
) -> None:
    """The server's processor is CLIP's, which reports no size, so the picture that is shown is the
    one that was sent."""
    images = ImageLimits(max_side=side, min_pixels=None if side else 640 * 480)
    with counting_proxy(llava_server.url) as proxy:
        result = snellen.evaluate(
            "ref-l4:split=val",
            f"openai/{llava_server.model}",
            data=rows,
            base_url=f"{proxy.url}/v1",
            profile=Profile(coordinates="pixels-shown", images=images, max_tokens=4),
            out=rows.parent / "runs",
        )
        [body] = [json.loads(body) for body in proxy.bodies if b"image_url" in body]
    assert result.run is not None
    [url_of_picture] = [
        part["image_url"]["url"]
        for part in body["messages"][-1]["content"]
        if part["type"] == "image_url"
    ]
    picture = PIL.Image.open(io.BytesIO(b64decode(url_of_picture.partition(",")[2])))
    assert picture.size == size
    run = Run(result.run)
    [record] = [record for record in run.replies() if isinstance(record, ReplyRecord)]
    assert record.as_reply().sizes == (size,)
    width, height = size
    quarters = f"[{width / 4}, {height / 4}, {width * 3 / 4}, {height * 3 / 4}]"
    assert box_read(run, quarters) == MIDDLE


def test_the_benchmark_of_a_run_has_the_run_s_coordinates() -> None:
    plain = registry.benchmark("ref-l4:split=val", data=None)
    use = with_coordinates(plain, TINY).scorings["robust"].coordinates
    assert use is not None
    assert str(use.effective) == TINY
