"""Published outputs and what the official scorers give, where they are at hand."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SNELLEN_GOLDEN") or Path(__file__).parents[2] / "shared/golden")


def golden(name: str) -> Path:
    """The folder of one benchmark's golden data; skips the test, visibly, where it is absent."""
    folder = FOLDER / name
    if not folder.is_dir():
        pytest.skip(f"no golden data at {folder} (SNELLEN_GOLDEN names their folder)")
    return folder
