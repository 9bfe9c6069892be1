"""The cache folder, for downloads and for data that is kept between processes.

This file is separate so that `snellen list` can find the folder without importing the code that
reads data.
"""

import os
import sys
from pathlib import Path


def home() -> Path:
    """Return the cache folder: `SNELLEN_HOME` if it is set, otherwise `snellen` in the platform's
    cache folder."""
    if folder := os.environ.get("SNELLEN_HOME"):
        return Path(folder).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "snellen"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    folder = os.environ.get(variable)
    return (Path(folder) if folder else Path.home() / ".cache") / "snellen"
