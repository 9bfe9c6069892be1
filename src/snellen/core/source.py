"""Where a benchmark that is not in the catalog comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where somebody's own benchmark comes from; its digest is part of a run's identity."""

    kind: Literal["file", "module", "plugin", "object"]
    """A file (`-b FILE.py:NAME`), an installed module (`-b module:NAME`), an entry point of an
    installed package, or an object that was passed from Python."""
    digest: str | None
    """The digest of the source code, 32 hexadecimal digits; None if no source can be read."""
    spec: str | None = None
    """The value of `-b`, as the user wrote it, without options; None for an object, which has no
    such name."""
    distribution: str | None = None
    """The package that a plug-in belongs to."""
    version: str | None = None
    """That package's version."""

    data: str | None = None
    """The argument `data` of its function: a path, an address, or `synthetic`."""

    def stored(self) -> Mapping[str, str]:
        """The form in a run's manifest, without fields that are None."""
        return {name: value for name, value in vars(self).items() if value is not None}
