"""Lets packages import their files on first use, so that a command imports only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(package: str, files: Mapping[str, str]) -> Callable[[str], Any]:
    """Create the `__getattr__` of a package.

    Args:
        package: The package's `__name__`.
        files: Maps each public name to the module that defines it, relative to the package.

    Returns:
        A function that imports the module of a name and returns the name's value. The function
            raises AttributeError for other names, as a module does.
    """

    def value(name: str) -> Any:
        if name not in files:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{files[name]}", package), name)

    return value
