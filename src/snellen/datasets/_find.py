"""Where a data set's files lie: where the user says, else in the cache folder."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from snellen.content import Image
from snellen.errors import DataError


def home() -> Path:
    """The folder for downloaded data: `SNELLEN_HOME`, else the platform's cache folder."""
    if named := os.environ.get("SNELLEN_HOME"):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "snellen"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    named = os.environ.get(variable)
    return (Path(named) if named else Path.home() / ".cache") / "snellen"


@dataclass(frozen=True)
class Found:
    """A file that is looked for when it is first needed, and the folder its rows' paths start from.

    Raises:
        DataError: (from `path`, and from all that use it) none of the names is there.
    """

    data: Path | None
    benchmark: str
    names: tuple[str, ...]

    @cached_property
    def path(self) -> Path:
        if self.data is not None and self.data.is_file():
            return self.data
        folder = self._folder
        for name in self.names:
            if (folder / name).is_file():
                return folder / name
        wanted = " or ".join(self.names)
        missing = "" if folder.is_dir() else " (there is no such folder)"
        raise DataError(
            f"{self.benchmark}: no {wanted} in {folder}{missing}. "
            "Name the file or its folder with --data PATH."
        )

    @cached_property
    def folder(self) -> Path:
        """Where the names start: for `x/data/test.jsonl`, found as `data/test.jsonl`, in `x`."""
        parts = self.path.parts
        depths = [len(Path(name).parts) for name in self.names if _ends_with(parts, name)]
        return self.path.parents[max(depths, default=1) - 1]

    def image(self, name: str, place: str | None = None) -> Image:
        """An image that a row names relative to the folder, which the name may not leave."""
        return Image(self.folder / name, place=place or name, within=self.folder)

    @property
    def _folder(self) -> Path:
        return self.data if self.data is not None else home() / "data" / self.benchmark

    def __str__(self) -> str:
        try:
            return str(self.path)
        except DataError:
            return str(self._folder / self.names[0])


def find(data: Path | None, benchmark: str, names: Sequence[str]) -> Found:
    """The file `data`, or the first of `names` in the folder `data` (None: in the cache folder).

    Looked for when it is first needed: a benchmark can be built where its data is not.
    """
    return Found(data, benchmark, tuple(names))


def path_of(source: Path | Found) -> Path:
    return source.path if isinstance(source, Found) else source


def _ends_with(parts: tuple[str, ...], name: str) -> bool:
    wanted = Path(name).parts
    return parts[-len(wanted) :] == wanted
