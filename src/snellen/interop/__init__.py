"""Reads other tools' files (`predictions`) and writes them; each module handles one kind.

May import core, data, and store. Start with `predictions.py` for reading, and with `exchange.py`
for runs that are written with their scores.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
