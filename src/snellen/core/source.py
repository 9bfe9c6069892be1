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
    """Of the source code: 32 hexadecimal digits; None where no source can be read."""
    spec: str | None = None
    """What names the benchmark with `-b`, as the user wrote it, without options. None: an object
    has no name that can be written down."""
    distribution: str | None = None
    """The package that a plug-in belongs to."""
    version: str | None = None
    """That package's version."""

    data: str | None = None
    """What its function was given as `data`: a path or address, or `synthetic`."""

    def stored(self) -> Mapping[str, str]:
        """As a run's manifest holds it: what is None is left out."""
        return {name: value for name, value in vars(self).items() if value is not None}
