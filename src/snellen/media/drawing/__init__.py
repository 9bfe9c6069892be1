"""Pictures that the package draws itself, equal byte for byte on every machine.

Integers only: shapes are laid on pixels by exact shares of area, and the PNG writer is our own.
Numpy is imported with this folder: only what draws pictures imports it, and that late.
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
