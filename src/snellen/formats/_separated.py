"""Writes rows as separated text, every cell in quotes."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from snellen.formats._cells import cell, harmless, placed

Formulas = Literal["harmless", "kept"]


def write_separated(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    delimiter: str,
    formulas: Formulas,
) -> list[str]:
    changed = 0
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
        out.writerow(columns)
        for number, row in enumerate(rows):
            cells = []
            for name, value in zip(columns, row, strict=True):
                found = cell(value, f"{path.name}: {name!r} of row {number}")
                text = "" if found is None else str(found)
                cells.append(text if formulas == "kept" else harmless(text))
                changed += cells[-1] != text
            out.writerow(cells)
    return [
        f"{changed:,} cells that a spreadsheet program would take for formulas have an apostrophe "
        "before them"
    ] * bool(changed)
