"""One set of replies, scored again from the store, with the data that pairs its samples."""

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
from snellen.scoring import CostReport, Scored, ScoredRows, Scorer, Tally, resolve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COUNTS, HIDDEN, FAILED, NOT_JUDGED, ABSENT, REFUSED, NO_SCORE = range(7)
"""Why a row, or a sample, is not in a mean. The first says that it is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedSide:
    """A side of a comparison, with the rows of one scoring."""

    benchmark: Benchmark
    """The benchmark that scored the rows."""
    scoring: str
    """The name of the scoring."""
    model: str
    """The model's name."""
    where: str
    """The run folder or the file that the rows come from."""
    identity: Mapping[str, Any]
    """What the run asked and how, as in its manifest."""
    replies: Mapping[str, int]
    """The number of replies in each state."""
    ids: Sequence[str]
    """The ids of the samples."""
    digests: Sequence[str | None]
    """The digest of each sample's row of data; None if it was not requested."""
    sample: NDArray[np.int32]
    """The number of each row's sample (n,)."""
    rows: Sequence[ScoredRows]
    """The scored rows; with judges, one set of rows per judge."""
    leaves: Category | None
    """The categories of the samples; None if the benchmark has none."""
    of: int = 0
    """The number of replies of a complete run; 0 if unknown."""
    notes: Sequence[str] = ()
    """What the reader must know about this side."""
    cost: CostReport | None = None
    """The cost of the run when it was last scored."""

    @property
    def n(self) -> int:
        return len(self.sample)

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """The number of each sample by its id."""
        return {name: number_of for number_of, name in enumerate(self.ids)}

    @cached_property
    def in_mean(self) -> NDArray[np.bool_]:
        """The rows (n,) that are in the mean, by all judges."""
        import numpy as np

        mask: NDArray[np.bool_] = np.logical_and.reduce([rows.in_mean for rows in self.rows])
        return mask

    @cached_property
    def state(self) -> NDArray[np.int8]:
        """For each sample, why it is in no mean. A sample counts if one of its rows does."""
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
    """Score replies by `scoring`, or by the headline scoring. `replies` returns all of them each
    time it is called.

    Raises:
        UsageError: there is no scoring of that name, or none that reads this kind of reply.
    """
    names = Scorer(benchmark, None if scoring is None else [scoring]).names
    if not names:
        which = "no scoring" if scoring is None else f"{scoring}, but it is none"
        raise UsageError(
            f"{where}: {benchmark.name} was asked for `{benchmark.procedure.kind}`; it has {which} "
            "that reads that."
        )
    chosen = names[0]
    # Readings of the other scorings are not needed.
    tally = Tally(
        benchmark,
        [chosen],
        verdicts=verdicts,
        verdicts_first=verdicts_first,
        resolved=resolve(benchmark, [chosen], replies),
    )
    samples = _Samples()
    tally.add(samples.noted(replies()))
    if not len(tally.table):
        raise UsageError(f"{where} has no reply yet: there is nothing to compare.")
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
        sample=samples.of_rows()[tally.table.arrivals],
        rows=rows,
        leaves=tally.leaves(),
        of=of,
        notes=notes,
    )


class _Samples:
    """The samples of the replies."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """The number of each sample by its id, in the order of the replies."""
        self.digests: list[str | None] = []
        """The digest of each sample's row of data."""
        self._of_rows = array("i")

    def noted(self, replies: Iterable[Scored]) -> Iterator[Scored]:
        """The replies, unchanged. Their samples are recorded on the way."""
        for reply in replies:
            number = self.numbers.setdefault(reply.sample.id, len(self.numbers))
            if number == len(self.digests):
                self.digests.append(reply.row)
            self._of_rows.append(number)
            yield reply

    def of_rows(self) -> NDArray[np.int32]:
        """The number of each reply's sample, in the order of the replies."""
        import numpy as np

        return np.array(self._of_rows, dtype=np.int32)


def in_order(side: LoadedSide) -> LoadedSide:
    """The side with its categories numbered in the order of their names, not of their appearance,
    so that sums over categories can be added to another side's."""
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
    """Columns for metrics that read only numbers, so that a million references need not stay in
    memory."""
    import numpy as np

    none = np.full(columns.n, None, dtype=object)
    return replace(columns, answer=none, target=none, references=none)
