"""Pictures decoded, turned upright, scaled, and saved, by Pillow.

Imported with the first picture that has to be decoded: most are sent as they are, and Pillow and
NumPy take longer to import than many commands to run.
"""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, ImageOps
from PIL import Image as pillow

from snellen.errors import MediaError
from snellen.media.images import check_size
from snellen.media.sizes import at_least, within

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
# What Pillow raises on damaged files; TypeError is a TIFF without dimensions.
DAMAGED = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error, zlib.error)
# How each type is saved, as close to the pixels as it can be.
SAVED: Mapping[str, Mapping[str, Any]] = {
    "image/jpeg": {"format": "JPEG", "quality": 95, "subsampling": "4:4:4"},
    "image/png": {"format": "PNG"},
    "image/webp": {"format": "WEBP", "lossless": True},
}
STEP = 0.9
"""The largest factor by which a side shrinks when a file has too many bytes."""


class Decoder:
    """An encoded picture and its conversions. Error messages call it `label`.

    Raises:
        MediaError: (from all methods but `upright_size`) the data are damaged, or too large.
    """

    def __init__(self, data: bytes, label: str) -> None:
        self._data = data
        self._label = label

    def png(self) -> tuple[bytes, str]:
        """The picture as a PNG file, without loss, and a description."""
        with self._decoded() as picture:
            return _png(picture)

    def pixels(self) -> NDArray[np.uint8]:
        """(height, width, 3), RGB, upright, on white."""
        with self._decoded() as picture:
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I;16"):
                gray = (np.asarray(upright) >> 8).astype(np.uint8)
                return np.repeat(gray[:, :, None], 3, axis=2)
            return np.array(_on_white(upright).convert("RGB"))

    def gray(self, side: int) -> NDArray[np.uint8]:
        """(side, side), upright, on white."""
        # At twice the wanted size, a JPEG's own scaling is not visible.
        with self._decoded(draft=(2 * side, 2 * side)) as picture:
            if picture.mode.startswith("I;16"):
                gray = pillow.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
            else:
                gray = _on_white(picture).convert("L")
            # Turned upright after scaling: a square stays a square.
            small = gray.resize((side, side), pillow.Resampling.BOX)
            turned = ExifTags.Base.Orientation
            small.getexif()[turned] = picture.getexif().get(turned, 1)
            return np.array(ImageOps.exif_transpose(small))

    def smaller(
        self, mime: str | None, max_side: int | None, max_pixels: int | None, max_bytes: int | None
    ) -> bytes | None:
        """A file of that type, else a PNG, within the limits. None if no size fits."""
        kind = SAVED.get(mime or "", SAVED["image/png"])
        with self._decoded() as picture:
            upright = _scalable(picture)
            size: tuple[int, int] = within(upright.size, max_side, max_pixels)
            while True:
                data = _scaled(upright, size, kind)
                if max_bytes is None or len(data) <= max_bytes:
                    return data
                longest = int(max(size) * min(STEP, math.sqrt(max_bytes / len(data))))
                if not longest:
                    return None
                size = within(upright.size, longest, max_pixels)

    def larger(self, mime: str | None, min_pixels: int) -> bytes:
        """A file of that type, else a PNG, with at least that many pixels."""
        with self._decoded() as picture:
            upright = _scalable(picture)
            size = at_least(upright.size, min_pixels)
            return _scaled(upright, size, SAVED.get(mime or "", SAVED["image/png"]))

    def upright_size(self) -> tuple[int, int] | None:
        """The size of the upright picture, without decoding pixels. None if it cannot be read."""
        try:
            with self._opened() as picture:
                width, height = picture.size
                if picture.format == "TIFF":  # some versions of Pillow swap that size
                    width, height = (getattr(picture, "tag_v2")[tag] for tag in (256, 257))  # noqa: B009
                turned = picture.getexif().get(ExifTags.Base.Orientation, 1)
        except MediaError:
            return None
        return (height, width) if turned in (5, 6, 7, 8) else (width, height)

    @contextmanager
    def _decoded(self, draft: tuple[int, int] | None = None) -> Iterator[pillow.Image]:
        """A `draft` of a JPEG is gray and may be smaller, of that size at least."""
        with self._opened() as picture:
            check_size(self._label, *picture.size)
            if draft is not None:
                picture.draft("L", draft)
            picture.load()
            yield picture

    @contextmanager
    def _opened(self) -> Iterator[pillow.Image]:
        """The open picture. Pillow's errors about damage become MediaErrors."""
        try:
            with warnings.catch_warnings():
                # Pillow warns of odd metadata and of half the bomb limit. Both are harmless.
                warnings.filterwarnings("ignore", module="PIL")
                with pillow.open(BytesIO(self._data), formats=FORMATS) as picture:
                    yield picture
        except pillow.DecompressionBombError as error:
            raise MediaError(f"{self._label} is too large: {error}") from error
        except MemoryError as error:
            raise MediaError(f"{self._label} does not fit into memory once decoded.") from error
        except DAMAGED as error:
            raise MediaError(
                f"{self._label} cannot be decoded: {error}. Get the file again, or re-save it."
            ) from error


def encoded(value: Any, label: str) -> bytes:
    """A Pillow picture, or an array (height, width) or (height, width, 1, 3, or 4) of 8-bit gray,
    RGB, or RGBA, as a lossless PNG file.

    Raises:
        MediaError: the array has another form, or the picture cannot be saved.
    """
    if not isinstance(value, pillow.Image):
        is_picture = value.ndim == 2 or (value.ndim == 3 and value.shape[2] in (1, 3, 4))
        if value.dtype != "uint8" or not is_picture or not value.size:
            raise MediaError(
                f"{label} is an array of {value.dtype} of shape {value.shape}. A picture must be "
                "uint8 of shape (height, width) or (height, width, 1, 3, or 4), in RGB."
            )
        value = pillow.fromarray(value[:, :, 0] if value.shape[2:] == (1,) else value)
    try:
        return _png(value)[0]
    except DAMAGED as error:
        raise MediaError(f"{label} cannot be saved as PNG: {error}.") from error


def _png(picture: pillow.Image) -> tuple[bytes, str]:
    """PNG bytes and a description. Of an animation, only the first frame is kept."""
    upright = ImageOps.exif_transpose(picture)
    if upright.mode in ("F", "I"):
        raise ValueError(f"its samples have 32 bits (mode {upright.mode}). Save it with 8 or 16")
    as_it_is = upright.mode in ("1", "L", "LA", "P", "RGB", "RGBA") or upright.mode.startswith(
        "I;16"
    )
    if not as_it_is:
        upright = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    out = BytesIO()
    upright.save(out, "PNG", icc_profile=upright.info.get("icc_profile") if as_it_is else None)
    frames = getattr(picture, "n_frames", 1)
    return out.getvalue(), "first frame, as PNG" if frames > 1 else "as PNG"


def _on_white(picture: pillow.Image) -> pillow.Image:
    if not picture.has_transparency_data:
        return picture
    white = pillow.new("RGBA", picture.size, "white")
    return pillow.alpha_composite(white, picture.convert("RGBA"))


def _scalable(picture: pillow.Image) -> pillow.Image:
    """The upright picture with samples that can be averaged, which a palette's cannot."""
    upright = ImageOps.exif_transpose(picture)
    if upright.mode.startswith("I;16"):
        return upright  # 16 bits, which converting would cut to 8
    if upright.has_transparency_data:
        return upright if upright.mode in ("LA", "RGBA") else upright.convert("RGBA")
    return upright.convert({"1": "L", "P": "RGB"}.get(upright.mode, upright.mode))


def _scaled(picture: pillow.Image, size: tuple[int, int], kind: Mapping[str, Any]) -> bytes:
    out = BytesIO()
    scaled = picture if size == picture.size else picture.resize(size, pillow.Resampling.LANCZOS)
    scaled.save(out, icc_profile=picture.info.get("icc_profile"), **kind)
    return out.getvalue()
