"""A maker's own tool: their declarations, and what a call shows."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image as pillow

from snellen.core.model import Reply
from snellen.media.content import Image, ToolCall
from snellen.registry import toolbox
from snellen.tools import Shown

# QwenLM/Qwen-Agent@31a4d36:qwen_agent/tools/image_zoom_in_qwen3vl.py#L34-L61
QWEN = {
    "type": "object",
    "properties": {
        "bbox_2d": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "The bounding box of the region to zoom in, as [x1, y1, x2, y2], where "
            "(x1, y1) is the top-left corner and (x2, y2) is the bottom-right corner",
        },
        "label": {
            "type": "string",
            "description": "The name or label of the object in the specified bounding box",
        },
        "img_idx": {
            "type": "number",
            "description": "The index of the zoomed-in image (starting from 0)",
        },
    },
    "required": ["bbox_2d", "label", "img_idx"],
}
PIXELS = np.random.default_rng(7).integers(0, 256, (200, 400, 3), dtype=np.uint8)
BOX = toolbox(["image_zoom_in_tool"])


def zoomed(box: str, index: str = "0") -> tuple[object, ...]:
    file = BytesIO()
    pillow.fromarray(PIXELS).save(file, "PNG")
    arguments = f'{{"bbox_2d": {box}, "label": "dog", "img_idx": {index}}}'
    call = ToolCall(id="1", name="image_zoom_in_tool", arguments=arguments)
    shown = Shown(pictures=(Image(file.getvalue(), label="noise"),))
    (result,), _ = BOX.results(Reply(tool_calls=(call,)), shown)
    return result.parts


def test_qwens_tool_is_declared_as_qwen_declares_it() -> None:
    (spec,) = BOX.specs
    assert (spec.name, spec.description) == (
        "image_zoom_in_tool",
        "Zoom in on a specific region of an image by cropping it based on a bounding box (bbox) "
        "and an optional object label",
    )
    # Arguments of other names are refused here.
    assert dict(spec.parameters) == {**QWEN, "additionalProperties": False}


@pytest.mark.parametrize(
    ("box", "part"),
    [
        ("[250, 0, 750, 500]", (100, 0, 300, 100)),
        ("[-50, 500, 500, 2000]", (0, 100, 200, 200)),
        # 9 x 10 pixels around (200.5, 100) become 33 x 36.
        ("[490, 475, 512.5, 525]", (184, 82, 217, 118)),
        # 8 x 10 pixels around (200, 100) would become 32 x 40. Since 32 is not more than 32, the
        # box stays as it is.
        ("[490, 475, 510, 525]", (196, 95, 204, 105)),
        # At the corner, there is no room.
        ("[0, 0, 20, 40]", (0, 0, 8, 8)),
        # Both edges are at 200.125 pixels in floats, so no larger box has this aspect ratio.
        ("[500.3125, 0, 500.31250000000006, 500]", (200, 0, 201, 100)),
    ],
)
def test_a_box_is_cut_at_the_edges_and_enlarged_if_it_is_small(
    box: str, part: tuple[int, int, int, int]
) -> None:
    _, image = zoomed(box)
    assert isinstance(image, Image)
    assert image.excerpt is not None
    assert image.excerpt.box == part


def test_a_small_part_is_scaled_up() -> None:
    text, image = zoomed("[250, 0, 750, 500]")  # 200 x 100 pixels
    assert isinstance(image, Image)
    assert image.size == (725, 363)  # the least size with this aspect ratio and 262,144 pixels
    assert text == "Picture 2 (725 x 363 pixels):"


@pytest.mark.parametrize(
    ("box", "index", "message"),
    [
        ("[500, 0, 500, 500]", "0", "bbox_2d must be"),
        ("[1100, 0, 1200, 500]", "0", "must show a part of the image"),
        ("[500, 0, 500.00000000000006, 500]", "0", "must show a part of the image"),
        ("[0, 0, 1e-323, 500]", "0", "must show a part of the image"),
        ("[0, 0, 500, 5e-320]", "0", "must show a part of the image"),
        ("[0, 0, 500, 500]", "1", "img_idx must be a whole number from 0 to 0, not 1"),
        ("[0, 0, 500, 500]", "0.5", "not 0.5"),
        ("[0, 0, 500]", "0", "length >= 4"),
    ],
)
def test_a_wrong_call_is_answered_with_what_is_right(box: str, index: str, message: str) -> None:
    (text,) = zoomed(box, index)
    assert isinstance(text, str)
    assert message in text
