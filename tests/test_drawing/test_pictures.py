"""Pictures are equal everywhere, hold the ink they should, and are what other programs read."""

from hashlib import sha256
from io import BytesIO

import numpy as np
import PIL.Image
import pytest

from snellen.drawing import UNIT, Canvas, glyph

RED = (200, 30, 40)


def decoded(file: bytes) -> np.ndarray:
    with PIL.Image.open(BytesIO(file)) as picture:
        return np.array(picture)


def scene() -> Canvas:
    canvas = Canvas(90, 60)
    for place, sign in enumerate("CDHKNORSVZ"):
        canvas.draw(sign, 5 + place * 8 * UNIT, 7 + place, 6 * UNIT + place)
    canvas.draw("disc", 10 * UNIT + 3, 20 * UNIT, 30 * UNIT, RED)
    canvas.draw("square", 60 * UNIT, 30 * UNIT + 9, 20 * UNIT, (0, 0, 255))
    return canvas


def test_a_picture_is_the_same_bytes_on_every_machine() -> None:
    digest = "72cd659d1f80d4ef3acd01a1f1f857c90b4c8b1abaea8c4b609e583153504672"
    assert sha256(scene().png()).hexdigest() == digest


def test_every_letter_and_digit_is_the_same_on_every_machine() -> None:
    signs = b"".join(glyph(sign).tobytes() for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    digest = "626c34887a2c517628caf713f6e08cd03f5dc9bed94fbc04790c590221af7396"
    assert sha256(signs).hexdigest() == digest


def test_pillow_reads_the_pixels_that_were_drawn() -> None:
    canvas = scene()
    assert np.array_equal(decoded(canvas.png()), canvas.pixels)


@pytest.mark.parametrize("values", [2, 140, 256])
def test_pillow_reads_any_pixels_back(values: int) -> None:
    canvas = Canvas(301, 17)
    rng = np.random.default_rng(values)
    canvas.pixels[:] = rng.integers(0, values, canvas.pixels.shape)
    assert np.array_equal(decoded(canvas.png()), canvas.pixels)


def test_a_run_of_any_length_is_read_back() -> None:
    for run in range(1, 3 * 258):
        canvas = Canvas(300, 1)
        canvas.pixels.reshape(-1)[5 : 5 + run] = 77
        assert np.array_equal(decoded(canvas.png()), canvas.pixels), run


def test_a_square_between_pixels_shades_them_by_the_area_it_covers() -> None:
    canvas = Canvas(4, 3)
    canvas.draw("square", UNIT // 2, UNIT, 2 * UNIT)  # columns 0.5 to 2.5, rows 1 to 3
    grey = 128  # 127.5, rounded up
    shaded = [grey, 0, grey, 255]
    assert canvas.pixels[:, :, 0].tolist() == [[255] * 4, shaded, shaded]


def test_a_shape_over_the_edge_is_cut_off() -> None:
    canvas = Canvas(3, 3)
    canvas.draw("square", -UNIT, -UNIT, 2 * UNIT, RED)
    canvas.draw("square", 9 * UNIT, 9 * UNIT, 2 * UNIT, RED)
    assert [tuple(pixel) for pixel in canvas.pixels[0].tolist()] == [RED, (255,) * 3, (255,) * 3]
    assert (canvas.pixels[1:] == 255).all()


def test_a_disc_has_the_area_of_a_circle() -> None:
    canvas = Canvas(60, 60)
    canvas.draw("disc", 4 * UNIT + 5, 6 * UNIT + 11, 50 * UNIT)
    inked = (255 - canvas.pixels[:, :, 0].astype(int)).sum() / 255
    assert inked == pytest.approx(np.pi * 25**2, rel=0.005)


@pytest.mark.parametrize("side", [2, 5, 13])
def test_a_small_letter_holds_as_much_ink_as_its_shape_says(side: int) -> None:
    canvas = Canvas(20, 20)
    canvas.draw("K", 3 * UNIT + 7, 2 * UNIT + 1, side * UNIT)
    inked = (255 - canvas.pixels[:, :, 0].astype(int)).sum() / 255
    assert inked == pytest.approx(glyph("K").mean() * side**2, rel=0.02)


def test_letters_are_as_wide_as_high_and_the_pen_is_a_fifth_of_that() -> None:
    for letter in "CDHKNORSVZ":
        ink = glyph(letter)
        assert ink.any(axis=0).all() and ink.any(axis=1).all(), letter
    assert glyph("H")[0].sum() == pytest.approx(2 * 40 / 5, abs=8)  # two round pen ends
    assert glyph("H")[30].tolist() == [True] * 8 + [False] * 24 + [True] * 8


def test_no_two_signs_look_alike() -> None:
    shapes = {glyph(sign).tobytes() for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}
    assert len(shapes) == 36
