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
"""How the questions are asked, for each kind of blind run. Comparisons and the option's help text
contain these words."""
