"""Plug-ins: entry points of installed packages, found without importing these.

A package offers benchmarks, models, or metrics in the groups `snellen.benchmarks`,
`snellen.models`, and `snellen.metrics` of its entry points.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from snellen.models.code_files import file_of_module

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
