"""Selects the rows of a benchmark that a run asks, and checks rows before the first question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from time import monotonic

from snellen.core.benchmark import Benchmark
from snellen.data import Row, rows_at
from snellen.errors import DataError

CHECKED = 20_000
CHECK_SECONDS = 0.05
"""The maximum number of rows and the maximum time in seconds for the check before the first
question. Rows beyond these limits are checked when they are asked."""
BLOCK = 200
"""If questions are asked in a random order, the minimum number of units whose rows are read in one
pass."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The rows that a run asks."""

    places: frozenset[int] | None
    """The indices of the selected rows; None: all rows."""
    rows: int
    """The number of selected rows."""
    total: int
    """The number of all rows."""
    order: Sequence[Sequence[int]] | None = None
    """The chosen rows in the random order in which they are asked, in units that stay together;
    None for the order of the data."""


def check(benchmark: Benchmark) -> None:
    """Read the rows once before the first question: all rows, or as many as can be read quickly.

    Raises:
        DataError: there are no rows, a row cannot be read, or two rows have the same id.
    """
    seen: dict[str, int] = {}
    until = monotonic() + CHECK_SECONDS
    for row in islice(benchmark.data, CHECKED):
        if seen and monotonic() > until:
            break
        sample = benchmark.read(row)
        before = seen.setdefault(sample.id, row.position)
        if before != row.position:
            raise DataError(
                f"{benchmark.name}: rows {before + 1} and {row.position + 1} of "
                f"{benchmark.data.where} have the same id {sample.id!r}. Ids must be "
                "unique: give each row its own."
            )
    if not seen:
        raise DataError(f"{benchmark.name}: {benchmark.data.where} has no rows.")


def select(
    benchmark: Benchmark,
    total: int,
    *,
    limit: int | None,
    sample: int | None,
    seed: int,
    in_random_order: bool = False,
) -> Selection:
    """Select the first `limit` rows, or draw `sample` rows with `seed` in proportion to the
    categories of the first breakdown. Rows that belong together are not split. The selection may
    therefore be smaller than requested, or larger if a single unit is larger. With
    `in_random_order`, `seed` also draws the order in which the rows are asked."""
    places: list[int] | None = None
    if sample is not None and sample < total:
        places = _drawn(benchmark, sample, seed)
    if limit is not None and limit < total:
        places = _first(benchmark, limit, None if places is None else frozenset(places))
    order = _shuffled(benchmark, total, places, seed) if in_random_order else None
    if places is None:
        return Selection(places=None, rows=total, total=total, order=order)
    return Selection(places=frozenset(places), rows=len(places), total=total, order=order)


Unit = list[int]
"""The indices of rows that are selected together; usually a single row."""


def _units(benchmark: Benchmark) -> Iterator[tuple[str, Unit]]:
    """Yield each unit with its category, in the order of the units' first rows."""
    tag = benchmark.presentation.break_down_by[0] if benchmark.presentation.break_down_by else None
    together = benchmark.procedure.together
    groups: dict[str, tuple[str, Unit]] = {}
    for row in benchmark.data:
        sample = benchmark.read(row)
        category = sample.tags.get(tag, "") if tag else ""
        if together is None:
            yield category, [row.position]
        else:
            groups.setdefault(together(sample), (category, []))[1].append(row.position)
    yield from groups.values()


def _first(benchmark: Benchmark, limit: int, allowed: frozenset[int] | None) -> list[int]:
    """The row indices of the first units that together have at most `limit` rows. The first unit is
    always included."""
    places: list[int] = []
    if benchmark.procedure.together is None:
        rows = (
            row.position for row in benchmark.data if allowed is None or row.position in allowed
        )
        return list(islice(rows, limit))
    for _, unit in _units(benchmark):
        if allowed is None or allowed.issuperset(unit):
            if places and len(places) + len(unit) > limit:
                break
            places += unit
    return places


def _drawn(benchmark: Benchmark, n: int, seed: int) -> list[int]:
    """Draw about `n` rows in complete units, and return their indices. The number of units of each
    category is proportional to its size (largest remainder method), and units are drawn within each
    category."""
    strata: dict[str, list[Unit]] = {}
    rows = 0
    for category, unit in _units(benchmark):
        strata.setdefault(category, []).append(unit)
        rows += len(unit)
    total = sum(map(len, strata.values()))
    units = max(1, n * total // rows)
    quota = {name: units * len(members) / total for name, members in strata.items()}
    share = {name: int(quota[name]) for name in strata}
    by_remainder = sorted(strata, key=lambda name: (share[name] - quota[name], name))
    for name in by_remainder[: units - sum(share.values())]:
        share[name] += 1
    random = Random(f"{seed} {benchmark.name}")
    drawn = (unit for name in sorted(strata) for unit in random.sample(strata[name], share[name]))
    return [row_index for unit in drawn for row_index in unit]


def _shuffled(
    benchmark: Benchmark, total: int, places: Sequence[int] | None, seed: int
) -> list[Unit]:
    """The chosen rows in a random order. Rows that are asked or selected together stay together, in
    the order of the data."""
    key = benchmark.procedure.group_by or benchmark.procedure.together
    units: list[Unit]
    if key is None:
        units = [[row_index] for row_index in (range(total) if places is None else sorted(places))]
    else:
        allowed = None if places is None else frozenset(places)
        groups: dict[str, Unit] = {}
        for row in benchmark.data:
            if allowed is None or row.position in allowed:
                groups.setdefault(key(benchmark.read(row)), []).append(row.position)
        units = [*groups.values()]
    Random(f"order {seed} {benchmark.name}").shuffle(units)
    return units


def _in_order(benchmark: Benchmark, units: Sequence[Sequence[int]]) -> Iterator[Row]:
    """The rows of the units, in their order. A table that cannot seek is read once for each block
    of rows. Blocks grow so that the table is read only a few times."""
    start = 0
    while start < len(units):
        block = units[start : start + max(BLOCK, start // 10)]
        rows = {
            row.position: row
            for row in rows_at(benchmark.data, [row_index for unit in block for row_index in unit])
        }
        for unit in block:
            yield from (rows[row_index] for row_index in unit)
        start += len(block)


def chosen(benchmark: Benchmark, selection: Selection) -> Iterator[Row]:
    """The selected rows in the order in which they are asked. Reading stops after the last selected
    row."""
    if selection.order is not None:
        return _in_order(benchmark, selection.order)
    if selection.places is None:
        return iter(benchmark.data)
    return rows_at(benchmark.data, selection.places)
