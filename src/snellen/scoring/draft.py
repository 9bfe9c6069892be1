"""Holds a report while its sections write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.scoring.document import CostReport
from snellen.scoring.judged_by import JudgedBy
from snellen.scoring.replies import Scored
from snellen.scoring.rows import ScoredRows, rows_by_slot, scored_rows
from snellen.scoring.scorer import Scorer
from snellen.scoring.table import ScoreTable
from snellen.store import LabelRecord, Run


@dataclass(frozen=True, kw_only=True)
class ReplySource:
    """Facts about a set of replies that are not in the table of replies."""

    model: str = ""
    """The model's name; empty if it is unknown."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """The identity of the run, or the known part of the identity."""
    of: int = 0
    """The number of (sample, repeat) pairs in the whole data set; 0 if it is unknown."""
    incomplete: bool = False
    """Whether some replies are missing from the table."""
    run: Run | None = None
    """The run; None for a file of predictions."""
    questions: Callable[[], Iterator[Scored]] | None = None
    """Reads the samples of the rows again, in the benchmark's order. For a file of predictions,
    each sample is read once, even if it has several replies. None if the samples cannot be read
    again."""
    labels: Sequence[LabelRecord] = ()
    """People's labels of some replies."""
    judging: Mapping[str, CostReport] = field(default_factory=dict)
    """The cost of each judge's replies."""
    judged_by: Mapping[str, JudgedBy] = field(default_factory=dict)
    """For each scoring with judges' verdicts, the judges."""


Part = tuple[Mapping[str, Any], Sequence[str]]
"""The fields of the `Report` that a section writes, with their values, and the section's notes."""
NOTHING: Part = ({}, ())


class Draft:
    """A table, the source of its replies, and the parts of the report that have been written so
    far."""

    def __init__(self, table: ScoreTable, source: ReplySource) -> None:
        table.sort()
        self.table = table
        self.source = source
        self.parts: dict[str, Any] = {}
        """The fields of the report that earlier sections wrote."""
        self._shared = table.shared_columns()
        self._rows: dict[str, ScoredRows] = {}
        self._by_slot: dict[str, Sequence[ScoredRows]] = {}

    @property
    def scorer(self) -> Scorer:
        return self.table.scorer

    @property
    def benchmark(self) -> Benchmark:
        return self.table.scorer.benchmark

    @cached_property
    def reported(self) -> list[str]:
        """The scorings to report. A scoring other than the headline is left out if it needs a judge
        for some replies and no judge has run."""
        verdicts, headline = self.scorer.verdicts, self.scorer.headline
        return [
            name
            for name, columns in self.table.findings.items()
            if name == headline or not columns.waiting or name in verdicts
        ]

    def by_judge(self, name: str) -> Sequence[ScoredRows]:
        """A scoring's rows, separately for each judge. If there are fewer than two judges, the list
        has one item."""
        return self.by_slot(name) or [self.rows(name)]

    def by_slot(self, name: str) -> Sequence[ScoredRows]:
        """A scoring's rows, separately for each judge; empty if there are fewer than two judges."""
        if name not in self._by_slot:
            self._by_slot[name] = rows_by_slot(self.table, name, self._shared)
        return self._by_slot[name]

    @cached_property
    def headline_rows(self) -> Sequence[ScoredRows]:
        """The headline scoring's rows, separately for each judge."""
        headline = self.scorer.headline
        assert headline is not None
        return self.by_judge(headline)

    @property
    def best(self) -> float:
        """The score that the headline scoring gives a perfect answer."""
        headline = self.scorer.headline
        assert headline is not None
        return self.benchmark.scorings[headline].best

    def samples(self) -> Iterator[tuple[int, Scored]]:
        """Read the samples of all rows again, and yield each with the number of its row."""
        assert self.source.questions is not None
        return self.table.numbered(self.source.questions())

    def rows(self, name: str) -> ScoredRows:
        """A scoring's rows, with the verdicts of all judges combined."""
        if name not in self._rows:
            self._rows[name] = scored_rows(self.table, name, self._shared)
        return self._rows[name]
