"""Draws coordinates over a picture."""

from __future__ import annotations

from snellen.media.views import PictureView
from snellen.tools.shown import Shown
from snellen.tools.zoom import PictureNumber


def grid(shown: Shown, *, picture: PictureNumber = 1) -> PictureView:
    """Show a picture with a grid of lines at the coordinates 100, 200, and so on up to 900, to find
    out where something is. 0 is the left or top edge, and 1000 the right or bottom edge."""
    return shown.picture(picture).with_grid()
