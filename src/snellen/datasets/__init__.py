"""Rows of data sets, from files or drawn by the package itself."""

from snellen.datasets._find import Found, find, home
from snellen.datasets._json import json_list, jsonl
from snellen.datasets._lines import utf8, without_mark
from snellen.datasets._parquet import parquet
from snellen.datasets._placed import placed
from snellen.datasets._rows import rows_of
from snellen.datasets._sheets import csv, missing_note, read_as_missing, tsv
from snellen.datasets._table import (
    Drawn,
    Facts,
    Filtered,
    Row,
    Seekable,
    Table,
    facts_of,
    rows_at,
)
from snellen.datasets._vlmevalkit import vlmevalkit_tsv

__all__ = [
    "Drawn",
    "Facts",
    "Filtered",
    "Found",
    "Row",
    "Seekable",
    "Table",
    "csv",
    "facts_of",
    "find",
    "home",
    "json_list",
    "jsonl",
    "missing_note",
    "parquet",
    "placed",
    "read_as_missing",
    "rows_at",
    "rows_of",
    "tsv",
    "utf8",
    "vlmevalkit_tsv",
    "without_mark",
]
