"""Asks each question with several orders of its choices: does a model choose by content or by
position?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from random import Random
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.sample import Sample
from snellen.data import Facts, Row, Table, facts_of
from snellen.errors import UsageError
from snellen.scoring import LETTERED, ORDER, PASSES
from snellen.transforms._choices import (
    by_letters,
    check_listed,
    left_out,
    questions,
    right_index,
    why_not,
)

MOST = 120
"""The maximum number of passes per question, which is the number of orders of five choices."""
OURS = (ORDER, PASSES, LETTERED)
"""The keys that this module adds to a sample's data."""
Order = tuple[int, ...]
"""An order of the choices: item i is the index that the choice at position i has in the data. Both
count from 0."""


def checked_permuted(benchmark: Benchmark, most: int, seed: int) -> Benchmark:
    """Apply `permuted` to a benchmark after checking that it allows the probe, and add a note about
    the questions that are left out.

    Raises:
        UsageError: `most` is not from 2 to 120, or the benchmark asks questions in several turns,
            already repeats its questions, or has prompts that do not list the choices.
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= MOST:
        raise UsageError(
            f"--permute-options must be a whole number from 2 to {MOST}, not {most!r}."
        )
    if benchmark.procedure.conversation.turns != 1:
        raise UsageError(
            f"--permute-options works only for questions with a single turn, but {benchmark.name} "
            "has several. Leave out --permute-options."
        )
    check_listed(benchmark, "--permute-options")
    if benchmark.procedure.together is not None:
        raise UsageError(
            f"--permute-options: {benchmark.name} already asks related questions together, such as "
            "every rotation of a question's choices, and its metrics count them together. Leave "
            "out --permute-options."
        )
    reasons: Counter[str] = Counter()
    n_questions = 0
    for row in benchmark.data:
        why = why_not(benchmark.read(row))
        n_questions += why is None
        reasons.update([why] if why is not None else [])
    note = (
        f"permuted: {questions(n_questions)}, each asked up to {most} times with its choices in "
        f"different orders (seed {seed}){left_out(reasons)}"
    )
    return with_note(permuted(benchmark, most, seed), note)


def permuted(benchmark: Benchmark, most: int, seed: int) -> Benchmark:
    """Return a benchmark that asks each question of `benchmark` in up to `most` passes. Rows are
    read only when they are needed."""

    def of_original(function: Callable[[Sample], str] | None) -> Callable[[Sample], str]:
        return lambda sample: (function or _id)(_original(sample))

    table = _Passes(benchmark, most, seed)
    return vary(
        benchmark,
        data=table,
        sample=lambda row_index, row: table.sample(row),
        prompt=lambda sample, history: benchmark.messages(_original(sample), history),
        cluster_by=of_original(benchmark.cluster_by),
        group_by=of_original(benchmark.procedure.group_by),
        together=of_original(None),
        submission=None,
        layout=None,
        results=None,
        probe={"permute_options": most, "seed": seed},
    )


def orders(options: int, most: int, key: str) -> Sequence[Order]:
    """Return up to `most` distinct orders of `options` choices. The first is the original order.

    If `most` is at least the number of choices, the result starts with all rotations of the
    original order, so that each choice is in each position once. All rotations of as many other
    orders as fit follow. If `most` is less than the number of choices, the result contains only
    some rotations of the original order. The other orders, or these rotations, are drawn at random
    with the seed `key`.

    >>> orders(3, 4, "any")
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    # Only random() is guaranteed to give the same numbers in all versions of Python.
    draw = Random(key).random
    first = tuple(range(options))
    if most < options:
        drawn = sorted(range(1, options), key=lambda _: draw())[: most - 1]
        return [_shifted(first, by) for by in (0, *sorted(drawn))]
    started = {first: None}
    wanted = min(most // options, math.factorial(options - 1))
    while len(started) < wanted:
        started[(0, *sorted(range(1, options), key=lambda _: draw()))] = None
    return [_shifted(order, by) for order in started for by in range(options)]


def _shifted(order: Order, by: int) -> Order:
    return (*order[by:], *order[:by])


class _Pass(Row):
    """A row of the data, with the choices in one of their orders."""

    __slots__ = ("number", "of", "order", "row")

    def __init__(self, row: Row, row_index: int, number: int, of: int, order: Order) -> None:
        digest = blake2b(f"{row.digest} {number} {order}".encode(), digest_size=16)
        super().__init__(row, row_index, digest.hexdigest())
        self.row = row
        self.number = number
        self.of = of
        self.order = order


class _Passes:
    """A table with several rows for each row of a benchmark: one for each order of the choices.
    Rows whose choices cannot be reordered are left out."""

    def __init__(self, benchmark: Benchmark, most: int, seed: int) -> None:
        table: Table = benchmark.data
        self.where = table.where
        self.revision = table.revision
        self._benchmark = benchmark
        self._most = most
        self._seed = seed
        self._lettered: bool | None = None

    def __iter__(self) -> Iterator[Row]:
        row_index = 0
        for row in self._benchmark.data:
            sample = self._benchmark.read(row)
            if why_not(sample) is not None:
                continue
            key = f"{self._seed} {sample.id}"
            every = orders(len(sample.choices), self._most, key)
            for number, order in enumerate(every, 1):
                yield _Pass(row, row_index, number, len(every), order)
                row_index += 1

    def facts(self) -> Facts:
        return facts_of(iter(self))

    def sample(self, row: Row) -> Sample:
        assert isinstance(row, _Pass)
        sample = self._benchmark.read(row.row)
        lettered = self._names_letters()
        right = right_index(sample, lettered=lettered)
        target = sample.target
        if right is not None and lettered:
            target = ascii_uppercase[row.order.index(right)]
        return replace(
            sample,
            id=f"{sample.id}#{row.number}",
            choices=tuple(sample.choices[option] for option in row.order),
            target=target,
            data={**sample.data, ORDER: [*row.order], PASSES: row.of, LETTERED: lettered},
        )

    def _names_letters(self) -> bool:
        if self._lettered is None:
            samples = map(self._benchmark.read, self._benchmark.data)
            self._lettered = by_letters(sample for sample in samples if why_not(sample) is None)
        return self._lettered


def _original(sample: Sample) -> Sample:
    """Restore the sample's original id and data, which the benchmark's functions expect."""
    data = {name: value for name, value in sample.data.items() if name not in OURS}
    return replace(sample, id=sample.id.rpartition("#")[0], data=data)


def _id(sample: Sample) -> str:
    return sample.id
