"""Plug-ins: entry points of installed packages, found without importing these.

A package offers benchmarks, models, or metrics in the groups `snellen.benchmarks`,
`snellen.models`, and `snellen.metrics` of its entry points.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any, Literal

Group = Literal["snellen.benchmarks", "snellen.models", "snellen.metrics"]


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """An entry point of an installed package."""

    name: str
    """What users call it."""
    module: str
    """The module that holds it, with dots."""
    attribute: str
    """Its name in that module."""
    distribution: str
    """The name of the package that was installed."""
    version: str
    """That package's version."""

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute} of {self.distribution} {self.version}"

    def file(self) -> Path | None:
        """The module's file, without importing it; None if it is no file of Python's."""
        return file_of_module(self.module)


def plugins(group: Group) -> tuple[Plugin, ...]:
    """All plug-ins of a kind, by name."""
    return _plugins(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _plugins(group: Group, path: tuple[str, ...]) -> tuple[Plugin, ...]:
    points = sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value))
    return tuple(
        Plugin(
            name=point.name,
            module=point.module,
            attribute=point.attr,
            distribution=point.dist.name,
            version=point.dist.version,
        )
        for point in points
        if point.dist is not None
    )


def file_of_module(module: str, search: Sequence[str] | None = None) -> Path | None:
    """A module's file; the packages that it lies in are not imported. `search` are the folders that
    its name begins from; None: those of Python."""
    path: Any = search
    loader = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        if end > 1 and path is None:
            return None  # a module, and no package, has no modules in it
        spec = PathFinder.find_spec(".".join(parts[:end]), path)
        if spec is None:
            return None
        path, loader = spec.submodule_search_locations, spec.loader
    return Path(loader.path) if isinstance(loader, SourceFileLoader) else None
