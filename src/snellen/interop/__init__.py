"""Reads other tools' files (`predictions`) and writes them; each module handles one kind.

May import core and data. Start with `predictions.py`.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
