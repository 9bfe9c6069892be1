"""Rows of data sets: tables, archives, and downloads.

May import media and transport. Nothing here knows what a benchmark is.
Start with `table.py`, then `_row_files.py`.
"""

from snellen.data._json_rows import json_list, jsonl
from snellen.data._placed import placed
from snellen.data._row_files import rows_of
from snellen.data._vlmevalkit import vlmevalkit_tsv
from snellen.data.lines import file_content, utf8, without_mark
from snellen.data.locations import DataFile, find
from snellen.data.parquet_files import parquet
from snellen.data.sheets import csv, missing_note, read_as_missing, tsv
from snellen.data.table import Drawn, Facts, Filtered, Row, Seekable, Table, facts_of, rows_at

__all__ = [
    "DataFile",
    "Drawn",
    "Facts",
    "Filtered",
    "Row",
    "Seekable",
    "Table",
    "csv",
    "facts_of",
    "file_content",
    "find",
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
