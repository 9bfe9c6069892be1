"""Files that a benchmark's authors publish or take: replies, results, submissions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from snellen.core.sample import Sample
from snellen.core.scoring import Reading


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The file that a benchmark's test server takes: its usual name, whose ending says of which
    kind it is, and a row for each sample and what the model replied ("" where it failed).

    A `.json` file is a list of objects, or with `by_id` one object of the second column's values by
    those of the first.
    """

    name: str
    columns: tuple[str, ...]
    row: Callable[[Sample, str], Sequence[object]]
    by_id: bool = False


@dataclass(frozen=True, kw_only=True)
class Published:
    """What the authors' own files say of one model: its replies by sample id (None: a row without
    one), and the words of the judges that read them, by scoring and sample id.

    `again` are further rows of a sample, which count like repeats. `only_these`: the authors score
    the rows that are there, and a sample without one is not in the result, unless who asks wants it
    (`missing`). `readings` are answers that the file itself states, by scoring and sample id; they
    replace those of `Scoring.parse` where the authors' code takes them from the file. `tags` are
    the tags that the file gives its samples, by id, where the authors' code groups by these rather
    than by the data set's. `unread` says, a sentence for
    each reason, which rows or files could not be read: the result is then incomplete.
    """

    replies: Mapping[str, str | None]
    verdicts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    only_these: bool = False
    readings: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Results:
    """A file of one model's replies as a benchmark's authors publish them: its usual name, what it
    holds, as JSON, and what a reader must know."""

    name: str
    holds: Mapping[str, Any]
    notes: tuple[str, ...] = ()
