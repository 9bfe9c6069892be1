"""The folder for what is downloaded and what is remembered between processes.

A file of its own, so that `snellen list` finds it without loading the readers of data.
"""

import os
import sys
from pathlib import Path


def home() -> Path:
    """The cache folder: `SNELLEN_HOME`, or else `snellen` in the platform's cache folder."""
    if folder := os.environ.get("SNELLEN_HOME"):
        return Path(folder).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "snellen"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    folder = os.environ.get(variable)
    return (Path(folder) if folder else Path.home() / ".cache") / "snellen"
