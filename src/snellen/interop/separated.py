"""Writes comma- and tab-separated files."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from snellen.data import placed
from snellen.data.spreadsheet_cells import cell, harmless

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def write(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    formulas: Literal["harmless", "kept"] = "harmless",
) -> list[str]:
    """Write rows under a header, in UTF-8 and with every cell in quotes. The extension (.csv, .tsv)
    determines the separator. Returns notes for the user.

    Text that a spreadsheet program would run as a formula gets an apostrophe. With
    `formulas="kept"`, for files that another program reads, such text stays unchanged. In both
    cases, a note states the number of such cells.

    Raises:
        DataError: a cell is not a finite number or contains half a surrogate pair, or the file
            cannot be written.
    """
    changed = 0
    with placed(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(
            file, delimiter=DELIMITERS[path.suffix], quoting=csv.QUOTE_ALL, lineterminator="\n"
        )
        out.writerow(columns)
        for number, row in enumerate(rows, 1):
            cells = []
            for name, value in zip(columns, row, strict=True):
                value_of_cell = cell(value, f"{path.name}: {name!r} of row {number}")
                text = "" if value_of_cell is None else str(value_of_cell)
                safe = harmless(text)
                cells.append(text if formulas == "kept" else safe)
                changed += safe != text
            out.writerow(cells)
    words = {
        "harmless": f"{changed:,} cells that a spreadsheet program would take for formulas now "
        "begin with an apostrophe",
        "kept": f"{changed:,} cells begin like a formula. These cells are unchanged, because "
        "another program reads this file. Do not open it in a spreadsheet program",
    }
    return [words[formulas]] * bool(changed)
