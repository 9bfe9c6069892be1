"""Finds the runs below a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from snellen.store.manifest import MANIFEST

DEPTH = 6
"""How many folders deep runs are searched for: benchmark, model, identity, and three above."""
LISTED = 10
"""How many runs outside of the usual layout are listed."""


def runs_below(folder: Path, *, links: bool = True) -> list[Path]:
    """The runs below a folder, at most `DEPTH` folders deep. Runs inside a run (a judge's) and
    hidden folders are skipped. With `links`, symbolic links are followed, except into folders that
    are searched anyway."""
    root = folder.resolve()
    followed = {root}
    runs: list[Path] = []
    level = [folder]
    for _ in range(DEPTH):
        below: list[Path] = []
        for path in (path for parent in level for path in _folders(parent)):
            if path.is_symlink():
                target = path.resolve()
                if (
                    not links
                    or target in followed
                    or root in target.parents
                    or target in root.parents
                ):
                    continue
                followed.add(target)
            (runs if (path / MANIFEST).exists() else below).append(path)
        level = below
    return sorted(runs)


def runs_elsewhere(folder: Path, runs: Sequence[Path]) -> str | None:
    """A note that lists the runs of a folder. None if all have the usual layout: benchmark, model,
    identity."""
    names = [run.relative_to(folder).as_posix() for run in runs if run != folder]
    if all(name.count("/") == 2 for name in names):
        return None
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"found in {folder}: {', '.join(names[:LISTED])}{rest}"


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                folder / entry.name for entry in entries if entry.name[0] != "." and entry.is_dir()
            ]
    except OSError:
        return []  # no permission, or the folder is gone
