"""Reads the rows of a file in any supported format, each with a label for messages."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from snellen.data import csv, spreadsheets, tsv
from snellen.data.spreadsheet_cells import original
from snellen.errors import DataError
from snellen.interop import _json, every_eval_ever, inspect_log, lm_eval, lmms_eval
from snellen.interop._answered import EXPORTED
from snellen.interop._layout import ID, REPEAT, REPLY, repeat_of

INSPECT = ".eval"
KINDS = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", INSPECT)
LabeledRow = tuple[str, Mapping[str, Any]]
"""The label of a row ("row 3"), and its fields. A field is text, a number, a boolean, a `NoText`, a
list, or an object."""

INSTEAD = {
    ".xls": "The extension .xls stands for the old spreadsheet format. Save the spreadsheet as "
    ".xlsx, .csv or .tsv.",
    ".pkl": "Snellen never opens a pickle, because a pickle can run programs. VLMEvalKit also "
    "writes .xlsx, .tsv and .json (PRED_FORMAT).",
}


def rows_of(path: Path) -> Iterator[LabeledRow]:
    """The rows of a JSONL, JSON, CSV, or TSV file (with or without .gz), of an XLSX file, or of an
    Inspect log. Two kinds of rows are converted to the columns that `_layout` names: lines of
    Every Eval Ever, and samples of lm-eval with several replies to a question.

    Raises:
        DataError: the extension is not supported, or the content does not match the extension.
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
    if kind == INSPECT:
        return inspect_log.rows_of(path)
    if kind == ".xlsx":
        return spreadsheets.sheet_rows(path)
    if kind in (".csv", ".tsv"):
        table = csv(path) if kind == ".csv" else tsv(path)
        return ((f"row {row.position + 1}", _as_stored(row)) for row in table)
    return chain.from_iterable(_of_log(path, label, row) for label, row in _json.rows_of(path))


def _of_log(path: Path, label: str, row: Mapping[str, Any]) -> Iterator[LabeledRow]:
    """Split a row of another tool's log into one row for each repeat. Other rows stay unchanged."""
    where = f"{path}: {label}"
    if every_eval_ever.is_line(row):
        yield label, every_eval_ever.row_of(row, where)
        return
    texts = lm_eval.responses(row) or lmms_eval.responses(row)
    if texts is None or (len(texts) == 1 and not lm_eval.has_repeats(row)):
        yield label, row
        return
    name = lm_eval.sample_id(row)
    own_id = {} if name is None else {ID: name}
    for repeat, text in texts:
        yield label, {**row, **own_id, REPEAT: repeat_of(repeat, where), REPLY: text}


def _as_stored(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """If the row is from one of Snellen's own tables, remove the apostrophes that keep spreadsheet
    programs from running text as formulas. In other tables, an apostrophe belongs to the reply."""
    if row.keys() != set(EXPORTED):
        return row
    return {
        name: original(value) if isinstance(value, str) else value for name, value in row.items()
    }


def kind_of(path: Path) -> str:
    """The extension of a file name in lowercase. The extension of a compressed text file is that of
    its content: `.jsonl` for `a.jsonl.gz`. XLSX files must not be compressed, so it is `.gz` for
    `a.xlsx.gz`."""
    inner = Path(path.name.removesuffix(".gz")).suffix.lower()
    return ".gz" if inner == ".xlsx" and path.suffix == ".gz" else inner
