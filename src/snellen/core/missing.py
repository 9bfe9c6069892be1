"""How questions without a reply count.

The type has a module of its own, so that the command line can declare its options without importing
scorings.
"""

from typing import Literal

Missing = Literal["wrong", "excluded"]
