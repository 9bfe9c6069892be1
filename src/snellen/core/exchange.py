"""Files that a benchmark's authors publish or accept: replies, results, submissions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.data import DataFile


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The file that a benchmark's test server accepts."""

    name: str
    """Its usual name; the suffix sets the format."""
    columns: tuple[str, ...]
    """The names of its columns."""
    row: Callable[[Sample, str], Sequence[object]]
    """Returns a row for a sample and the model's reply ("" if the question failed)."""
    by_id: bool = False
    """Whether a `.json` file is one object that maps the first column to the second, not a list."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """The contents of the authors' files of one model."""

    replies: Mapping[str, str | None]
    """The replies by sample id; None for a row without a reply."""
    verdicts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """The judges' verdicts by scoring and sample id."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Further replies to a sample, which count as repeats."""
    only_these: bool = False
    """Whether the authors score only these rows; others count only if `missing` says so."""
    readings: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)
    """Answers that the file states, by scoring and sample id; they replace those of `parse`."""
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tags of samples by id, if the authors' code groups by the file's tags."""
    unread: tuple[str, ...] = ()
    """A sentence for each reason why rows or files could not be read; the result is then
    incomplete."""
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
    """Notes for the user who writes it."""


@dataclass(frozen=True, kw_only=True)
class Interop:
    """The files that a benchmark shares with its authors' code."""

    files: DataFile | None = None
    """The published files of the rows, if there are any; their digests are checked."""
    layout: Callable[[Path], Published | None] | None = None
    """Reads the authors' own files of replies; returns None if the path does not have that form."""
    results: Callable[[str, Mapping[str, str | None]], Results] | None = None
    """Writes such a file from a model's name and its replies by sample id (None if failed)."""
    submission: Submission | None = None
    """The file for the test server; None if there is no server."""
