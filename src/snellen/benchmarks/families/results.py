"""Files of results as benchmarks' authors publish them."""

import json
from pathlib import Path
from typing import Any

from snellen.data import file_content
from snellen.errors import DataError

MOST_BYTES = 500_000_000
"""The size limit of an unpacked file, which is read into memory."""


def of_json(path: Path) -> Any:
    """The content of a JSON file, gzipped or not; None for a folder, another kind of file, or a
    file that cannot be read.

    Python's writer leaves NaN in JSON, which is read as None.
    """
    if not path.is_file() or path.name.removesuffix(".gz")[-5:].lower() != ".json":
        return None
    return _loaded(path)


def json_object(path: Path) -> dict[str, Any] | None:
    """The one object that is all of a file, whether its name ends in .json or .jsonl; None for any
    other file or a folder."""
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file() or not name.endswith((".json", ".jsonl")):
        return None
    held = _loaded(path)
    return held if isinstance(held, dict) else None


def _loaded(path: Path) -> Any:
    try:
        return json.loads(file_content(path, MOST_BYTES), parse_constant=lambda _: None)
    except (DataError, ValueError, RecursionError):
        # The general reader of prediction files reports what is wrong with this one.
        return None
