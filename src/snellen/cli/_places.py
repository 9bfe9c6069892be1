"""Options and arguments for paths that may be on an object store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from snellen.store import data_at, path_of, runs_at


class StorePath(click.Path):
    """A local path, or the address of an object store (`s3://BUCKET/...`), which `at` converts to
    the path of a local mirror."""

    def __init__(self, at: Callable[[str | Path], Path]) -> None:
        super().__init__(path_type=Path)
        self._at = at

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return self._at(value)


OUT = StorePath(path_of)
"""The folder in which runs are created."""
RUNS = StorePath(runs_at)
"""Runs, folders of runs, or predictions. Parsing an argument of this type updates the local
mirror."""
DATA = StorePath(data_at)
"""Rows, and the files to which the rows refer. Parsing an argument of this type updates the local
mirror."""
