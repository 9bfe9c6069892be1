"""Does work on first use that would otherwise delay every import, so that a command does only what
it needs: packages import their files, and patterns are compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast


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


class _LazyPattern:
    """Stands for a compiled pattern, and compiles it when an attribute is used."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"a pattern has no attribute {name!r}")
        compiled = re.compile(self._text, self._flags)
        value = getattr(compiled, name)
        setattr(self, name, value)  # from now on, it is found without this function
        return value


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but the pattern is compiled on first use. The rules that parse replies
    have a hundred patterns, which take 20 ms to compile and are not needed before the first reply.

    Args:
        text: The regular expression. If it is invalid, its first use raises `re.error`.
        flags: The flags of `re.compile`.

    Returns:
        An object with the methods and attributes of a compiled pattern. It cannot be passed to the
            functions of `re`.
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
