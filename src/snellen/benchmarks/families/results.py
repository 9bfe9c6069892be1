"""Read result files in the formats that benchmark authors publish."""

import json
from pathlib import Path
from typing import Any

from snellen.data import file_content
from snellen.errors import DataError

MOST_BYTES = 500_000_000
"""The maximum size of an unpacked file, in bytes. The whole file is read into memory."""


def of_json(path: Path) -> Any:
    """Return the content of a JSON file, gzipped or not.

    The result is None for a folder, for a file of another kind, and for a file that cannot be read
    or parsed. NaN and Infinity, which Python's json module writes but JSON does not allow, are read
    as None.
    """
    if not path.is_file() or path.name.removesuffix(".gz")[-5:].lower() != ".json":
        return None
    return _loaded(path)


def json_object(path: Path) -> dict[str, Any] | None:
    """Return the content of a .json or .jsonl file that is a single JSON object, or None for a
    folder or any other file."""
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file() or not name.endswith((".json", ".jsonl")):
        return None
    held = _loaded(path)
    return held if isinstance(held, dict) else None


def _loaded(path: Path) -> Any:
    try:
        return json.loads(file_content(path, MOST_BYTES), parse_constant=lambda _: None)
    except (DataError, ValueError, RecursionError):
        # The general reader of prediction files then reads this file and reports the error.
        return None
