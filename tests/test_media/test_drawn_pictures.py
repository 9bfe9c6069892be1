"""Pictures are equal everywhere, hold the ink they should, and are what other programs read."""

import math
from hashlib import sha256
from io import BytesIO

import numpy as np
import PIL.Image
import pytest

from snellen.media.drawing import UNIT, Canvas, glyph

RED = (200, 30, 40)


def decoded(file: bytes) -> np.ndarray:
    with PIL.Image.open(BytesIO(file)) as picture:
        return np.array(picture)


def scene() -> Canvas:
    canvas = Canvas(90, 60)
    for index, sign in enumerate("CDHKNORSVZ"):
        canvas.draw(sign, 5 + index * 8 * UNIT, 7 + index, 6 * UNIT + index)
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


def test_every_turned_sign_is_the_same_on_every_machine() -> None:
    turns = (turn for turn in range(-180, 181, 15) if turn)
    signs = b"".join(glyph(sign, turn).tobytes() for turn in turns for sign in "AFGJLPRTUY-")
    digest = "7bf5c4bad5274ae5750d34fc6c8c12d14f0965c756ef8bc2e2091ea08fa14968"
    assert sha256(signs).hexdigest() == digest


def test_noise_is_the_same_on_every_machine() -> None:
    canvas = Canvas(90, 60, (128, 128, 128))
    canvas.add_noise(7, 24)
    digest = "2961bd73cf668585b1642931f84c5179b9c8d858f126fc8700257d3aebe97eb0"
    assert sha256(canvas.png()).hexdigest() == digest


def test_pillow_reads_the_pixels_that_were_drawn() -> None:
    canvas = scene()
    assert np.array_equal(decoded(canvas.png()), canvas.pixels)


@pytest.mark.parametrize("values", [2, 140, 256])
def test_pillow_reads_any_pixels_back(values: int) -> None:
    canvas = Canvas(301, 17)
    rng = np.random.default_rng(values)
    canvas.pixels[:] = rng.integers(0, values, canvas.pixels.shape)
    assert np.array_equal(decoded(canvas.png()), canvas.pixels)


@pytest.mark.parametrize("side", [40, 300])  # one stored block, and several
def test_grey_noise_is_stored_in_one_byte_a_pixel_and_read_back(side: int) -> None:
    canvas = Canvas(side, side, (120, 120, 120))
    canvas.add_noise(side, 30)
    file = canvas.png()
    with PIL.Image.open(BytesIO(file)) as picture:
        assert picture.mode == "L"
        assert np.array_equal(np.array(picture.convert("RGB")), canvas.pixels)
    assert len(file) < 1.01 * side * (side + 1) + 100


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


def cells(sign: str, turn: int = 0) -> np.ndarray:
    """A sign in the middle of 60 x 60 cells."""
    return glyph(sign, turn) if turn else np.pad(glyph(sign), 10)


@pytest.mark.parametrize(("turn", "quarters"), [(90, -1), (-90, 1), (180, 2), (-180, 2)])
def test_a_quarter_turn_moves_every_cell_to_its_place(turn: int, quarters: int) -> None:
    # numpy turns against the clock, in an array whose lines go down.
    assert np.array_equal(glyph("R", turn), np.rot90(cells("R"), quarters))


@pytest.mark.parametrize("turn", [15, 30, 45, 75, 105, 165, -60])
def test_a_turned_letter_is_pillow_s_turned_letter(turn: int) -> None:
    fine = PIL.Image.fromarray(np.kron(cells("R"), np.full((8, 8), 255, dtype=np.uint8)))
    turned = np.array(fine.rotate(-turn, PIL.Image.Resampling.BICUBIC).resize((60, 60)), float)
    # Of some 1,000 cells of ink only those at its edge may differ.
    assert np.abs(turned / 255 - glyph("R", turn)).sum() < 0.1 * cells("R").sum()


def test_a_turned_letter_stays_where_it_is_and_keeps_its_size() -> None:
    ink = []
    for turn in (0, 90, 180):
        canvas = Canvas(60, 60)
        canvas.draw("O", 13 * UNIT + 5, 20 * UNIT + 1, 24 * UNIT, turn=turn)
        ink.append(255.0 - canvas.pixels[:, :, 0])
    centres = [
        (np.average(np.arange(60), weights=layer.sum(axis)), layer.sum())
        for layer in ink
        for axis in (0, 1)
    ]
    for (centre, total), (first, first_total) in zip(centres[2:], centres[:2] * 2, strict=True):
        assert centre == pytest.approx(first, abs=0.02)
        assert total == pytest.approx(first_total, rel=0.001)


def test_a_letter_does_not_turn_by_degrees_between_the_steps() -> None:
    with pytest.raises(ValueError, match="steps of 15 degrees, not by 20"):
        glyph("R", 20)


def test_noise_has_the_mean_and_spread_that_it_is_asked_for() -> None:
    canvas = Canvas(400, 400, (128, 128, 128))
    canvas.add_noise(3, 24)
    levels = canvas.pixels[:, :, 0].astype(float)
    # Of 160,000 pixels: standard errors 0.06 and 0.04.
    assert levels.mean() == pytest.approx(128, abs=0.2)
    assert levels.std() == pytest.approx(24, abs=0.15)
    assert (np.abs(levels - 128) > 2 * 24).mean() == pytest.approx(0.0455, abs=0.005)
    assert np.corrcoef(levels[:, :-1].ravel(), levels[:, 1:].ravel())[0, 1] == pytest.approx(
        0, abs=0.01
    )


def test_noise_beyond_black_and_white_is_cut() -> None:
    canvas = Canvas(50, 50)
    canvas.add_noise(1, 60)
    assert canvas.pixels.max() == 255
    assert (canvas.pixels == 255).mean() == pytest.approx(0.5, abs=0.05)


def test_noise_is_splitmix64_s() -> None:
    # Steele, Lea and Flood's generator from seed 1234567, as Rosetta Code's page of it lists it.
    first = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    bytes_of = [sum(number.to_bytes(8, "little")) for number in first]
    canvas = Canvas(3, 1, (128, 128, 128))
    canvas.add_noise(1234567, 20)
    expected = [128 + math.floor((total - 1020) * 20 / 209 + 0.5) for total in bytes_of]
    assert canvas.pixels[0, :, 0].tolist() == expected


def test_no_two_signs_look_alike() -> None:
    shapes = {glyph(sign).tobytes() for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}
    assert len(shapes) == 36
