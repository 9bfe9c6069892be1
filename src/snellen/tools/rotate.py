"""Rotates a picture."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from snellen.media.views import PictureView
from snellen.tools.shown import Shown
from snellen.tools.zoom import PictureNumber

Degrees = Annotated[Literal[90, 180, 270], Meta(description="The angle, in degrees clockwise.")]


def rotate(shown: Shown, *, degrees: Degrees, picture: PictureNumber = 1) -> PictureView:
    """Show a picture rotated clockwise by 90, 180, or 270 degrees, to read text that is upside down
    or sideways."""
    return shown.picture(picture).turned(degrees // 90)
