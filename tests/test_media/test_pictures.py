"""Pictures cut into tiles as InternVL cuts them."""

from io import BytesIO

import numpy as np
import PIL.Image
import pytest

from snellen.errors import MediaError
from snellen.media import pictures
from snellen.media.content import Image
from snellen.media.sizes import tile_grid


def encoded(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> Image:
    file = BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return Image(file.getvalue())


# Printed by `dynamic_preprocess` of OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2
# (internvl_chat/internvl/train/dataset.py), with 448 pixels and the numbers of tiles below.
GRIDS = [
    (448, 448, 1, 12, (1, 1)),
    (900, 900, 1, 12, (2, 2)),
    (640, 480, 1, 12, (4, 3)),
    (1920, 1080, 1, 6, (2, 1)),
    (1080, 1920, 1, 12, (2, 4)),
    (100, 800, 1, 12, (1, 8)),
    (800, 100, 1, 6, (6, 1)),
    (300, 200, 1, 6, (3, 2)),
    (1344, 896, 1, 6, (3, 2)),
    (500, 400, 2, 6, (2, 2)),
    (500, 400, 3, 12, (4, 3)),
    (77, 31, 1, 24, (5, 2)),
    (4000, 3000, 1, 40, (4, 3)),
]


@pytest.mark.parametrize(("width", "height", "least", "most", "grid"), GRIDS)
def test_grids_are_those_of_the_authors_code(
    width: int, height: int, least: int, most: int, grid: tuple[int, int]
) -> None:
    assert tile_grid(width, height, least=least, most=most) == grid


def test_tiles_run_row_by_row_and_end_with_the_thumbnail() -> None:
    colors = np.arange(1, 7, dtype=np.uint8) * 40
    flat = colors.reshape(2, 3).repeat(20, 0).repeat(20, 1)
    image = encoded(np.stack([flat] * 3, -1))
    tiles = pictures.cut(image, most=6, size=20)
    assert tiles.shape == (7, 20, 20, 3)
    assert [int(tile[10, 10, 0]) for tile in tiles[:6]] == colors.tolist()
    small = PIL.Image.fromarray(np.stack([flat] * 3, -1)).resize((20, 20))
    assert np.array_equal(tiles[6], np.asarray(small))
    assert len(pictures.cut(image, most=6, size=20, thumbnail=False)) == 6


def test_a_single_tile_has_no_thumbnail() -> None:
    image = encoded(np.full((20, 20, 3), 7, np.uint8))
    assert pictures.cut(image, most=12, size=20).shape == (1, 20, 20, 3)


def test_a_picture_is_given_in_rgb_on_white() -> None:
    transparent = np.zeros((4, 4, 4), np.uint8)
    picture = pictures.as_pillow(encoded(transparent))
    assert picture.mode == "RGB" and picture.getpixel((0, 0)) == (255, 255, 255)


def test_a_damaged_picture_is_refused() -> None:
    source = encoded(np.zeros((40, 40, 3), np.uint8)).source
    assert isinstance(source, bytes)
    with pytest.raises(MediaError, match="broken"):
        pictures.cut(Image(source[:40] + b"\0" * 8 + source[48:], label="broken.png"), most=1)
