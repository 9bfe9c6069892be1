"""Tools that a model may call while it answers a question: pure functions on the question's media.

A tool is one function in one file. The function's name is the tool's name, its docstring is the
description that the model gets, and its annotated keyword parameters become the JSON schema of the
arguments. Start with `zoom.py`, and see `tool.py` for what a function may return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.media.views import (
        PictureView as PictureView,
        full_view as full_view,
        rendered as rendered,
    )
    from snellen.tools.shown import Shown as Shown, ToolError as ToolError
    from snellen.tools.tool import Tool as Tool, tool_of as tool_of
    from snellen.tools.toolbox import Toolbox as Toolbox

_FILES = {
    "Shown": "shown",
    "Tool": "tool",
    "ToolError": "shown",
    "Toolbox": "toolbox",
    "PictureView": ".media.views",
    "full_view": ".media.views",
    "rendered": ".media.views",
    "tool_of": "tool",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)

VERSIONS = {
    "frame": 1,
    "grid": 1,
    "image_zoom_in_tool": 1,
    "rotate": 1,
    "window": 1,
    "zoom": 1,
}
"""Snellen's own tools, with their versions. A version is increased when the results of calls
change."""
OF_VIDEOS = frozenset(("frame", "window"))
"""Those of Snellen's own tools that need a video."""
