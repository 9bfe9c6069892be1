"""Other tools' files, in (`predictions`) and out; each module is one kind."""

from snellen.interop._answered import EXPORTED, Answered

__all__ = ["EXPORTED", "Answered"]
