"""The format number of each stored line and document, and the numbers that this version reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from snellen.errors import StoreError

FORMAT = 0
"""The number that is written if nothing of a later format is used."""
NEWEST = 1
"""It is raised when earlier versions could misread a line that is written now. 1: steps, tool
calls, parts of a run."""

MAX_COUNT = 2**31
Count = Annotated[int, msgspec.Meta(ge=0, lt=MAX_COUNT)]
RowIndex = Annotated[int, msgspec.Meta(ge=0, lt=10**8)]
"""A larger number is a sign of damage, and would need memory of that size."""
FormatNumber = Annotated[int, msgspec.Meta(ge=0)]


def check_format(number: int, path: Path) -> None:
    """Check that a line or document of this number can be read.

    Raises:
        StoreError: a later version wrote it.
    """
    if number > NEWEST:
        raise StoreError(
            f"{path} is of format {number}; this version reads up to {NEWEST}. "
            "Install the version of Snellen that wrote it, or a later one."
        )
