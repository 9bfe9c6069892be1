"""Other tools' files, in (`predictions`) and out; each module is one kind.

May import core and data.
Start with `predictions.py`.
"""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
