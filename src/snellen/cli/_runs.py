"""Arguments that name runs, or folders of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from snellen.cli._exit import DONE, FELL_SHORT
from snellen.errors import SnellenError, UsageError, plain
from snellen.store import DEPTH, MANIFEST, runs_below, runs_elsewhere, started

T = TypeVar("T")


class RunArguments:
    """The runs that the arguments of a command name."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        expand: Callable[[Path], Sequence[Path]] | None = None,
    ) -> None:
        self.code = DONE
        """The exit code: `FELL_SHORT` once a run is left out."""
        self.paths = paths
        """The arguments as they were passed."""
        self.runs = [run for path in paths for run in (expand or runs_of)(path)]
        """The runs that `expand` returns for the arguments: by default, those of `runs_of`."""

    def results(self, use: Callable[[Path], T]) -> Iterator[T]:
        """Yield the result of `use` for each run. A run that cannot be used is an error if it is
        an argument, and is left out if it is in a folder.

        Raises:
            UsageError: all runs are left out.
        """
        is_used = False
        for run in self.runs:
            try:
                result = use(run)
            except SnellenError as error:
                if run in self.paths:
                    raise
                print(plain(f"left out: {error}"), file=sys.stderr)
                self.code = FELL_SHORT
            else:
                is_used = True
                yield result
        if self.runs and not is_used:
            raise UsageError("None of the runs could be read. The messages above say why.")


def runs_of(path: Path) -> Sequence[Path]:
    """The run itself if the path is a run; otherwise, the runs in the folder.

    Raises:
        UsageError: the path does not exist, or the folder has no runs.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder.")
    if not path.is_dir() or (path / MANIFEST).exists():
        return [path]
    runs = runs_below(path)
    if not runs:
        raise UsageError(f"{path} contains no runs. It was searched {DEPTH} folders deep.")
    if (elsewhere := runs_elsewhere(path, runs)) is not None:
        print(plain(elsewhere), file=sys.stderr)
    # The names of the folders of a model's runs are digests, which have no order.
    return sorted(runs, key=lambda run: (run.parent, started(run)))
