"""Reads and writes other tools' files. `predictions` reads them; each other module writes one kind.

This package may import core, data, and store. Start with `predictions.py` for reading, and with
`exchange.py` for runs that are written with their scores.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
