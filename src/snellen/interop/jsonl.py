"""Writes JSON files: one object per line, a list, or a single object keyed by id."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from snellen.data import placed
from snellen.data.spreadsheet_cells import encodable
from snellen.errors import DataError


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Write each row as one line with a JSON object. Values are not changed; None becomes null.
    Returns an empty list, because there are no notes for the user.

    Raises:
        DataError: a value is not a finite number or contains half a surrogate pair, or the file
            cannot be written.
    """
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        for number, row in enumerate(rows, 1):
            fields = dict(zip(columns, row, strict=True))
            file.write(_json(fields, f"{path.name}: row {number}") + "\n")
    return []


def write_list(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Like `write`, but writes a single list, which is the format that most test servers accept."""
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        before = "[\n"
        for number, row in enumerate(rows, 1):
            fields = dict(zip(columns, row, strict=True))
            file.write(before + _json(fields, f"{path.name}: row {number}"))
            before = ",\n"
        file.write("[]\n" if before == "[\n" else "\n]\n")
    return []


def write_by_id(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Like `write_list`, but writes one object with the first column as keys and the second as
    values. Keys in JSON are text, so the ids 1 and "1" are the same key.

    Raises:
        DataError: two rows have the same id.
    """
    assert len(columns) == 2, "an id and a value"
    seen: set[str] = set()
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        before = "{\n"
        for number, (key, value) in enumerate(rows, 1):
            where, name = f"{path.name}: row {number}", str(key)
            if name in seen:
                raise DataError(f"{where} has the same id {name!r} as an earlier row.")
            seen.add(name)
            file.write(f"{before}{_json(name, where)}: {_json(value, where)}")
            before = ",\n"
        file.write("{}\n" if before == "{\n" else "\n}\n")
    return []


def _json(value: object, where: str) -> str:
    try:
        return encodable(json.dumps(value, ensure_ascii=False, allow_nan=False), where)
    except ValueError as error:
        raise DataError(f"{where} has a number that JSON cannot represent: {error}.") from error
