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
    """The default name of the file. The suffix of the name determines the format."""
    columns: tuple[str, ...]
    """The names of the columns."""
    row: Callable[[Sample, str], Sequence[object]]
    """Returns the row for a sample and the model's reply ("" if the question failed)."""
    by_id: bool = False
    """Whether a `.json` file contains a single object that maps the first column to the second,
    instead of a list of rows."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """The contents of the files that a benchmark's authors publish for one model."""

    replies: Mapping[str, str | None]
    """The replies, keyed by sample id; None for a row without a reply."""
    verdicts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """The judges' verdicts, keyed by scoring and then by sample id."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Further replies to samples, keyed by sample id. They count as repeats."""
    only_these: bool = False
    """Whether the authors score only the rows in the file."""
    readings: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)
    """If the file states the parsed answers, a reading for each of these answers, keyed by scoring
    and then by sample id. These readings replace the results of `parse`."""
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tags of the samples, keyed by sample id, if the authors' code groups samples by tags in the
    file."""
    unread: tuple[str, ...] = ()
    """Messages that state why rows or files could not be read. If there are any, the result is
    incomplete."""
    notes: tuple[str, ...] = ()
    """Notes that are shown with the result."""


@dataclass(frozen=True, kw_only=True)
class Results:
    """A file of one model's replies, in the format that a benchmark's authors publish."""

    name: str
    """The default name of the file."""
    holds: Mapping[str, Any]
    """The contents, as JSON."""
    notes: tuple[str, ...] = ()
    """Notes for the user who writes the file."""


@dataclass(frozen=True, kw_only=True)
class Interop:
    """The files that Snellen exchanges with the code of a benchmark's authors."""

    files: DataFile | None = None
    """The published files that contain the benchmark's rows, if there are any. Their digests are
    checked."""
    layout: Callable[[Path], Published | None] | None = None
    """Reads files of replies in the authors' own format. Returns None if the path does not have
    that format."""
    results: Callable[[str, Mapping[str, str | None]], Results] | None = None
    """Makes a file in the authors' own format from a model's name and replies, which are keyed by
    sample id (None for a failed question)."""
    submission: Submission | None = None
    """The file for the test server; None if there is no server."""
