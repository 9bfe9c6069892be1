"""The kinds of blind runs.

They have a module of their own, so that the command line can list them without importing
benchmarks.
"""

from typing import Literal

Blind = Literal["none", "blank", "other"]
CHANGES = {
    "none": "without pictures",
    "blank": "with gray pictures",
    "other": "with other questions' pictures",
}
"""A phrase for each kind of blind run that states how the questions are asked. Comparisons and the
help text of `--blind` contain this phrase."""
