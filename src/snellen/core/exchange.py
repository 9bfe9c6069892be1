"""Files that a benchmark's authors publish or take: replies, results, submissions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.data import DataFile


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The file that a benchmark's test server takes."""

    name: str
    """Its usual name; the ending says which kind of file it is."""
    columns: tuple[str, ...]
    """The names of its columns."""
    row: Callable[[Sample, str], Sequence[object]]
    """A row, of a sample and what the model replied ("" if the question failed)."""
    by_id: bool = False
    """Whether a `.json` file is one object, of the second column by the first; else a list."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """The contents of the authors' files of one model."""

    replies: Mapping[str, str | None]
    """The replies, by sample id; None is a row without a reply."""
    verdicts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """The judges' words, by scoring and sample id."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Further rows of a sample, which count like repeats."""
    only_these: bool = False
    """Whether the authors score only these rows; others count if `missing` says so."""
    readings: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)
    """Answers that the file states, by scoring and sample id; they replace those of `parse`."""
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tags that the file gives its samples, by id, if the authors' code groups by these."""
    unread: tuple[str, ...] = ()
    """A sentence for each reason why rows or files could not be read; then it is incomplete."""
    notes: tuple[str, ...] = ()
    """Sentences for the result."""


@dataclass(frozen=True, kw_only=True)
class Results:
    """A file of one model's replies, as a benchmark's authors publish them."""

    name: str
    """Its usual name."""
    holds: Mapping[str, Any]
    """The contents, as JSON."""
    notes: tuple[str, ...] = ()
    """Sentences for whoever writes it."""


@dataclass(frozen=True, kw_only=True)
class Interop:
    """The files that a benchmark shares with its authors' code."""

    files: DataFile | None = None
    """Where the rows are read from, if from published files; their digests are checked."""
    layout: Callable[[Path], Published | None] | None = None
    """Reads the authors' own files of replies; None from it: the path is not of that form."""
    results: Callable[[str, Mapping[str, str | None]], Results] | None = None
    """Writes such a file, from a model's name and its replies by sample id (None: it failed)."""
    submission: Submission | None = None
    """The file that the test server takes; None: there is no server."""
