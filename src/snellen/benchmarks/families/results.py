"""Files of results as benchmarks' authors publish them."""

import json
from pathlib import Path
from typing import Any

from snellen.data import file_content
from snellen.errors import DataError

MOST_BYTES = 500_000_000
"""Of a file, unpacked: it is held as a whole."""


def of_json(path: Path) -> Any:
    """What a JSON file holds, gzipped or not; None for a folder, or what is no such file.

    As Python's writer leaves it: NaN is read as None.
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
        # Whoever reads any file of predictions says what is wrong with this one.
        return None
