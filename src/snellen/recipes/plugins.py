"""Recipes of installed packages, without importing them.

A package offers a recipe in the group `snellen.recipes` of its entry points: the name is the
recipe's, the value is a package of it, whose folder has the file NAME.toml.
"""

import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from snellen.errors import UsageError

GROUP = "snellen.recipes"


@dataclass(frozen=True, kw_only=True)
class RecipePlugin:
    """A recipe that a package offers."""

    name: str
    """The recipe's name."""
    package: str
    """The dotted name of the package with its file."""
    provider: str
    """The distribution and its version."""

    def file(self) -> Path:
        """The recipe's file.

        Raises:
            UsageError: the package's folder cannot be found, or has no such file.
        """
        path = [*sys.path]
        for i in range(len(parts := self.package.split("."))):
            spec = PathFinder.find_spec(".".join(parts[: i + 1]), path)
            path = [*(spec.submodule_search_locations or ())] if spec else []
        files = [Path(folder) / f"{self.name}.toml" for folder in path]
        for file in files:
            if file.is_file():
                return file
        raise UsageError(
            f"The recipe {self.name} of {self.provider} has no file {self.name}.toml in the "
            f"package {self.package}. Install the package again, or ask its author."
        )


def recipe_plugins() -> tuple[RecipePlugin, ...]:
    """The recipes of installed packages, by name."""
    return _plugins(tuple(sys.path))


@lru_cache(maxsize=4)
def _plugins(path: tuple[str, ...]) -> tuple[RecipePlugin, ...]:
    from importlib import metadata  # 25 ms and 6 MiB

    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return tuple(
        RecipePlugin(
            name=point.name,
            package=point.module,
            provider=f"{point.dist.name} {point.dist.version}",
        )
        for point in points
        if point.dist is not None
    )
