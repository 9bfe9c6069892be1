"""Lists the runs in folders: their names, and facts that can be read without reading samples."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from snellen.analysis.result import Result, load_report
from snellen.errors import SnellenError
from snellen.store import MANIFEST, REPORT, Run, Stamp, command_on, pull, runs_below

REFRESHED = 5.0
"""The time in seconds for which a copy from an object store counts as current."""
JUDGED = "judged/*/*/*"
"""A pattern for the paths of judges' runs, relative to the folder of the judged run."""
RESTED = 50
"""How long to pause before a search for runs or a count of samples is repeated, as a multiple of
the time that the last one took."""
SLOW = 0.05
"""The pause applies only after a search for runs that took at least this many seconds."""
QUIET = 30.0
"""A run counts as stopped this many seconds after its last record, if the operating system cannot
tell whether the run's lock is held."""


@dataclass(frozen=True)
class Listed:
    """A run in the viewer's list."""

    name: str
    """The run's path relative to the viewer's folder or, if there are several folders, to their
    common parent."""
    path: Path
    """The run folder."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The run's manifest; empty if the manifest cannot be read."""
    result: Result | None = None
    """The result, if the run is scored."""
    fault: str | None = None
    """The reason why the run cannot be shown; None if it can be shown."""
    stored: int = 0
    """The time of the last write, in seconds since 1970."""
    unscored: bool = False
    """Whether the run has replies that are newer than its report."""

    @property
    def benchmark(self) -> str:
        name = self.identity.get("options", {}).get("name")
        known: str = self.manifest.get("benchmark", "")
        # A Python object may have the name of a benchmark in the catalog.
        object_mark = " (Python object)" if self.identity.get("benchmark_object") else ""
        return (f"{name} ({known})" if name else known) + object_mark

    @property
    def model(self) -> str:
        return str(self.manifest.get("model", ""))

    @property
    def folder(self) -> str:
        """The part of the name that precedes the benchmark, the model, and the identity's
        digest."""
        return "/".join(self.name.split("/")[:-3])

    @property
    def identity(self) -> Mapping[str, Any]:
        known: Mapping[str, Any] = self.manifest.get("identity", {})
        return known

    @property
    def sessions(self) -> list[Mapping[str, Any]]:
        """The sessions. Each start of the run is one session."""
        known: list[Mapping[str, Any]] = self.manifest.get("sessions", [])
        return known

    @property
    def wanted(self) -> int:
        """The number of questions that the last session was supposed to ask, counting repeats."""
        rows, repeats = self.manifest.get("rows"), self.manifest.get("repeats", 1)
        last = self.sessions[-1] if self.sessions else {}
        limits = [last.get("limit"), last.get("sample")]
        counts = [n for n in (rows, *limits) if isinstance(n, int)]
        return int(min(counts, default=0) * repeats)

    @property
    def score_command(self) -> str:
        return command_on("score", self.path, self.manifest)

    @property
    def when(self) -> str:
        return datetime.fromtimestamp(self.stored).strftime("%Y-%m-%d %H:%M")


class Runs:
    """The runs in folders and their subfolders. Each call searches the folders again, unless the
    last search was slow and recent."""

    def __init__(self, *roots: Path) -> None:
        self.roots = [root.resolve() for root in roots]
        self._above = Path(os.path.commonpath(self.roots))
        self._known: dict[Path, tuple[object, Listed]] = {}
        self._fetching = threading.Lock()
        self._fetched = time.monotonic()  # the caller has just fetched the runs
        self._last_folders: list[tuple[str, Path]] = []
        self._due = 0.0

    @property
    def where(self) -> str:
        """The folders, in words."""
        return " and ".join(f"{root}" for root in self.roots)

    def all(self) -> list[Listed]:
        """Every run, by name."""
        self._refresh()
        runs = {name: self._listed(name, path) for name, path in self._folders()}
        there = {run.path for run in runs.values()}
        for path in [*self._known]:  # a copy, because other threads change the mapping
            if path not in there:
                self._known.pop(path, None)
        return [runs[name] for name in sorted(runs)]

    def by_name(self, name: str) -> Listed | None:
        """The run with that name. Only listed runs can be requested, so no name leads outside the
        folders."""
        self._refresh()
        return next(
            (self._listed(name, path) for known, path in self._folders() if known == name), None
        )

    def _refresh(self) -> None:
        with self._fetching:
            if time.monotonic() - self._fetched >= REFRESHED:
                for root in self.roots:
                    pull(root)
                self._fetched = time.monotonic()

    def _folders(self) -> list[tuple[str, Path]]:
        began = time.monotonic()
        if began >= self._due:
            self._last_folders = list(self._looked())
            took = time.monotonic() - began
            self._due = began + RESTED * took if took > SLOW else 0.0
        return self._last_folders

    def _looked(self) -> Iterator[tuple[str, Path]]:
        # Symbolic links are skipped, because they may lead anywhere. Names that are not UTF-8 are
        # skipped, because no address can contain them.
        for path in dict.fromkeys(path for root in self.roots for path in _runs(root)):
            name = "" if path == self._above else path.relative_to(self._above).as_posix()
            if not _surrogates(name):
                yield name or path.name, path

    def _listed(self, name: str, path: Path) -> Listed:
        run = Run(path)
        if (fault := odd(path)) is not None:
            return Listed(name, path, fault=fault)
        parts = [MANIFEST, REPORT, *run.folder.segments("replies")]
        stamps = tuple(map(run.folder.stamp, parts))
        # Verdicts and labels are included, because new ones make the report out of date.
        key = (stamps, tuple(run.input_sizes().values()))
        known = self._known.get(path)
        if known is None or known[0] != key:
            known = self._known[path] = (key, _read(name, run, stamps))
        return known[1]


def _runs(root: Path) -> Iterator[Path]:
    """Yield the runs in a folder, or the folder itself if it is a run. After each run, yield the
    runs of its judges."""
    for run in [root] if (root / MANIFEST).exists() else runs_below(root, links=False):
        yield run
        for manifest in run.glob(f"{JUDGED}/{MANIFEST}"):
            if manifest.parent.resolve() == manifest.parent:
                yield manifest.parent


def odd(run: Path) -> str | None:
    """The reason why a run's folder must not be read; None if the folder may be read."""
    try:
        paths = sorted(run.iterdir())
    except OSError as error:
        return f"{run} cannot be read: {error.strerror}"
    for path in paths:
        try:
            kind = path.lstat().st_mode
        except FileNotFoundError:
            continue  # it was deleted in the meantime
        if stat.S_ISLNK(kind):
            return f"{path.name} is a link, which may lead anywhere"
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            return f"{path.name} is not a regular file"
    return None


def _read(name: str, run: Run, stamps: tuple[Stamp | None, ...]) -> Listed:
    path = run.path
    changed = max((stamp.changed for stamp in stamps if stamp is not None), default=0)
    replied = max((stamp.changed for stamp in stamps[2:] if stamp is not None), default=0)
    known: dict[str, Any] = {"stored": changed // 10**9}
    try:
        known["manifest"] = run.manifest()
        if stamps[1] is None:
            return Listed(name, path, unscored=True, **known)
        result = load_report(path)
        return Listed(name, path, result=result, unscored=replied > stamps[1].changed, **known)
    except (SnellenError, msgspec.ValidationError) as error:
        return Listed(name, path, fault=str(error), **known)


def is_being_written(path: Path) -> bool:
    """Whether a process is writing to a run's folder. If the operating system does not tell, a run
    counts as being written if a record was written in the last `QUIET` seconds."""
    folder = Run(path).folder
    locked = folder.is_locked()
    if locked is not None:
        return locked
    stamps = map(folder.stamp, folder.segments("replies"))
    changed = max((stamp.changed for stamp in stamps if stamp is not None), default=0)
    # If the clock was set back, files have times in the future, which do not count as new.
    return abs(time.time() - changed / 1e9) < QUIET


def _surrogates(name: str) -> bool:
    return os.fsencode(name).decode(errors="ignore") != name
