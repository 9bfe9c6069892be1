"""Files of results as benchmarks' authors publish them."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

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
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            return None
        return json.loads(raw, parse_constant=lambda _: None)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        # Whoever reads any file of predictions says what is wrong with this one.
        return None
