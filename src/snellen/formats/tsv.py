"""Tab-separated files, out."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from snellen.formats._separated import Formulas, write_separated


def write(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    formulas: Formulas = "harmless",
) -> list[str]:
    """Write rows under a header, in UTF-8, every cell in quotes; gives what a reader must know.

    `formulas="kept"` is for a file that a program reads: cells stay as they are. Otherwise text
    that a spreadsheet program would run gets an apostrophe before it, and a note counts such cells.

    Raises:
        DataError: a cell is no finite number or has half a character, or the file cannot be
        written.
    """
    return write_separated(path, columns, rows, "\t", formulas)
