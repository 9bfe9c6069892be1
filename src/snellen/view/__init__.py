"""The viewer: runs in a browser on this machine, also while they are written."""

from snellen.view._serve import serve

__all__ = ["serve"]
