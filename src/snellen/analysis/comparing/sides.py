"""Scores stored replies again, and loads the data with which the samples of several sides can be
paired."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from snellen.core.benchmark import Benchmark
from snellen.core.scoring import READING_STATES, ReadingState, Verdicts
from snellen.errors import UsageError
from snellen.metrics import Category, Columns, is_mean
from snellen.scoring import CostReport, Scored, ScoredRows, Scorer, Tally, ToolsReport, resolve
from snellen.scoring.sections.disagreements import ROBUST, disagreement_note, measure_the_same
from snellen.scoring.sections.questions import question_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COUNTS, HIDDEN, FAILED, NOT_JUDGED, ABSENT, REFUSED, NO_SCORE = range(7)
"""The reasons why a row or a sample is left out of every mean. `COUNTS` means that the row or
sample is included."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedSide:
    """A side of a comparison: a set of replies, scored by one scoring."""

    benchmark: Benchmark
    """The benchmark that scored the rows."""
    scoring: str
    """The name of the scoring."""
    model: str
    """The model's name."""
    where: str
    """The run folder or the file that the rows come from."""
    identity: Mapping[str, Any]
    """The identity of the run, as in its manifest."""
    replies: Mapping[str, int]
    """The number of replies in each state."""
    ids: Sequence[str]
    """The ids of the samples."""
    digests: Sequence[str | None]
    """The digest of each sample's row of data; None if it is not needed."""
    sample: NDArray[np.int32]
    """The index in `ids` of each row's sample (n,)."""
    repeat: NDArray[np.int32]
    """The number of each row's repeat (n,), counted from 0."""
    rows: Sequence[ScoredRows]
    """The scored rows; with judges, one set of rows per judge."""
    leaves: Category | None
    """The capability of each row; None if the benchmark defines none."""
    of: int = 0
    """The number of replies of a complete run; 0 if unknown."""
    notes: Sequence[str] = ()
    """Notes on the side, to be shown with the comparison."""
    noticed: Sequence[str] = ()
    """Warnings that the run raised after its first replies, which are also shown as notes."""
    cost: CostReport | None = None
    """The cost of the run when it was last scored."""
    tools: ToolsReport | None = None
    """How the questions of the run were answered with tools, when it was last scored."""
    questions: Sequence[int] = ()
    """A hash of each sample's question, choices, and right answers; empty if they are unknown."""
    judges: Sequence[str] = ()
    """The judges whose verdicts are in the rows; empty if rules decided all rows."""

    @property
    def n(self) -> int:
        return len(self.sample)

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Maps the id of each sample to its index in `ids`."""
        return {name: number_of for number_of, name in enumerate(self.ids)}

    @cached_property
    def in_mean(self) -> NDArray[np.bool_]:
        """A mask (n,) of the rows that are included in the mean of every judge."""
        import numpy as np

        mask: NDArray[np.bool_] = np.logical_and.reduce([rows.in_mean for rows in self.rows])
        return mask

    @cached_property
    def state(self) -> NDArray[np.int8]:
        """For each sample, the reason why it is left out of every mean, or `COUNTS`. A sample
        counts if at least one of its rows counts."""
        import numpy as np

        first = self.rows[0]
        unjudged = np.logical_or.reduce([has_state(rows, "not-judged") for rows in self.rows])
        why = np.full(self.n, NO_SCORE, dtype=np.int8)
        why[first.unknown] = FAILED
        why[first.refused] = REFUSED
        why[first.absent] = ABSENT
        why[unjudged] = NOT_JUDGED
        why[has_state(first, "no-target")] = HIDDEN
        why[self.in_mean] = COUNTS
        states = np.full(len(self.ids), NO_SCORE, dtype=np.int8)
        np.minimum.at(states, self.sample, why)
        return states


def has_state(rows: ScoredRows, state: ReadingState) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = rows.columns.state.codes == READING_STATES.index(state)
    return mask


def load(
    benchmark: Benchmark,
    replies: Callable[[], Iterable[Scored]],
    *,
    model: str,
    where: str,
    identity: Mapping[str, Any],
    scoring: str | None = None,
    verdicts: Verdicts | None = None,
    verdicts_first: bool = False,
    of: int = 0,
    notes: Sequence[str] = (),
) -> LoadedSide:
    """Score replies by `scoring`, or by the headline scoring if `scoring` is None. Each call of
    `replies` must return all replies from the start, since they may be read twice.

    Raises:
        UsageError: the scoring does not exist or cannot parse this kind of reply, or there are no
            replies.
    """
    names = Scorer(benchmark, None if scoring is None else [scoring]).names
    if not names:
        which = "no scoring can" if scoring is None else f"the scoring {scoring} cannot"
        raise UsageError(
            f"{where}: {benchmark.name} was asked for replies of kind "
            f"`{benchmark.procedure.kind}`, which {which} parse."
        )
    chosen = names[0]
    # The replies need not be parsed by other scorings than the headline and robust.
    checks = scoring is None and chosen != ROBUST and ROBUST in names
    checks = checks and measure_the_same(benchmark.scorings[chosen], benchmark.scorings[ROBUST])
    used = [chosen, ROBUST] if checks else [chosen]
    tally = Tally(
        benchmark,
        used,
        verdicts=verdicts,
        verdicts_first=verdicts_first,
        resolved=resolve(benchmark, used, replies),
    )
    samples = _Samples()
    tally.add(samples.noted(replies()))
    if not len(tally.table):
        raise UsageError(f"{where} has no reply yet, so there is nothing to compare.")
    rows = tally.rows_by(chosen)
    how = benchmark.scorings[chosen]
    if how.extra_metrics is None and all(map(is_mean, how.metrics.values())):
        rows = [
            replace(scored_rows, columns=_without_objects(scored_rows.columns))
            for scored_rows in rows
        ]
    return LoadedSide(
        benchmark=benchmark,
        scoring=chosen,
        model=model,
        where=where,
        identity=identity,
        replies=tally.table.states,
        ids=[*samples.numbers],
        digests=samples.digests,
        questions=samples.questions,
        sample=samples.of_rows()[tally.table.arrivals],
        repeat=samples.repeats()[tally.table.arrivals],
        rows=rows,
        leaves=tally.leaves(),
        of=of,
        notes=[*notes, *(_disagreement(tally, chosen) if checks else ())],
    )


def _disagreement(tally: Tally, headline: str) -> Iterator[str]:
    """Write a note if the headline and `robust` scorings give different scores to many replies."""
    first, robust = (tally.rows_by(name)[0] for name in (headline, ROBUST))
    scores = first.columns.score, robust.columns.score
    if scores[0] is None or scores[1] is None:
        return
    both = first.in_mean & robust.in_mean & ~first.absent
    note = disagreement_note(
        headline, int((both & (scores[0] != scores[1])).sum()), int(both.sum())
    )
    if note is not None:
        yield note


class _Samples:
    """Records the samples of replies while the replies are read."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """Maps the id of each sample to its index, in the order in which samples first occur in the
        replies."""
        self.digests: list[str | None] = []
        """The digest of each sample's row of data."""
        self.questions = array("Q")
        """The hash of each sample's question."""
        self._of_rows = array("i")
        self._repeats = array("i")

    def noted(self, replies: Iterable[Scored]) -> Iterator[Scored]:
        """Record the samples of replies, and yield the replies unchanged."""
        for reply in replies:
            number = self.numbers.setdefault(reply.sample.id, len(self.numbers))
            if number == len(self.digests):
                self.digests.append(reply.row)
                self.questions.append(question_hash(reply.sample))
            self._of_rows.append(number)
            self._repeats.append(reply.repeat)
            yield reply

    def of_rows(self) -> NDArray[np.int32]:
        """The index of each reply's sample, in the order of the replies."""
        import numpy as np

        return np.array(self._of_rows, dtype=np.int32)

    def repeats(self) -> NDArray[np.int32]:
        """The number of each reply's repeat, in the order of the replies."""
        import numpy as np

        return np.array(self._repeats, dtype=np.int32)


def in_order(side: LoadedSide) -> LoadedSide:
    """Number a side's categories by the alphabetical order of their names. If they were numbered by
    first appearance, sums over the categories of different sides could not be added."""
    import numpy as np

    def by_name(tag: Category) -> Category:
        order = sorted(range(len(tag.names)), key=tag.names.__getitem__)
        number = np.empty(len(order), dtype=np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        return Category(codes=number[tag.codes], names=tuple(tag.names[n] for n in order))

    rows = []
    for scored_rows in side.rows:
        tags = {name: by_name(tag) for name, tag in scored_rows.columns.tags.items()}
        rows.append(replace(scored_rows, columns=replace(scored_rows.columns, tags=tags)))
    return replace(side, rows=rows)


def _without_objects(columns: Columns) -> Columns:
    """To save memory, remove answers, targets, and references from rows whose metrics read only
    numbers."""
    import numpy as np

    none = np.full(columns.n, None, dtype=object)
    return replace(columns, answer=none, target=none, references=none)
