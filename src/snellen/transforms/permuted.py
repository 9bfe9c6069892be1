"""Each question with its options in several orders: does a model mean the option, or the place?"""

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
    right_position,
    why_not,
)

MOST = 120
"""Passes of a question: as many as five options have orders."""
OURS = (ORDER, PASSES, LETTERED)
"""What a sample's data have beside the benchmark's own."""
Order = tuple[int, ...]
"""For each place the option that stands there, by its place in the data."""


def checked_permuted(benchmark: Benchmark, most: int, seed: int) -> Benchmark:
    """`permuted`, where that can be asked, with a note on what is asked and left out.

    Raises:
        UsageError: `most` is not from 2 to 120; the benchmark asks its questions in several turns,
            or several times by itself; or its prompts do not list options.
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= MOST:
        raise UsageError(f"--permute-options is a whole number from 2 to {MOST}, not {most!r}.")
    if benchmark.procedure.conversation.turns != 1:
        raise UsageError(f"--permute-options: {benchmark.name} asks in several turns.")
    check_listed(benchmark, "--permute-options")
    if benchmark.procedure.together is not None:
        raise UsageError(
            f"--permute-options: {benchmark.name} asks by itself what belongs together, such as a "
            "question once for each rotation of its options, and its metrics count it so."
        )
    reasons: Counter[str] = Counter()
    kept = 0
    for row in benchmark.data:
        why = why_not(benchmark.read(row))
        kept += why is None
        reasons.update([why] if why is not None else [])
    note = (
        f"permuted: {questions(kept)}, each asked up to {most} times with its options in other "
        f"places (seed {seed}){left_out(reasons)}"
    )
    changed = permuted(benchmark, most, seed)
    return with_note(changed, note)


def permuted(benchmark: Benchmark, most: int, seed: int) -> Benchmark:
    """The benchmark with up to `most` passes of each question; the rows are read when they are
    asked for."""

    def of_original(function: Callable[[Sample], str] | None) -> Callable[[Sample], str]:
        return lambda sample: (function or _id)(_original(sample))

    table = _Passes(benchmark, most, seed)
    return vary(
        benchmark,
        data=table,
        sample=lambda position, row: table.sample(row),
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
    """Orders of so many options, no two alike, the first as they are.

    Where `most` allows it, each option stands in each place once in all shifts of an order; then in
    those of further orders, drawn by `key`, as many as there is room for. With fewer than all
    shifts, those are drawn.

    >>> orders(3, 4, "any")
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    # Of all that Random offers, only random() is promised to be the same in every Python.
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
    """A row of the data with the order in which its options are shown."""

    __slots__ = ("number", "of", "order", "row")

    def __init__(self, row: Row, position: int, number: int, of: int, order: Order) -> None:
        digest = blake2b(f"{row.digest} {number} {order}".encode(), digest_size=16)
        super().__init__(row, position, digest.hexdigest())
        self.row = row
        self.number = number
        self.of = of
        self.order = order


class _Passes:
    """The rows of a benchmark that can be asked so, each once for each order."""

    def __init__(self, benchmark: Benchmark, most: int, seed: int) -> None:
        table: Table = benchmark.data
        self.where = table.where
        self.revision = table.revision
        self._benchmark = benchmark
        self._most = most
        self._seed = seed
        self._lettered: bool | None = None

    def __iter__(self) -> Iterator[Row]:
        position = 0
        for row in self._benchmark.data:
            sample = self._benchmark.read(row)
            if why_not(sample) is not None:
                continue
            key = f"{self._seed} {sample.id}"
            every = orders(len(sample.choices), self._most, key)
            for number, order in enumerate(every, 1):
                yield _Pass(row, position, number, len(every), order)
                position += 1

    def facts(self) -> Facts:
        return facts_of(iter(self))

    def sample(self, row: Row) -> Sample:
        assert isinstance(row, _Pass)
        sample = self._benchmark.read(row.row)
        lettered = self._names_letters()
        right = right_position(sample, lettered=lettered)
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
    """The sample by the id and the data that the benchmark knows."""
    data = {name: value for name, value in sample.data.items() if name not in OURS}
    return replace(sample, id=sample.id.rpartition("#")[0], data=data)


def _id(sample: Sample) -> str:
    return sample.id
