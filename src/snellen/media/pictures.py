"""Converts pictures for models whose own code takes Pillow images or tiles.

This module imports Pillow and NumPy, so other modules import it only for such a model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image as pillow

from snellen.media import images
from snellen.media.content import Image
from snellen.media.sizes import tile_grid


def as_pillow(image: Image) -> pillow.Image:
    """Decode a picture to a Pillow image in RGB that looks as in an image viewer. See
    `images.pixels`.

    Raises:
        MediaError: The image cannot be loaded, or the compressed data is damaged.
    """
    return of_pixels(images.pixels(image))


def of_pixels(pixels: NDArray[np.uint8]) -> pillow.Image:
    """Make a Pillow image from pixels with the shape (height, width, 3), in RGB from 0 to 255."""
    return pillow.fromarray(pixels)


def cut(
    image: Image, *, most: int, least: int = 1, size: int = 448, thumbnail: bool = True
) -> NDArray[np.uint8]:
    """Cut a picture into tiles, row by row. The result has the shape (tiles, `size`, `size`, 3), in
    RGB from 0 to 255.

    `tile_grid` chooses a grid of `least` to `most` tiles. The picture is stretched to the size of
    the grid by bicubic resampling, so its aspect ratio may change. If there are several tiles and
    `thumbnail` is set, another tile follows, which shows the whole picture scaled to the size of a
    tile.

    Source: OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:
    internvl_chat/internvl/train/dataset.py, `dynamic_preprocess`.

    Raises:
        MediaError: The image cannot be loaded, or the compressed data is damaged.
    """
    picture = as_pillow(image)
    columns, rows = tile_grid(*picture.size, most=most, least=least, size=size)
    scaled = picture.resize((columns * size, rows * size), pillow.Resampling.BICUBIC)
    grid = np.asarray(scaled).reshape(rows, size, columns, size, 3)
    tiles = grid.transpose(0, 2, 1, 3, 4).reshape(rows * columns, size, size, 3)
    if thumbnail and len(tiles) > 1:
        small = np.asarray(picture.resize((size, size), pillow.Resampling.BICUBIC))
        tiles = np.concatenate([tiles, small[None]])
    return tiles
