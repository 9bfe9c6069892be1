"""The size limit of pictures, which users can change with an environment variable."""

import struct
from io import BytesIO

import numpy as np
import PIL.Image
import pytest

from snellen.errors import MediaError, UsageError
from snellen.media.content import Image
from snellen.media.images import load, part, pixels
from snellen.media.limits import VARIABLE

WIDTH, HEIGHT = 20_000, 15_000


@pytest.fixture
def pillow_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores Pillow's own limit, which is for the whole process."""
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", PIL.Image.MAX_IMAGE_PIXELS)


def huge() -> bytes:
    """A PNG of 300 megapixels, black with a white part."""
    drawn = PIL.Image.new("1", (WIDTH, HEIGHT))
    drawn.paste(1, (19_000, 14_000, 19_010, 14_020))
    out = BytesIO()
    drawn.save(out, "PNG", compress_level=1)
    return out.getvalue()


def test_a_part_of_300_megapixels_is_shown_if_the_user_allows_it(
    monkeypatch: pytest.MonkeyPatch, pillow_limit: None
) -> None:
    image = Image(huge(), label="huge.png")
    with pytest.raises(
        MediaError, match=r"in all; at most 178,956,970 .* SNELLEN_MAX_MEGAPIXELS=300;"
    ):
        load(image)

    monkeypatch.setenv(VARIABLE, "300")

    assert load(image).size == (WIDTH, HEIGHT)
    shown = pixels(part(image, (18_990, 13_990, 19_020, 14_030), 0, max_pixels=10**6))
    is_white = (shown == 255).all(axis=2)
    assert is_white[10:30, 10:20].all() and is_white.sum() == 200


def test_the_limit_can_be_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    out = BytesIO()
    PIL.Image.new("L", (1000, 1001)).save(out, "PNG")
    monkeypatch.setenv(VARIABLE, "1")

    with pytest.raises(
        MediaError, match=r"^wide\.png is 1000 x 1001 pixels, 1,001,000 in all; at most 1,000,000 "
    ):
        load(Image(out.getvalue(), label="wide.png"))


def test_the_message_names_the_variable_for_a_format_that_is_decoded_first() -> None:
    header = struct.pack("<IHHIIiiHHIIiiII", 0, 0, 0, 62, 40, WIDTH, HEIGHT, 1, 1, 0, 0, 0, 0, 2, 2)

    with pytest.raises(MediaError, match=r"bomb\.bmp is too large.* set SNELLEN_MAX_MEGAPIXELS"):
        load(Image(b"BM" + header + b"\0" * 1000, label="bomb.bmp"))


@pytest.mark.parametrize("text", ["many", "0", "-3", "nan", "inf", "1e400"])
def test_a_limit_that_is_no_number_of_pixels_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    out = BytesIO()
    PIL.Image.fromarray(np.zeros((2, 3), np.uint8)).save(out, "PNG")
    monkeypatch.setenv(VARIABLE, text)

    with pytest.raises(UsageError, match=f"SNELLEN_MAX_MEGAPIXELS is '{text}'"):
        load(Image(out.getvalue()))
