"""Reads and writes other tools' files. `predictions` reads files of predictions. Most other modules
write one kind of file.

This package may import core, data, and store. To see how files are read, start with
`predictions.py`. To see how runs are written with their scores, start with `exchange.py`.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
