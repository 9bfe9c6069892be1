"""JSONL files, out."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from snellen.datasets import placed
from snellen.errors import DataError
from snellen.formats._cells import whole


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Write each row as a line with an object; values are written as they are, None as null. Gives
    what a reader must know: nothing.

    Raises:
        DataError: a value is no finite number or has half a character, or the file cannot be
        written.
    """
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        for number, row in enumerate(rows, 1):
            where = f"{path.name}: row {number}"
            fields = dict(zip(columns, row, strict=True))
            try:
                line = json.dumps(fields, ensure_ascii=False, allow_nan=False)
            except ValueError as error:
                raise DataError(f"{where} has a number that JSON cannot hold: {error}.") from error
            file.write(whole(line, where) + "\n")
    return []
