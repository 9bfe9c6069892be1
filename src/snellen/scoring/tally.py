"""Scores replies in one pass, and produces both the lines of `scores.jsonl` and the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from snellen.core.benchmark import Benchmark
from snellen.core.rule_errors import runs_users_code
from snellen.core.scoring import Missing, Verdicts
from snellen.errors import SnellenError
from snellen.metrics import Category
from snellen.scoring.document import Report
from snellen.scoring.draft import Draft, ReplySource
from snellen.scoring.replies import Scored
from snellen.scoring.reply_errors import table_error
from snellen.scoring.resolution import Resolved
from snellen.scoring.rows import ScoredRows
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections import SECTIONS
from snellen.scoring.sections.capabilities import CapabilitiesSection
from snellen.scoring.table import ScoreTable
from snellen.store import FORMAT

BLOCK = 512
"""The number of lines of `scores.jsonl` that are written at once."""


class Tally:
    """Scores replies in one pass. A tally consists of a scorer, a `table` of the scorer's findings,
    and the sections of the report, which collect data from the same rows.

    The arguments are the same as for `Scorer`.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        names: Sequence[str] | None = None,
        missing: Missing | None = None,
        verdicts: Verdicts | None = None,
        *,
        verdicts_first: bool = False,
        resolved: Resolved | None = None,
    ) -> None:
        self._scorer = Scorer(
            benchmark,
            names,
            missing,
            verdicts,
            verdicts_first=verdicts_first,
            resolved=resolved,
        )
        self._sections = [section(self._scorer) for section in SECTIONS]
        self.table = ScoreTable(self._scorer, self._sections)

    def add(self, replies: Iterable[Scored]) -> None:
        """Score each reply for the report, without producing lines of `scores.jsonl`."""
        self.table.extend(replies)

    def rows(self, replies: Iterable[Scored]) -> Iterator[bytes]:
        """Score each reply, and yield the lines of `scores.jsonl` in blocks."""
        encode = msgspec.json.Encoder().encode
        block: list[bytes] = []
        for scored in replies:
            findings = self._scorer.findings(scored)
            self.table.append(scored, findings)
            block += map(encode, self._scorer.score_rows(scored, findings))
            if len(block) >= BLOCK:
                yield b"\n".join(block) + b"\n"
                block.clear()
        if block:
            yield b"\n".join(block) + b"\n"

    def report(
        self, *, model: str, identity: Mapping[str, Any], notes: Sequence[str] = (), of: int = 0
    ) -> Report:
        """Build the report on all replies. `of` is the number of (sample, repeat) pairs in the data
        set, or 0 if this number is unknown."""
        return self.report_on(ReplySource(model=model, identity=identity, of=of), notes)

    def report_on(self, source: ReplySource, notes: Sequence[str] = ()) -> Report:
        """Build the report on all replies of a source. `notes` come before the notes of the
        sections.

        Raises:
            DataError: a metric of the user's benchmark raised an exception.
        """
        draft = Draft(self.table, source)
        notes = list(notes)
        benchmark = self._scorer.benchmark
        for section in self._sections:
            try:
                fields, more = section.summarize(draft)
            except SnellenError:
                raise
            except Exception as error:
                if not runs_users_code(error):
                    raise
                raise table_error(error, benchmark, "a metric") from error
            draft.parts |= fields
            notes += more
        return Report(
            format=FORMAT,
            benchmark=benchmark.name,
            model=source.model,
            n=len(self.table),
            headline=self._scorer.headline or "",
            notes=notes,
            identity=dict(source.identity),
            ladders=dict(benchmark.presentation.ladders),
            **draft.parts,
        )

    def rows_by(self, name: str) -> Sequence[ScoredRows]:
        """The rows of a scoring, in the form that metrics use. If there are several judges, there
        is one set of rows for each judge."""
        return Draft(self.table, ReplySource()).by_judge(name)

    def leaves(self) -> Category | None:
        """The capability of each row (n,); None if the benchmark defines none."""
        (section,) = (
            section for section in self._sections if isinstance(section, CapabilitiesSection)
        )
        return section.leaves
