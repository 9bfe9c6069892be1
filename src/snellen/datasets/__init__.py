"""Rows of data sets, from files or drawn by the package itself."""

from snellen.datasets._find import Found, find, home
from snellen.datasets._json import json_list, jsonl
from snellen.datasets._rows import rows_of
from snellen.datasets._sheets import csv, tsv
from snellen.datasets._table import Drawn, Facts, Filtered, Row, Table

__all__ = [
    "Drawn",
    "Facts",
    "Filtered",
    "Found",
    "Row",
    "Table",
    "csv",
    "find",
    "home",
    "json_list",
    "jsonl",
    "rows_of",
    "tsv",
]
