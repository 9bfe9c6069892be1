"""Opens the run folder for an identity."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from snellen.errors import StoreError
from snellen.store.folder import Folder
from snellen.store.identity import differences, identity_digest, safe_name
from snellen.store.manifest import MANIFEST
from snellen.store.mirrored import pull
from snellen.store.run_folder import Run


def open_run(
    root: Path, benchmark: str, model: str, identity: Mapping[str, Any]
) -> tuple[Run, Literal["new", "continued"], list[str]]:
    """Open the run with this identity below `root`. Return the run, and whether it is new. For a
    new run, also return the name of the most similar run in the same folder, followed by the
    differences."""
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
