"""Pictures in memory, saved as PNG."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

from snellen.errors import MediaError

if TYPE_CHECKING:
    import PIL.Image

# What Pillow raises on damaged files; TypeError is a TIFF without dimensions.
DAMAGED = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error, zlib.error)


def png(picture: PIL.Image.Image) -> tuple[bytes, str]:
    """The picture as a PNG file, and a description. Of an animation, only the first frame."""
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(picture)
    if upright.mode in ("F", "I"):
        raise ValueError(f"its samples have 32 bits (mode {upright.mode}). Save it with 8 or 16")
    as_it_is = upright.mode in (
        "1",
        "L",
        "LA",
        "P",
        "RGB",
        "RGBA",
    ) or upright.mode.startswith("I;16")
    if not as_it_is:
        upright = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    out = BytesIO()
    upright.save(out, "PNG", icc_profile=upright.info.get("icc_profile") if as_it_is else None)
    frames = getattr(picture, "n_frames", 1)
    return out.getvalue(), "first frame, as PNG" if frames > 1 else "as PNG"


def is_pillow(value: object) -> bool:
    """Whether it is a Pillow image. Does not import Pillow."""
    return any(parent.__module__ == "PIL.Image" for parent in type(value).__mro__)


def is_array(value: object) -> bool:
    """Whether it is a NumPy array. Does not import NumPy."""
    return any(parent.__module__ == "numpy" for parent in type(value).__mro__)


def encoded(value: Any, label: str) -> bytes:
    """A picture of Pillow's, or an array (height, width) or (height, width, 1, 3, or 4) of 8-bit
    gray, RGB, or RGBA, as a PNG file, without loss.

    Raises:
        MediaError: it is an array of another form, or cannot be saved.
    """
    from PIL import Image as pillow

    if is_array(value):
        is_picture = value.ndim == 2 or (value.ndim == 3 and value.shape[2] in (1, 3, 4))
        if value.dtype != "uint8" or not is_picture or not value.size:
            raise MediaError(
                f"{label} is an array of {value.dtype} of shape {value.shape}. A picture must be "
                "uint8 of shape (height, width) or (height, width, 1, 3, or 4), in RGB."
            )
        value = pillow.fromarray(value[:, :, 0] if value.shape[2:] == (1,) else value)
    try:
        return png(value)[0]
    except DAMAGED as error:
        raise MediaError(f"{label} cannot be saved as PNG: {error}.") from error
