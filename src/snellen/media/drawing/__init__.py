"""Draws pictures that are byte for byte the same on every machine.

All computations use integers, and a pixel is colored according to the exact share of its area that
a shape covers. The package has its own PNG encoder. The package imports NumPy, so other modules
import the package only to draw something.
"""

from snellen.media.drawing._canvas import UNIT, Canvas
from snellen.media.drawing._glyphs import glyph
from snellen.media.drawing.clip import (
    CLIP_KINDS,
    ClipQuestion,
    Script,
    ShownLetter,
    clip_frame,
    clip_script,
    write_clip,
)

__all__ = [
    "CLIP_KINDS",
    "UNIT",
    "Canvas",
    "ClipQuestion",
    "Script",
    "ShownLetter",
    "clip_frame",
    "clip_script",
    "glyph",
    "write_clip",
]
