"""Finds the runs below a folder, and the times at which they started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from snellen.errors import StoreError
from snellen.store.folder import Folder
from snellen.store.manifest import MANIFEST, read_manifest

DEPTH = 6
"""The number of levels of folders that are searched for runs: the three levels BENCHMARK, MODEL,
and IDENTITY, and three levels above them."""
LISTED = 10
"""The maximum number of runs that a note lists."""


def runs_below(folder: Path, *, links: bool = True) -> list[Path]:
    """Find the runs below a folder, at most `DEPTH` levels deep. Judges' runs, which are inside
    other runs, are skipped, and so are hidden folders. With `links`, symbolic links are followed,
    except to folders that are searched anyway."""
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


def started(run: Path) -> str:
    """The time at which a run's first process started, in UTC, such as `2026-01-31T09:30:00.125Z`;
    "" if it is not known. Sorting these strings sorts the times."""
    try:
        sessions = read_manifest(Folder(run)).get("sessions", [])
    except (StoreError, OSError):
        return ""
    return str(sessions[0].get("started", "")) if sessions else ""


def runs_elsewhere(folder: Path, runs: Sequence[Path]) -> str | None:
    """A note that lists the runs of a folder; None if the path of each run below the folder has the
    form BENCHMARK/MODEL/IDENTITY."""
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
        return []  # there is no permission, or the folder was removed
