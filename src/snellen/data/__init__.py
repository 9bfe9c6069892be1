"""Reads data sets as tables of rows, downloads their files, and unpacks archives.

This package may import `media` and `transport`. No module here depends on benchmarks. Start reading
at `table.py`, then `_row_files.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.data._json_rows import json_list as json_list, jsonl as jsonl
    from snellen.data._placed import placed as placed
    from snellen.data._row_files import rows_of as rows_of
    from snellen.data._vlmevalkit import vlmevalkit_tsv as vlmevalkit_tsv
    from snellen.data.lines import (
        file_content as file_content,
        utf8 as utf8,
        without_mark as without_mark,
    )
    from snellen.data.locations import DataFile as DataFile, find as find
    from snellen.data.parquet_files import parquet as parquet
    from snellen.data.sheets import (
        csv as csv,
        missing_note as missing_note,
        read_as_missing as read_as_missing,
        tsv as tsv,
    )
    from snellen.data.table import (
        Drawn as Drawn,
        Facts as Facts,
        Filtered as Filtered,
        Noted as Noted,
        Row as Row,
        Seekable as Seekable,
        Table as Table,
        facts_of as facts_of,
        has_all_positions as has_all_positions,
        rows_at as rows_at,
        unreadable as unreadable,
        problem as problem,
    )

_FILES = {
    "DataFile": "locations",
    "Drawn": "table",
    "Facts": "table",
    "Filtered": "table",
    "Noted": "table",
    "Row": "table",
    "Seekable": "table",
    "Table": "table",
    "csv": "sheets",
    "facts_of": "table",
    "file_content": "lines",
    "find": "locations",
    "has_all_positions": "table",
    "json_list": "_json_rows",
    "jsonl": "_json_rows",
    "missing_note": "sheets",
    "parquet": "parquet_files",
    "placed": "_placed",
    "read_as_missing": "sheets",
    "rows_at": "table",
    "problem": "table",
    "unreadable": "table",
    "rows_of": "_row_files",
    "tsv": "sheets",
    "utf8": "lines",
    "vlmevalkit_tsv": "_vlmevalkit",
    "without_mark": "lines",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
