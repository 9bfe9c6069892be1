"""Draws pictures that are identical byte for byte on every machine.

It uses integers only: shapes cover pixels by exact shares of area, and the PNG writer is our own.
This package imports numpy, so only code that draws pictures imports it, and only on use.
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
