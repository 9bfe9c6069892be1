"""Pictures made smaller for a model's limits; Pillow reads what comes out."""

import re
from io import BytesIO
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import MediaError
from snellen.media.content import Image
from snellen.media.images import larger, smaller
from snellen.media.sizes import at_least, within


def picture(mode: str = "RGB", size: tuple[int, int] = (400, 300)) -> PIL.Image.Image:
    """Red on the left half, blue on the right."""
    drawn = PIL.Image.new("RGB", size, (255, 0, 0))
    drawn.paste((0, 0, 255), (size[0] // 2, 0, *size))
    return drawn.convert(mode)


def noise(size: tuple[int, int]) -> PIL.Image.Image:
    drawn = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return PIL.Image.fromarray(drawn)


def encoded(kind: str, drawn: PIL.Image.Image, **options: Any) -> bytes:
    out = BytesIO()
    drawn.save(out, kind, **options)
    return out.getvalue()


def shrunk(data: bytes, **limits: int) -> PIL.Image.Image:
    result = smaller(Image(data), **limits).source
    assert isinstance(result, bytes)
    return PIL.Image.open(BytesIO(result))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
def test_a_picturewithin_its_limits_keeps_its_bytes(kind: str) -> None:
    data = encoded(kind, picture())

    result = smaller(Image(data), max_side=400, max_pixels=120_000, max_bytes=len(data))

    assert result.source == data


@pytest.mark.parametrize(
    ("limits", "size"),
    [
        ({"max_side": 399}, (399, 299)),
        ({"max_side": 200}, (200, 150)),
        ({"max_pixels": 30_000}, (200, 150)),
        ({"max_side": 200, "max_pixels": 7_500}, (100, 75)),
        ({"max_side": 100, "max_pixels": 30_000}, (100, 75)),
    ],
)
def test_one_beyond_is_scaled_with_its_aspect(
    limits: dict[str, int], size: tuple[int, int]
) -> None:
    result = smaller(Image(encoded("PNG", picture())), **limits)

    assert (result.width, result.height) == size


@given(
    st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)),
    st.none() | st.integers(1, 20_000),
    st.none() | st.integers(1, 10**8),
)
def test_no_size_is_beyond_the_limits(
    size: tuple[int, int], max_side: int | None, max_pixels: int | None
) -> None:
    width, height = within(size, max_side, max_pixels)

    assert min(width, height) >= 1
    assert width <= size[0] and height <= size[1]
    assert max_side is None or max(width, height) <= max_side
    assert max_pixels is None or width * height <= max_pixels


@pytest.mark.parametrize(
    ("kind", "mode", "saved_as", "saved_mode"),
    [
        ("JPEG", "RGB", "JPEG", "RGB"),
        ("JPEG", "L", "JPEG", "L"),
        ("JPEG", "CMYK", "JPEG", "CMYK"),
        ("PNG", "RGB", "PNG", "RGB"),
        ("PNG", "RGBA", "PNG", "RGBA"),
        ("PNG", "P", "PNG", "RGB"),
        ("PNG", "1", "PNG", "L"),
        ("WEBP", "RGB", "WEBP", "RGB"),
        ("GIF", "P", "PNG", "RGB"),
    ],
)
def test_it_keeps_its_format(kind: str, mode: str, saved_as: str, saved_mode: str) -> None:
    result = shrunk(encoded(kind, picture(mode)), max_side=100)

    assert (result.format, result.mode, result.size) == (saved_as, saved_mode, (100, 75))


def test_a_jpeg_keeps_the_resolution_of_its_colors() -> None:
    result = shrunk(encoded("JPEG", picture(), subsampling="4:2:0"), max_side=100)

    assert [component[1:3] for component in result.layer] == [(1, 1)] * 3  # type: ignore[attr-defined]


def test_it_shows_the_same() -> None:
    result = np.asarray(shrunk(encoded("PNG", picture()), max_side=100))

    assert (result[:, :47] == (255, 0, 0)).all()
    assert (result[:, 53:] == (0, 0, 255)).all()


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_what_is_see_through_stays_so(kind: str) -> None:
    drawn = picture("RGBA")
    drawn.putalpha(PIL.Image.new("L", drawn.size, 77))

    result = shrunk(encoded(kind, drawn), max_side=100)

    assert result.getchannel("A").getextrema() == (77, 77)


def test_a_palettes_see_through_color_stays_so() -> None:
    drawn = picture("P")
    result = shrunk(encoded("PNG", drawn, transparency=drawn.getpixel((0, 0))), max_side=100)

    assert result.mode == "RGBA"
    assert [result.getpixel((0, 0))[3], result.getpixel((99, 0))[3]] == [0, 255]  # type: ignore[index]


def test_sixteen_bits_of_grey_stay_sixteen() -> None:
    grey = PIL.Image.fromarray(np.full((40, 40), 0x1234, dtype=np.uint16))

    assert (np.asarray(shrunk(encoded("PNG", grey), max_side=10)) == 0x1234).all()


def test_an_orientation_is_applied_since_it_is_not_kept() -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6  # shown turned by 90 degrees to the right

    result = shrunk(encoded("JPEG", picture(), exif=exif), max_side=100)

    assert (result.size, dict(result.getexif())) == ((75, 100), {})
    red = result.convert("RGB").getpixel((37, 10))
    assert isinstance(red, tuple) and red[0] > 200 > 50 > red[2]


def test_a_color_profile_is_kept() -> None:
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()

    result = shrunk(encoded("JPEG", picture(), icc_profile=profile), max_side=100)

    assert result.info["icc_profile"] == profile


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_file_of_too_many_bytes_is_scaled_until_it_fits(kind: str) -> None:
    data = encoded(kind, noise((200, 150)))

    result = smaller(Image(data), max_bytes=len(data) // 4)

    assert isinstance(result.source, bytes) and len(result.source) <= len(data) // 4
    assert result.width and result.height and 20 < result.width < 200
    assert result.width / result.height == pytest.approx(200 / 150, rel=0.03)


def test_a_file_that_fits_at_no_size_is_an_error() -> None:
    with pytest.raises(
        MediaError, match=re.escape("row 3 has more than max_bytes (20) bytes at every size")
    ):
        smaller(Image(encoded("PNG", picture()), label="row 3"), max_bytes=20)


def test_damage_shows_where_a_picture_is_scaled() -> None:
    data = bytearray(encoded("PNG", noise((100, 100))))
    data[1000:1100] = bytes(100)

    with pytest.raises(MediaError, match="cannot be decoded"):
        smaller(Image(bytes(data)), max_side=50)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (400, 300), (1, 900)])
@pytest.mark.parametrize("pixels", [1, 50, 999_983])
def test_a_larger_size_has_the_pixels_and_keeps_its_aspect(
    size: tuple[int, int], pixels: int
) -> None:
    width, height = at_least(size, pixels)

    assert width * height >= pixels and (width >= size[0] and height >= size[1])
    scale = max(1.0, (pixels / (size[0] * size[1])) ** 0.5)
    assert (width, height) == pytest.approx((size[0] * scale, size[1] * scale), abs=1)


def test_a_scaled_picture_knows_the_size_that_it_had() -> None:
    data = encoded("PNG", picture())

    small = smaller(Image(data), max_side=100)
    large = larger(small, min_pixels=30_000)

    assert (small.size, small.original_size) == ((100, 75), (400, 300))
    assert (large.size, large.original_size) == ((200, 150), (400, 300))
    assert larger(Image(data), min_pixels=100).source == data
    assert larger(Image(data), min_pixels=100).original is None
