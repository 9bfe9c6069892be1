"""The viewer: shows runs in a browser on this machine, even while they are in progress.

This package may import every layer below it, but not the command line.
Start with `pages.py`.
"""

from snellen.view._serve import serve

__all__ = ["serve"]
