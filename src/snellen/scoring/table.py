"""The table of all replies with their scores, in the order of the benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from snellen.core.scoring import READING_STATES, Reading
from snellen.metrics import Category, Columns
from snellen.scoring.columns import Codes, Column, Numbers, Objects, Sparse, objects
from snellen.scoring.replies import REPLY_STATES, ReplyOrAbsent, Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READING_CODES = {state: code for code, state in enumerate(READING_STATES)}
REPLY_CODES = {state: code for code, state in enumerate(REPLY_STATES)}
LACKING = (REPLY_CODES["failed"], REPLY_CODES["absent"])
SHORT = 8
"""Answers with at most this many characters are likely to repeat, so equal ones are stored only
once."""
TURN_BITS = REPEAT_BITS = 16
NO_READING = Reading(answer=None, rule="")
NOT_JUDGED = Finding(NO_READING, "not-judged", None)


class Collector(Protocol):
    """An object with columns of its own, whose rows correspond to the rows of the table."""

    @property
    def columns(self) -> Sequence[Column]:
        """The collector's columns, which the table reorders together with its own columns."""

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        """Append the values of a row to the columns. `row` is the number of the row."""


class ScoreTable:
    """A table with a row for each combination of sample, repeat, and turn. A row contains the
    finding of each scoring.

    If several rows have the same key, the last one counts, except that a failure never replaces a
    reply. Rows may be added in any order; `sort` puts them in the order of the benchmark.
    """

    def __init__(self, scorer: Scorer, collectors: Sequence[Collector] = ()) -> None:
        benchmark = scorer.benchmark
        self.scorer = scorer
        self._collectors = [collector for collector in collectors if collector.columns]
        # `append` is called for millions of replies, so it avoids attribute lookups.
        self._collects = [collector.collect for collector in self._collectors]
        # A row belongs to a whole turn, so the step is not part of the position.
        self._positions, self._ids = Numbers("q"), Numbers("q")
        self.reply_states = Numbers("B")
        self._cluster_by = benchmark.cluster_by
        self._cluster = Codes() if benchmark.cluster_by else None
        shown = benchmark.presentation
        self._tags = {tag: Codes() for tag in (*shown.break_down_by, *shown.metric_tags)}
        self.targets, self._references = Objects(), Sparse()
        self.choices = Numbers("i")
        self.findings = {
            name: FindingColumns(judged=benchmark.scorings[name].judge is not None)
            for name in scorer.names
        }
        self._appends = [*enumerate(columns.append for columns in self.findings.values())]
        self._sorted_arrivals: NDArray[np.int64] | None = None
        self._n_dropped = 0

    def __len__(self) -> int:
        return len(self.reply_states.data)

    def append(self, scored: Scored, findings: Sequence[Finding]) -> None:
        """Add a reply and its findings, which must come from the table's scorer."""
        sample, row = scored.sample, len(self.reply_states.data)
        position, sample_hash = _key(scored)
        self._positions.append(position)
        self._ids.append(sample_hash)
        self.reply_states.append(REPLY_CODES[scored.state])
        if self._cluster is not None:
            assert self._cluster_by is not None
            self._cluster.append(self._cluster_by(scored.conversation or sample))
        tags = sample.tags
        for tag, names in self._tags.items():
            codes = names.codes
            names.data.append(codes.setdefault(tags.get(tag, ""), len(codes)))
        self.targets.append(_shared(sample.target))
        self.choices.append(len(sample.choices))
        if sample.references:
            self._references.append(row, sample.references)
        for number, append in self._appends:
            finding = findings[number]
            append(finding, _shared(finding.reading.answer))
        for collect in self._collects:
            collect(row, scored, findings)

    def extend(self, replies: Iterable[Scored]) -> None:
        """Score replies and add them to the table."""
        for scored in replies:
            self.append(scored, self.scorer.findings(scored))

    def merge(self, other: ScoreTable) -> None:
        """Add the rows of another table, which has the same scorer and the same kinds of
        collectors."""
        start = len(self)
        for name in other.findings:
            self.findings[name].align(other.findings[name], start, len(other))
        for mine, theirs in zip(self._columns(), other._columns(), strict=True):
            mine.extend(theirs, start)

    def sort(self) -> None:
        """Put the rows in the order of the benchmark, and drop rows that were replaced by later
        rows."""
        import numpy as np

        positions = self._positions.values
        if len(self) < 2 or bool((np.diff(positions) > 0).all()):
            return
        # Rows with the same position but different samples, as in a judge's run, keep their order.
        rows = np.argsort(positions, kind="stable")
        if bool((np.diff(positions[rows]) == 0).any()):
            rows = self._latest(rows)
        if len(rows) < len(self) or bool((np.diff(rows) < 0).any()):
            del positions
            arrivals = self.arrivals
            self._n_dropped += len(self) - len(rows)
            self._sorted_arrivals = arrivals[rows]
            for column in self._columns():
                column.reorder(rows)

    def _latest(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """For each key, the last row with a reply, or the last row if no row with this key has a
        reply."""
        import numpy as np

        positions, ids = self._positions.values, self._ids.values
        lacking = np.isin(self.reply_states.values, LACKING)
        latest: dict[tuple[int, int], int] = {}
        for row in rows.tolist():
            key = int(positions[row]), int(ids[row])
            if key not in latest or not lacking[row] or lacking[latest[key]]:
                latest[key] = row
        return np.array([*latest.values()], dtype=np.intp)

    def numbered(self, replies: Iterable[Scored]) -> Iterator[tuple[int, Scored]]:
        """Yield each reply with the number of its row in the sorted table. `replies` contains the
        table's replies in any order.

        Raises:
            ValueError: a reply has no row.
        """
        positions, ids = self._positions.data, self._ids.data
        rows_by_key: dict[tuple[int, int], int] = {}
        expected = 0
        for scored in replies:
            key = _key(scored)
            if expected < len(positions) and key == (positions[expected], ids[expected]):
                row = expected
            else:
                if not rows_by_key:
                    keys = zip(positions, ids, strict=True)
                    rows_by_key = {key: row for row, key in enumerate(keys)}
                if key not in rows_by_key:
                    raise ValueError(
                        f"Sample {scored.sample.id!r}, repeat {scored.repeat}, turn {scored.turn} "
                        "has no row in the table of scores."
                    )
                row = rows_by_key[key]
            expected = row + 1
            yield row, scored

    # -- columns of all rows

    @property
    def arrivals(self) -> NDArray[np.int64]:
        """For each row (n,), the number of rows that were added before it, including rows that were
        replaced."""
        import numpy as np

        n_added = len(self) + self._n_dropped
        if self._sorted_arrivals is None:
            return np.arange(n_added)
        n_unsorted = len(self) - len(self._sorted_arrivals)
        return np.append(self._sorted_arrivals, np.arange(n_added - n_unsorted, n_added))

    @property
    def states(self) -> dict[str, int]:
        """The number of replies in each state. States without replies are left out."""
        counts = {state: self.reply_states.data.count(code) for state, code in REPLY_CODES.items()}
        return {state: n for state, n in counts.items() if n}

    def has_reply_state(self, state: ReplyOrAbsent) -> NDArray[np.bool_]:
        rows: NDArray[np.bool_] = self.reply_states.values == REPLY_CODES[state]
        return rows

    @property
    def conversations(self) -> NDArray[np.int64]:
        """For each row, a number that combines the index of the data set's row with the repeat. All
        turns of a conversation have the same number."""
        values: NDArray[np.int64] = self._positions.values >> TURN_BITS
        return values

    @property
    def repeats(self) -> NDArray[np.int64]:
        values: NDArray[np.int64] = self.conversations & ((1 << REPEAT_BITS) - 1)
        return values

    @property
    def questions(self) -> NDArray[np.int64]:
        """For each row, a number that identifies its sample and turn. All repeats of a question
        have the same number."""
        turn_mask = (1 << TURN_BITS) - 1
        values: NDArray[np.int64] = self._positions.values & turn_mask
        values |= self.conversations >> REPEAT_BITS << TURN_BITS
        return values

    @property
    def clusters(self) -> NDArray[np.int32]:
        """For each row, the number of its cluster. All repeats of a sample are in the same
        cluster."""
        import numpy as np

        if self._cluster is not None:
            return self._cluster.values
        _, first, codes = np.unique(self._ids.values, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        clusters: NDArray[np.int32] = rank[codes]
        return clusters

    @property
    def tags(self) -> dict[str, Category]:
        return {tag: Category(codes=of.values, names=of.names) for tag, of in self._tags.items()}

    @property
    def references(self) -> list[tuple[str, ...]]:
        """The references of each row's question."""
        values: list[tuple[str, ...]] = [()] * len(self)
        for row, references in zip(self._references.rows, self._references.data, strict=True):
            values[row] = references
        return values

    @property
    def has_references(self) -> bool:
        """Whether any question has references."""
        return bool(self._references.data)

    def shared_columns(self) -> Columns:
        """The columns that all scorings share. Answers and states are placeholders."""
        import numpy as np

        targets = self.targets.values
        no_states = np.broadcast_to(np.int32(0), len(self))
        return Columns(
            score=None,
            answer=targets,
            target=targets,
            references=objects(self.references),
            state=Category(codes=no_states, names=READING_STATES),
            tags=self.tags,
            cluster=self.clusters,
        )

    @property
    def headline(self) -> FindingColumns | None:
        """The columns of the first scoring; None if there is no scoring."""
        return next(iter(self.findings.values()), None)

    def headline_rows(self) -> Iterator[HeadlineRow]:
        """Yield the findings of the first scoring, row by row."""
        columns = self.headline
        if columns is not None:
            has_score = columns.has_score.tolist()
            values = zip(
                self.clusters.tolist(), columns.answers.data, columns.scores.data, strict=True
            )
            for (cluster, answer, score), scored in zip(values, has_score, strict=True):
                yield HeadlineRow(cluster, answer, score if scored else None)

    def _columns(self) -> Iterator[Column]:
        yield from (self._positions, self._ids, self.reply_states, self.choices)
        yield from (self.targets, self._references)
        yield from self._tags.values()
        if self._cluster is not None:
            yield self._cluster
        for columns in self.findings.values():
            yield from columns.columns()
        for collector in self._collectors:
            yield from collector.columns


class HeadlineRow(NamedTuple):
    """The cluster of a row, and the row's answer and score by the first scoring."""

    cluster: int
    """The cluster."""
    answer: object
    """The parsed answer."""
    score: float | None
    """The score; None if the row is left out of the means."""


class FindingColumns:
    """The findings of one scoring. Rows without a score have 0.0 in `scores`."""

    def __init__(self, *, judged: bool = False) -> None:
        self.scores, self.states = Numbers("d"), Numbers("B")
        self.answers = Objects()
        self._has_score = Numbers("B")
        self.slots = Objects() if judged else None
        """For each row, the findings that result from the judges' verdicts. For a row that the
        scoring's rules decided, there are no findings. None if the scoring has no judge."""
        self._parts: dict[str, Numbers] = {}

    def append(self, finding: Finding, answer: object) -> None:
        _, state, score, slots, parts = finding
        self.scores.append(0.0 if score is None else score)
        self._has_score.append(score is not None)
        self.answers.append(answer)
        self.states.append(READING_CODES[state])
        if self.slots is not None:
            self.slots.append(slots)
        if parts or self._parts:
            self._append_parts(parts or {})

    @property
    def has_score(self) -> NDArray[np.bool_]:
        import numpy as np

        return self._has_score.values.view(np.bool_)

    @property
    def state_codes(self) -> NDArray[np.int32]:
        import numpy as np

        return self.states.values.astype(np.int32)

    @property
    def parts(self) -> Mapping[str, NDArray[np.float64]]:
        """Maps the name of each part of the score to an array (n,), with nan for rows without this
        part."""
        return {name: self._parts[name].values for name in sorted(self._parts)}

    @property
    def waiting(self) -> int:
        """The number of replies that wait for a judge."""
        return self.states.data.count(READING_CODES["not-judged"])

    @property
    def state_counts(self) -> dict[str, int]:
        """The number of readings in each state. States without readings are left out."""
        counts = {state: self.states.data.count(code) for state, code in READING_CODES.items()}
        return {state: n for state, n in counts.items() if n}

    def by_slot(self) -> list[FindingColumns]:
        """The columns, separately for each judge; empty if there are fewer than two judges."""
        slots = [] if self.slots is None else self.slots.data
        most = max(map(len, slots), default=0)
        return [self._of_slot(number) for number in range(most)] if most > 1 else []

    def columns(self) -> Iterator[Column]:
        yield from (self.scores, self.states, self.answers, self._has_score)
        if self.slots is not None:
            yield self.slots
        yield from (self._parts[name] for name in sorted(self._parts))

    def align(self, other: FindingColumns, n: int, n_other: int) -> None:
        """Add missing parts to `self`, which has `n` rows, and to `other`, which has `n_other`
        rows, so that both have the same parts."""
        for name in {*self._parts, *other._parts}:
            for columns, rows in ((self, n), (other, n_other)):
                columns._parts.setdefault(name, _nans(rows))

    def _append_parts(self, parts: Mapping[str, float]) -> None:
        for name in parts:
            if name not in self._parts:
                self._parts[name] = _nans(len(self.states.data) - 1)
        for name, values in self._parts.items():
            values.append(parts.get(name, float("nan")))

    def _of_slot(self, number: int) -> FindingColumns:
        columns = FindingColumns()
        assert self.slots is not None
        for row, slots in enumerate(self.slots.data):
            if not slots:
                columns.append(self._finding(row), self.answers.data[row])
            elif number < len(slots):
                columns.append(slots[number], slots[number].reading.answer)
            else:
                columns.append(NOT_JUDGED, None)
        return columns

    def _finding(self, row: int) -> Finding:
        """The finding of a row that the scoring's rules decided, without the name of the rule."""
        score = self.scores.data[row] if self._has_score.data[row] else None
        parts = {name: values.data[row] for name, values in self._parts.items()}
        return Finding(NO_READING, READING_STATES[self.states.data[row]], score, parts=parts)


def _key(scored: Scored) -> tuple[int, int]:
    """The position of a reply in the order of the benchmark, and a hash of its sample's id."""
    position = (scored.row_index << REPEAT_BITS | scored.repeat) << TURN_BITS | scored.turn
    return position, hash((scored.conversation or scored.sample).id)


def _shared(answer: Any) -> Any:
    """Return the same object for all equal short answers, which saves memory if many answers are
    equal."""
    return intern(answer) if type(answer) is str and len(answer) <= SHORT else answer


def _nans(n: int) -> Numbers:
    column = Numbers("d")
    column.data.extend([float("nan")] * n)
    return column
