"""The tool of the plug-in."""

from snellen.tools import Shown


def measure(shown: Shown, *, picture: int = 1) -> str:
    """Measure the width of a picture in pixels. It is an example."""
    width, _ = shown.picture(picture).size
    return f"{width} pixels"
