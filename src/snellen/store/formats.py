"""The format numbers of stored lines and files, and the numbers that this version can read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from snellen.errors import StoreError

FORMAT = 0
"""The format number of a line that uses no feature of a later format."""
NEWEST = 1
"""The highest format number that this version reads and writes. The number is increased when
earlier versions of Snellen could misread new lines. Format 1 has steps, tool calls, and parts of a
run."""

MAX_COUNT = 2**31
Count = Annotated[int, msgspec.Meta(ge=0, lt=MAX_COUNT)]
RowIndex = Annotated[int, msgspec.Meta(ge=0, lt=10**8)]
"""A row index. A larger number is a sign of a damaged file, and an index with so many rows would
take too much memory."""
FormatNumber = Annotated[int, msgspec.Meta(ge=0)]


def check_format(number: int, path: Path) -> None:
    """Check that this version can read a line or a file with this format number.

    Raises:
        StoreError: a later version of Snellen wrote the line or file.
    """
    if number > NEWEST:
        raise StoreError(
            f"{path} has format {number}, but this version of Snellen reads formats up to "
            f"{NEWEST}. Install the version that wrote it, or a later one."
        )
