"""Finds the recipes of installed packages, without importing the packages.

A package offers a recipe through an entry point in the group `snellen.recipes`. The name of the
entry point is the name of the recipe. The entry point's value is an importable package whose folder
contains the file NAME.toml.
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
    """The dotted name of the package that contains the recipe's file."""
    provider: str
    """The name and version of the distribution that offers the recipe."""

    def file(self) -> Path:
        """The recipe's file.

        Raises:
            UsageError: the package's folder cannot be found, or does not contain the file.
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
            f"package {self.package}. Reinstall {self.provider}, or contact its author."
        )


def recipe_plugins() -> tuple[RecipePlugin, ...]:
    """Return the recipes of installed packages, sorted by name."""
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
