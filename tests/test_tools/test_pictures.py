"""Tools for pictures: what a call shows has the original's own pixels, and a wrong call says what
is right."""

from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as pillow

from snellen.core.model import Reply
from snellen.media import images
from snellen.media.content import Image, ToolCall
from snellen.media.views import MAX_PIXELS
from snellen.registry import toolbox
from snellen.tools import Shown, Toolbox
from snellen.tools.toolbox import MAX_CALLS

WIDTH, HEIGHT = 400, 200


def noise(width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)


def saved(pixels: NDArray[np.uint8], kind: str = "PNG", **options: object) -> Image:
    file = BytesIO()
    pillow.fromarray(pixels).save(file, kind, **options)
    return Image(file.getvalue(), label="noise")


def call(name: str, arguments: str = "{}", call_id: str = "1") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def result(box: Toolbox, shown: Shown, *calls: ToolCall) -> tuple[list[list[object]], Shown]:
    results, after = box.results(Reply(tool_calls=calls), shown)
    return [[*result.parts] for result in results], after


def pixels_of(part: object) -> NDArray[np.uint8]:
    assert isinstance(part, Image)
    return images.pixels(part)


TOOLS = toolbox(["zoom,rotate,grid"])


def test_a_zoom_shows_the_pixels_of_the_original() -> None:
    pixels = noise()
    shown = Shown(pictures=(saved(pixels),))

    [parts], after = result(TOOLS, shown, call("zoom", '{"box": [250, 0, 750, 500]}'))

    assert parts[0] == "Picture 2 (200 x 100 pixels):"
    assert (pixels_of(parts[1]) == pixels[0:100, 100:300]).all()
    assert len(after.pictures) == 2


def test_a_zoom_into_a_rotated_zoom_still_shows_the_pixels_of_the_original() -> None:
    pixels = noise()
    calls = [
        call("zoom", '{"box": [500, 0, 1000, 1000]}', "1"),
        call("rotate", '{"degrees": 90, "picture": 2}', "2"),
        call("zoom", '{"box": [0, 0, 1000, 500], "picture": 3}', "3"),
    ]

    (_, rotated, part), _ = result(TOOLS, Shown(pictures=(saved(pixels),)), *calls)

    by_hand = np.rot90(pixels[:, 200:400], -1)
    assert (pixels_of(rotated[1]) == by_hand).all()
    assert (pixels_of(part[1]) == by_hand[0:100]).all()


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_rotation_is_clockwise(degrees: int) -> None:
    pixels = noise()

    [parts], _ = result(
        TOOLS, Shown(pictures=(saved(pixels),)), call("rotate", f'{{"degrees": {degrees}}}')
    )

    assert (pixels_of(parts[1]) == np.rot90(pixels, -degrees // 90)).all()


def test_a_picture_with_an_orientation_is_cut_as_a_person_sees_it() -> None:
    pixels = noise()
    turned = np.rot90(pixels, 1)  # Orientation 6 means: rotate by 90 degrees clockwise to view.
    exif = pillow.Exif()
    exif[0x0112] = 6
    shown = Shown(pictures=(saved(np.ascontiguousarray(turned), exif=exif),))

    [parts], _ = result(TOOLS, shown, call("zoom", '{"box": [0, 0, 500, 500]}'))

    assert (pixels_of(parts[1]) == pixels[0:100, 0:200]).all()


def test_a_result_with_too_many_pixels_is_scaled_down() -> None:
    big = saved(np.full((2500, 3000, 3), 90, np.uint8))

    [zoomed, small], _ = result(
        TOOLS,
        Shown(pictures=(big,)),
        call("zoom", '{"box": [0, 0, 1000, 1000]}'),
        call("zoom", '{"box": [0, 0, 100, 100], "picture": 2}'),
    )

    assert isinstance(zoomed[1], Image) and isinstance(small[1], Image)
    assert zoomed[1].size == (2243, 1869)  # sqrt(4,194,304 / 7,500,000) of 3000 x 2500
    assert MAX_PIXELS >= 2243 * 1869
    assert small[1].size == (300, 250)  # of the original, not of the scaled picture


def test_a_grid_has_a_line_at_each_hundredth_and_a_zoom_into_it_has_none() -> None:
    gray = saved(np.full((300, 500, 3), 128, np.uint8))

    [grid, part], _ = result(
        TOOLS,
        Shown(pictures=(gray,)),
        call("grid"),
        call("zoom", '{"box": [100, 100, 900, 900], "picture": 2}'),
    )

    drawn = pixels_of(grid[1])
    is_red = (drawn == (220, 0, 0)).all(axis=2)
    assert [x for x in range(500) if is_red[200:235, x].all()] == [*range(50, 500, 50)]
    assert (pixels_of(part[1]) == 128).all()


WRONG = {
    "an unknown tool": ("crop", "{}", "there is no tool 'crop'. Tools: zoom, rotate, grid"),
    "no box": ("zoom", "{}", "Object missing required field `box`. The arguments of zoom are {"),
    "another name": ("zoom", '{"bbox": [0, 0, 9, 9]}', "unknown field `bbox`"),
    "three numbers": ("zoom", '{"box": [0, 0, 9]}', "length >= 4"),
    "texts": ("zoom", '{"box": ["0", 0, 9, 9]}', "Expected `float`, got `str`"),
    "outside": ("zoom", '{"box": [0, 0, 1200, 500]}', "0 <= left < right <= 1000"),
    "no area": ("zoom", '{"box": [500, 0, 500, 500]}', "0 <= left < right <= 1000"),
    "not a number": ("zoom", '{"box": [0, 0, 1e999, 500]}', "not valid JSON"),
    "too small": ("zoom", '{"box": [0, 0, 10, 500]}', "covers only 4 x 100 of the 400 x 200"),
    "no such picture": ("zoom", '{"box": [0, 0, 500, 500], "picture": 9}', "no picture 9"),
    "another angle": ("rotate", '{"degrees": 45}', "Invalid enum value 45"),
    "not JSON": ("rotate", '{"degrees": 90', "the arguments are not valid JSON"),
    "a list": ("rotate", "[90]", "the arguments are not a JSON object"),
    "no name": ("", '{"tool": "rotate"}', "not a JSON object with a name and arguments"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_call_says_what_is_right(fault: str) -> None:
    name, arguments, words = WRONG[fault]
    shown = Shown(pictures=(saved(noise()),))

    [parts], after = result(TOOLS, shown, call(name, arguments))

    [text] = parts
    assert isinstance(text, str)
    assert text.startswith("Error: ") and words in text
    assert after == shown


def test_of_a_hundred_calls_at_once_the_first_few_are_carried_out() -> None:
    shown = Shown(pictures=(saved(noise(100, 100)),))
    calls = [call("zoom", '{"box": [0, 0, 500, 500]}', str(n)) for n in range(100)]

    parts, after = result(TOOLS, shown, *calls)

    assert len(parts) == 100
    assert len(after.pictures) == 1 + MAX_CALLS
    assert all(len(part) == 2 for part in parts[:MAX_CALLS])
    assert {*map(str, (text for [text] in parts[MAX_CALLS:]))} == {
        "Error: only the first 8 of 100 calls were carried out. Make fewer calls at once."
    }


def test_a_question_without_pictures_says_so() -> None:
    assert result(TOOLS, Shown(), call("grid"))[0] == [["Error: no picture has been shown."]]


def test_the_same_call_gives_the_same_bytes() -> None:
    def shown() -> list[object]:
        fresh = Shown(pictures=(saved(noise()),))
        return result(TOOLS, fresh, call("zoom", '{"box": [1, 2, 503, 504]}'))[0][0]

    assert shown() == shown()
