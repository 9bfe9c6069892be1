"""Runs below a folder, and the folder of a new one among its siblings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from snellen.errors import StoreError
from snellen.store.folder import Folder
from snellen.store.identity import differences, identity_digest, safe_name
from snellen.store.manifest import MANIFEST
from snellen.store.mirrored import pull
from snellen.store.run_folder import Run

DEPTH = 6
"""Folders down to which runs are looked for: benchmark, model and identity, and three above."""
LISTED = 10
"""Runs that are named where they lie elsewhere."""


def runs_below(folder: Path, *, links: bool = True) -> list[Path]:
    """The runs in a folder, at most `DEPTH` folders down, but not those that lie in a run (a
    judge's). What begins with a dot is passed over; links too unless `links`, and those that lead
    to what is looked through anyway."""
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
    """Which runs were found in a folder, in words; None where benchmark, model and identity lead
    to each, as a runs folder has them."""
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
        return []  # it may not be looked into, or is gone


def open_run(
    root: Path, benchmark: str, model: str, identity: Mapping[str, Any]
) -> tuple[Run, Literal["new", "continued"], list[str]]:
    """The run folder of an identity under `root`, whether it was there, and how it differs from its
    nearest sibling."""
    siblings = root / safe_name(benchmark) / safe_name(model)
    path = siblings / identity_digest(identity)
    pull(siblings, only=MANIFEST)
    run = Run(path)
    if (path / MANIFEST).exists():
        return run, "continued", []
    nearest: list[str] | None = None
    for manifest in sorted(siblings.glob(f"*/{MANIFEST}")):
        try:
            other = Run(manifest.parent).manifest()["identity"]
        except (StoreError, KeyError):
            continue
        changed = differences(identity, other)
        if nearest is None or len(changed) < len(nearest) - 1:
            nearest = [manifest.parent.name, *changed]
    Folder.create(path)
    return run, "new", nearest or []
