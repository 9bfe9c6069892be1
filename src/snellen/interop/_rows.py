"""Reads the rows of a file in any supported format, each with a label for messages."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snellen.data import csv, spreadsheets, tsv
from snellen.data.spreadsheet_cells import original
from snellen.errors import DataError
from snellen.interop import _json
from snellen.interop._answered import EXPORTED

KINDS = (".jsonl", ".json", ".csv", ".tsv", ".xlsx")
LabeledRow = tuple[str, Mapping[str, Any]]
"""The label of a row ("row 3"), and its fields. A field is text, a number, a boolean, a `NoText`, a
list, or an object."""

INSTEAD = {
    ".xls": "That is the old spreadsheet format. Save it as .xlsx, .csv or .tsv.",
    ".pkl": "A pickle can run programs and is never opened. VLMEvalKit also writes .xlsx, .tsv and "
    ".json (PRED_FORMAT).",
}


def rows_of(path: Path) -> Iterator[LabeledRow]:
    """The rows of a JSONL, JSON, CSV, or TSV file (with or without .gz), or of an XLSX file.

    Raises:
        DataError: the name has another extension, or the content does not match the extension.
    """
    kind = kind_of(path)
    if kind not in KINDS:
        known = (
            f"Use a file that ends in {', '.join(KINDS)}. Text files may also be compressed (.gz)."
        )
        raise DataError(
            f"{path} does not have the extension of a file of predictions. "
            f"{INSTEAD.get(kind, known)}"
        )
    if kind == ".xlsx":
        return spreadsheets.sheet_rows(path)
    if kind in (".csv", ".tsv"):
        table = csv(path) if kind == ".csv" else tsv(path)
        return ((f"row {row.position + 1}", _as_stored(row)) for row in table)
    return _json.rows_of(path)


def _as_stored(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """If the row is from one of Snellen's own tables, remove the apostrophes that keep spreadsheet
    programs from running text as formulas. In other tables, an apostrophe belongs to the reply."""
    if row.keys() != set(EXPORTED):
        return row
    return {
        name: original(value) if isinstance(value, str) else value for name, value in row.items()
    }


def kind_of(path: Path) -> str:
    """The extension of a name in lowercase, without .gz. For `.xlsx.gz` it is `.gz`."""
    inner = Path(path.name.removesuffix(".gz")).suffix.lower()
    return ".gz" if inner == ".xlsx" and path.suffix == ".gz" else inner
