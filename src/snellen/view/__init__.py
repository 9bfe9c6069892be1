"""The viewer: runs in a browser on this machine, also while they are written.

May import everything below it but the command line.
Start with `pages.py`.
"""

from snellen.view._serve import serve

__all__ = ["serve"]
