"""Parts of pictures are PNG files with the pixels, the color mode, and the profile of the
original. Pillow writes the originals and reads the parts."""

from io import BytesIO

import numpy as np
import PIL.Image
import pytest
from PIL import ImageCms

from snellen.media.content import Image
from snellen.media.images import part
from snellen.media.quick_png import quick_png

BOX = (3, 5, 44, 31)
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def noise(*shape: int) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.random.default_rng(5).integers(0, 256, shape, dtype=np.uint8))


def png(drawn: PIL.Image.Image, **options: object) -> bytes:
    out = BytesIO()
    drawn.save(out, "PNG", **options)
    return out.getvalue()


def sixteen_bits() -> PIL.Image.Image:
    samples = np.random.default_rng(6).integers(0, 1 << 16, (40, 50)).astype(np.uint16)
    return PIL.Image.fromarray(samples)


ORIGINALS = {
    "gray": png(noise(40, 50)),
    "gray with alpha": png(noise(40, 50, 2)),
    "color": png(noise(40, 50, 3)),
    "color with alpha": png(noise(40, 50, 4)),
    "black and white": png(noise(40, 50).convert("1")),
    "palette": png(noise(40, 50, 3).convert("P")),
    "palette with a transparent color": png(noise(40, 50, 3).convert("P"), transparency=3),
    "color with a transparent color": png(noise(40, 50, 3), transparency=(1, 2, 3)),
    "16 bits": png(sixteen_bits()),
    "profile": png(noise(40, 50, 3), icc_profile=PROFILE),
    "palette with a profile": png(noise(40, 50, 3).convert("P"), icc_profile=PROFILE),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_part_has_the_pixels_and_the_mode_of_the_original(name: str) -> None:
    original = PIL.Image.open(BytesIO(ORIGINALS[name]))

    shown = part(Image(ORIGINALS[name]), BOX, 0, max_pixels=10**6)

    assert isinstance(shown.source, bytes) and shown.mime == "image/png"
    read = PIL.Image.open(BytesIO(shown.source))
    by_hand = original.crop(BOX)
    assert (read.mode, read.size) == (original.mode, (41, 26))
    assert read.convert("RGBA").tobytes() == by_hand.convert("RGBA").tobytes()
    assert read.tobytes() == by_hand.tobytes()
    assert read.info.get("icc_profile") == original.info.get("icc_profile")
    assert read.info.get("transparency") == original.info.get("transparency")


def test_a_profile_without_bytes_is_left_out() -> None:
    data = quick_png(np.zeros((2, 3), np.uint8), profile=b"")
    assert b"iCCP" not in data
    assert PIL.Image.open(BytesIO(data)).size == (3, 2)


def test_a_part_of_a_photo_is_not_larger_than_a_file_of_pillow_at_the_same_level() -> None:
    y, x = np.mgrid[0:400, 0:600]
    drawn = np.stack([x * 255 // 599, y * 255 // 399, (x + y) % 256], axis=2)
    photo = np.clip(drawn + np.random.default_rng(2).normal(0, 3, drawn.shape), 0, 255)
    original = PIL.Image.fromarray(photo.astype(np.uint8))

    shown = part(Image(png(original)), (0, 0, 600, 400), 0, max_pixels=10**6)

    assert isinstance(shown.source, bytes)
    assert len(shown.source) < 1.05 * len(png(original, compress_level=1))
