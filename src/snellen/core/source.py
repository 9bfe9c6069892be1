"""Where a benchmark that is not in the catalog comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a user's own benchmark comes from. The digest is part of a run's identity."""

    kind: Literal["file", "module", "plugin", "object"]
    """The kind of source: a file (`-b FILE.py:NAME`), an installed module (`-b module:NAME`), an
    entry point of an installed package (`plugin`), or an object that was passed from Python."""
    digest: str | None
    """The digest of the source code, 32 hexadecimal digits; None if the source code cannot be
    read."""
    spec: str | None = None
    """The value of `-b` as the user wrote it, without options; None for an object."""
    distribution: str | None = None
    """The package that contains the plug-in."""
    version: str | None = None
    """The version of the package."""

    data: str | None = None
    """The argument `data` of the benchmark's function: a path, a URL, or `synthetic`."""

    def stored(self) -> Mapping[str, str]:
        """The fields to store in a run's manifest, without fields that are None."""
        return {name: value for name, value in vars(self).items() if value is not None}
