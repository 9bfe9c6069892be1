"""Paths that may be on an object store, as options and arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from snellen.store import data_at, path_of, runs_at


class StorePath(click.Path):
    """A path on this machine, or `s3://BUCKET/...`, for which `at` finds the mirror."""

    def __init__(self, at: Callable[[str | Path], Path]) -> None:
        super().__init__(path_type=Path)
        self._at = at

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return self._at(value)


OUT = StorePath(path_of)
"""Where runs are created."""
RUNS = StorePath(runs_at)
"""Runs, folders of runs, or predictions; updates the mirror."""
DATA = StorePath(data_at)
"""Rows and the files that they name; updates the mirror."""
