"""Decodes, rotates, scales, and saves pictures with Pillow.

This module is imported only when a picture must be decoded. Most pictures are sent unchanged, and
importing Pillow and NumPy takes longer than many commands need to run.
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
from snellen.media import limits
from snellen.media._decoded import decoded
from snellen.media.quick_png import quick_png
from snellen.media.sizes import at_least, within

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
# The errors that Pillow raises for damaged files. TypeError is raised for a TIFF without a size.
DAMAGED = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error, zlib.error)
# The options for saving each type with the least loss.
SAVED: Mapping[str, Mapping[str, Any]] = {
    "image/jpeg": {"format": "JPEG", "quality": 95, "subsampling": "4:4:4"},
    "image/png": {"format": "PNG"},
    "image/webp": {"format": "WEBP", "lossless": True},
}
TURNS = {
    1: pillow.Transpose.ROTATE_270,
    2: pillow.Transpose.ROTATE_180,
    3: pillow.Transpose.ROTATE_90,
}
"""Pillow's name of each rotation by quarter turns clockwise. Pillow counts counterclockwise."""
FAST = 1
"""The compression level of parts of pictures. Higher levels take several times as long and save a
few percent."""
Box = tuple[int, int, int, int]
"""The left, top, right, and bottom edges in pixels."""
STEP = 0.9
"""If a file has too many bytes, the picture is scaled down step by step. Each step multiplies the
longer side by at most this factor."""


class Decoder:
    """Converts an encoded picture to other forms. `label` is the name of the picture in error
    messages.

    Raises:
        MediaError: The data is damaged or too large. All methods except `upright_size` can raise
            this error.
    """

    def __init__(self, data: bytes, label: str) -> None:
        self._data = data
        self._label = label

    def png(self) -> tuple[bytes, str]:
        """Convert the picture to PNG without loss. Return the PNG file, and a note on the
        conversion."""
        with self._decoded() as picture:
            return _png(picture)

    def pixels(self) -> NDArray[np.uint8]:
        """The pixels as (height, width, 3), RGB, upright, on a white background."""
        with self._decoded() as picture:
            upright = _upright(picture)
            if upright.mode.startswith("I;16"):
                gray = (np.asarray(upright) >> 8).astype(np.uint8)
                return np.repeat(gray[:, :, None], 3, axis=2)
            return np.array(_in_mode("RGB", _on_white(upright)))

    def gray(self, side: int) -> NDArray[np.uint8]:
        """The gray pixels as (side, side), upright, on a white background."""
        # The decoder may scale a JPEG down, but to no less than twice the wanted size, so no loss
        # is visible.
        with self._decoded(draft=(2 * side, 2 * side)) as picture:
            if picture.mode.startswith("I;16"):
                gray = pillow.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
            else:
                gray = _on_white(picture).convert("L")
            # Rotate after scaling, since a square stays a square.
            small = gray.resize((side, side), pillow.Resampling.BOX)
            turned = ExifTags.Base.Orientation
            small.getexif()[turned] = picture.getexif().get(turned, 1)
            return np.array(ImageOps.exif_transpose(small))

    def smaller(
        self, mime: str | None, max_side: int | None, max_pixels: int | None, max_bytes: int | None
    ) -> bytes | None:
        """A picture file within the limits; None if the file is too large however far the picture
        is scaled down. The file has the type `mime` if that type can be saved, otherwise PNG."""
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
        """A picture file with at least `min_pixels` pixels. The file has the type `mime` if that
        type can be saved, otherwise PNG."""
        with self._decoded() as picture:
            upright = _scalable(picture)
            size = at_least(upright.size, min_pixels)
            return _scaled(upright, size, SAVED.get(mime or "", SAVED["image/png"]))

    def part(self, digest: str, pixels: int, box: Box, turns: int, max_pixels: int) -> bytes:
        """A part of the upright picture as a PNG file, rotated by quarter turns clockwise. The part
        keeps the picture's resolution unless it has more than `max_pixels` pixels. The decoded
        picture, which has this number of `pixels`, is kept under its `digest`."""
        with self._errors(), decoded.picture(digest, pixels, self._upright) as picture:
            part = picture if box == (0, 0, *picture.size) else picture.crop(box)
            if turns:
                part = part.transpose(TURNS[turns])
            size = within(part.size, None, max_pixels)
            if size != part.size:
                part = _scalable(part).resize(size, pillow.Resampling.LANCZOS)
            return _quick_png(part)

    def _upright(self) -> pillow.Image:
        with self._decoded() as picture:
            return _upright(picture)

    def upright_size(self) -> tuple[int, int] | None:
        """The size of the upright picture; None if it cannot be read. No pixels are decoded."""
        try:
            with self._opened() as picture:
                width, height = picture.size
                if picture.format == "TIFF":  # some versions of Pillow swap width and height
                    width, height = (getattr(picture, "tag_v2")[tag] for tag in (256, 257))  # noqa: B009
                turned = picture.getexif().get(ExifTags.Base.Orientation, 1)
        except MediaError:
            return None
        return (height, width) if turned in (5, 6, 7, 8) else (width, height)

    @contextmanager
    def _decoded(self, draft: tuple[int, int] | None = None) -> Iterator[pillow.Image]:
        """Decode the picture. With `draft`, a JPEG is decoded in gray. Its size may be reduced, but
        not below `draft`."""
        with self._opened() as picture:
            limits.check_size(self._label, *picture.size)
            if draft is not None:
                picture.draft("L", draft)
            with decoded.turn(picture.width * picture.height):
                picture.load()
                yield picture

    @contextmanager
    def _opened(self) -> Iterator[pillow.Image]:
        """Open the picture. Pillow's errors for damaged files become MediaErrors."""
        _raise_limit()
        with self._errors(), warnings.catch_warnings():
            # Pillow warns about unusual metadata, and about pictures of more than half the limit
            # for decompression bombs. Both are harmless.
            warnings.filterwarnings("ignore", module="PIL")
            with pillow.open(BytesIO(self._data), formats=FORMATS) as picture:
                yield picture

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert Pillow's errors for damaged and large files to MediaErrors."""
        try:
            yield
        except pillow.DecompressionBombError as error:
            raise MediaError(
                f"{self._label} is too large: {error} Save a smaller copy. If you trust the file, "
                f"set {limits.VARIABLE} to a higher number of megapixels."
            ) from error
        except MemoryError as error:
            raise MediaError(f"{self._label} is too large to be decoded in memory.") from error
        except DAMAGED as error:
            raise MediaError(
                f"{self._label} cannot be decoded: {error}. Download the file again, or re-save it."
            ) from error


def encoded(value: Any, label: str) -> bytes:
    """Encode a Pillow image or an array as a lossless PNG file. An array contains 8-bit gray, RGB,
    or RGBA pixels and has the shape (height, width) or (height, width, 1, 3, or 4).

    Raises:
        MediaError: The array has another shape or type, or the picture cannot be saved.
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


def _raise_limit() -> None:
    """Raise Pillow's limit if the user has raised Snellen's. Pillow refuses pictures of more than
    twice its limit, which is for the whole process."""
    most, limit = limits.max_pixels(), pillow.MAX_IMAGE_PIXELS
    if limit is not None and most > 2 * limit:
        pillow.MAX_IMAGE_PIXELS = most // 2 + 1


def _png(picture: pillow.Image) -> tuple[bytes, str]:
    """Return the picture as PNG bytes, and a note on the conversion. If the picture is an
    animation, only its first frame is kept."""
    data = _saved_png(*_savable(ImageOps.exif_transpose(picture)))
    frames = getattr(picture, "n_frames", 1)
    return data, "first frame, as PNG" if frames > 1 else "as PNG"


def _quick_png(upright: pillow.Image) -> bytes:
    """Return an upright picture as PNG bytes that are written in less time than those of `_png`."""
    savable, profile = _savable(upright)
    is_plain = savable.mode in ("L", "LA", "RGB", "RGBA") and "transparency" not in savable.info
    if is_plain:
        return quick_png(np.asarray(savable), profile=profile)
    return _saved_png(savable, profile, compress_level=FAST)


def _savable(upright: pillow.Image) -> tuple[pillow.Image, bytes | None]:
    """The picture in a mode that PNG has, and its color profile if it still has its own mode."""
    mode = upright.mode
    if mode in ("F", "I"):
        raise ValueError(f"it has 32 bits per sample (mode {mode}). Save it with 8 or 16 bits")
    if mode in ("1", "L", "LA", "P", "RGB", "RGBA") or mode.startswith("I;16"):
        return upright, upright.info.get("icc_profile")
    return upright.convert("RGBA" if upright.has_transparency_data else "RGB"), None


def _saved_png(picture: pillow.Image, profile: bytes | None, **options: int) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG", icc_profile=profile, **options)
    return out.getvalue()


def _upright(picture: pillow.Image) -> pillow.Image:
    """The picture as a person sees it. The picture is not copied if it is upright."""
    is_upright = picture.getexif().get(ExifTags.Base.Orientation, 1) == 1
    return picture if is_upright else ImageOps.exif_transpose(picture)


def _in_mode(mode: str, picture: pillow.Image) -> pillow.Image:
    """The picture in a mode. The picture is not copied if it has this mode."""
    return picture if picture.mode == mode else picture.convert(mode)


def _on_white(picture: pillow.Image) -> pillow.Image:
    if not picture.has_transparency_data:
        return picture
    white = pillow.new("RGBA", picture.size, "white")
    return pillow.alpha_composite(white, picture.convert("RGBA"))


def _scalable(picture: pillow.Image) -> pillow.Image:
    """The upright picture in a mode in which pixels can be averaged. (The indexes of a palette
    cannot be averaged.)"""
    upright = _upright(picture)
    if upright.mode.startswith("I;16"):
        return upright  # converting would reduce 16 bits to 8
    if upright.has_transparency_data:
        return upright if upright.mode in ("LA", "RGBA") else upright.convert("RGBA")
    return _in_mode({"1": "L", "P": "RGB"}.get(upright.mode, upright.mode), upright)


def _scaled(picture: pillow.Image, size: tuple[int, int], kind: Mapping[str, Any]) -> bytes:
    out = BytesIO()
    scaled = picture if size == picture.size else picture.resize(size, pillow.Resampling.LANCZOS)
    scaled.save(out, icc_profile=picture.info.get("icc_profile"), **kind)
    return out.getvalue()
