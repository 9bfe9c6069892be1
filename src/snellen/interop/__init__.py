"""Reads and writes other tools' files. `predictions` reads them; each other module writes one kind.

This package may import core and data. Start with `predictions.py`.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
